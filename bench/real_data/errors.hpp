// Errors of a product relative to |A||B|, against sums in twice the precision.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "product.hpp"

namespace vernier::bench {

struct Errors {
  double mean = 0, largest = 0;
};

// Sums of products and of magnitudes, to twice the precision of double; where products are subnormal each loses up to
// the smallest number, and so may T.
struct Reference {
  double high = 0, low = 0, magnitude = 0, loss = 0x1p-1074;

  void add(double x, double y);
  double error(double t) const;
};

// What some rows of A times some columns of B are.
class Sample {
 public:
  Sample(const Factors& factors, std::int64_t vectors);

  Errors errors_of(Product& product) const;  // |T - AB| / |A||B| of its last result

 private:
  std::vector<std::int64_t> rows_, columns_;
  std::vector<Reference> references_;  // [column][row]
};

// All entries, to half a unit in the last place of double: against contract `exact` and |A||B|.
class AllEntries {
 public:
  // product: of given factors.
  AllEntries(const Factors& factors, const std::function<std::unique_ptr<Product>(const Factors&)>& product);

  double largest_error_of(Product& product) const;  // |T - AB| / |A||B| of its last result

 private:
  std::int64_t n_;
  std::vector<std::vector<double>> exact_, magnitudes_;  // by columns
};

}  // namespace vernier::bench
