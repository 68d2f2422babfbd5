// Kernels of an approximate inverse.
#pragma once

#include "lapack/verified/interval_elements.cuh"

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

}  // namespace vernier::cuda
