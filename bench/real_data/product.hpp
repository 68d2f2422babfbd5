// A product of real data, again and again, on a processor or a GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "classes.hpp"
#include "vernier/vernier.hpp"

namespace vernier::bench {

class Product {
 public:
  virtual ~Product() = default;
  // The report's seconds are those until C is there. engine: as Options have it.
  // asynchronous: on a GPU no host waits for what the data need.
  virtual Report multiply(const Contract& contract, const std::string& engine, bool asynchronous = false) = 0;
  virtual std::vector<double> column(std::int64_t j) = 0;  // of the last product's C
};

std::unique_ptr<Product> host_product(const Factors& factors, int threads);
// apart: on a stream that no other product has.
std::unique_ptr<Product> device_product(const Factors& factors, bool apart);

}  // namespace vernier::bench
