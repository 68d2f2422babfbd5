// Kernels of an approximate inverse.
#pragma once

#include <bit>

#include "lapack/verified/interval_elements.cuh"
#include "lapack/verified/upward.hpp"

namespace vernier::cuda {

__global__ void __launch_bounds__(interval_threads)
    set_identity_kernel(std::int64_t rows, std::int64_t columns, double* x) {
  const IntervalElement e(rows, columns);
  if (e.exists) x[e.at] = e.i == e.j ? 1 : 0;
}

// Column i goes to column `to[i]`.
__global__ void __launch_bounds__(interval_threads)
    scatter_columns(std::int64_t rows, std::int64_t columns, const double* x, const std::int64_t* to, double* out) {
  const IntervalElement e(rows, columns);
  if (e.exists) out[e.i + to[e.j] * rows] = x[e.at];
}

// The largest |x| / weight of each column, rounded up, as bits; zeros at first.
__global__ void __launch_bounds__(interval_threads)
    column_quotients(std::int64_t rows, std::int64_t columns, const double* x, const double* weight,
                     unsigned long long* most) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const auto bits = std::bit_cast<unsigned long long>(above(fabs(x[e.at]) / weight[e.i]));
  if (bits > most[e.j]) atomicMax(most + e.j, bits);
}

// |A^-1 - R| is at most sums times quotient + factor, of a row and a column.
struct InverseSpread {
  const double *sums, *quotients, *factors;
};
__global__ void __launch_bounds__(interval_threads)
    inverse_ends(std::int64_t rows, std::int64_t columns, const double* r, InverseSpread s, double* low, double* high,
                 std::int64_t ld) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  const double spread = sum_up(above(s.sums[e.i] * s.quotients[e.j]), above(s.sums[e.i] * s.factors[e.j]));
  low[e.i + e.j * ld] = sum_down(r[e.at], -spread);
  high[e.i + e.j * ld] = sum_up(r[e.at], spread);
}

}  // namespace vernier::cuda
