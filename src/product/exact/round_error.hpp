// The error of a vector's rounding to integers as kernels read it. Host and device.
#pragma once

#include <cmath>

#include "product/exact/entry.hpp"

namespace vernier {

// VectorError of one vector and its scale as kernels read them: rounded up, lengths in units of 2^error_unit, in which
// no product leaves the range of float.
struct alignas(16) RoundError {
  float rounding = 0, half_norm = 0, largest = 0;
  int scale = 0;
};
inline constexpr double error_unit = 0x1p96;

VERNIER_HD inline RoundError round_error(const VectorError& e, int scale) {
  const auto up = [](double x) { return static_cast<float>(x == 0 ? 0 : fmax(x * (1 + 0x1p-22), 0x1p-126)); };
  return {up(e.rounding), up(e.half_norm / error_unit), up(e.largest / error_unit), scale};
}

// No less than theorem 6 has it.
VERNIER_HD inline double entry_error(const RoundError& row, const RoundError& column) {
  const float sum =
      fminf(row.rounding * column.largest, column.half_norm) + fminf(column.rounding * row.largest, row.half_norm);
  return static_cast<double>(sum) * (error_unit * (1 + 0x1p-20));
}

}  // namespace vernier
