// Exact products of a matrix and a few columns.
#pragma once

#include <cstdint>
#include <vector>

#include "vernier/vernier.hpp"

namespace vernier {

// RN(sign M X + Y), entry by entry, in double: M n x n, X and Y n x columns, finite. sign: 1 or -1; options: the
// engine and threads.
std::vector<double> exact_columns(std::int64_t n, std::int64_t columns, double sign, const double* m, std::int64_t ld,
                                  const std::vector<double>& x, std::vector<double> y, const Options& options);

}  // namespace vernier
