// Families of random systems for campaigns.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "support/matrix.hpp"
#include "support/random.hpp"

namespace vernier::test {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

struct Family {
  const char* name;
  double largest_condition;  // of its members, up to rounding; infinite: nothing is known
  bool singular = false;     // exactly, and LU finds it without rounding
  bool nonfinite = false;
  std::function<Matrix<double>(std::int64_t n, Random&)> make;
};

std::vector<Family> families();

}  // namespace vernier::test
