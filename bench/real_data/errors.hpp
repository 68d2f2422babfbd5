// Errors of a product relative to |A||B|, against sums in twice the precision.
#pragma once

#include <cstdint>
#include <vector>

#include "classes.hpp"

namespace vernier::bench {

struct Errors {
  double mean = 0, largest = 0;
};

// |T - AB| / |A||B| over some rows against some columns.
Errors errors_of(const Factors& factors, const std::vector<double>& c, std::int64_t sample);

}  // namespace vernier::bench
