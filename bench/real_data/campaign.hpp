// Many products of all classes against the contract's bound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "product.hpp"

namespace vernier::bench {

struct Settings {
  std::int64_t n = 2048, k = 0, sample = 96, products = 0;
  std::vector<std::string> classes;
  std::string device = "cpu", contract = "fp64", engine;
  std::string lock;  // a file that is held while a class is timed: programs beside each other take turns
  std::int64_t threads = 0, repeat = 3, learn = 0, everywhere = 0;
  std::int64_t first = 1;      // seed of the first of `products`
  std::int64_t different = 0;  // rows of A and columns of B that are not over again; 0: all
  double seconds = 0;          // after which no further one is begun; 0: all are

  // apart: on a stream that no other product has.
  std::unique_ptr<Product> product(const Factors& factors, bool apart) const;
};

// Products of random classes and shapes, k up to 20 000, on all processors: prints the largest error of each class as a
// share of the contract's bound. False: one was beyond it.
bool check_products(const Settings& settings);

}  // namespace vernier::bench
