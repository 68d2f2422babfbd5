// Kernels of determinants and definiteness, an element a thread; matrices lie without gaps but where ld is named.
#pragma once

#include "lapack/verified/interval_elements.cuh"

namespace vernier::cuda {

// Row i is row from[i] of x.
__global__ void __launch_bounds__(interval_threads)
    permute_rows(std::int64_t rows, std::int64_t columns, const double* x, std::int64_t ld, const std::int64_t* from,
                 double* out) {
  const IntervalElement e(rows, columns);
  if (e.exists) out[e.at] = x[from[e.i] + e.j * ld];
}

// The symmetric matrix of a lower triangle.
__global__ void __launch_bounds__(interval_threads)
    mirror_lower(std::int64_t rows, std::int64_t columns, const double* x, std::int64_t ld, double* out) {
  const IntervalElement e(rows, columns);
  if (e.exists) out[e.at] = x[max(e.i, e.j) + min(e.i, e.j) * ld];
}

// Zeros beside a triangle, or everywhere; ones on the diagonal.
struct TriangleFill {
  bool lower, zeros_everywhere, ones;
};
__global__ void __launch_bounds__(interval_threads)
    set_triangle(std::int64_t rows, std::int64_t columns, double* x, TriangleFill fill) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  if (e.i == e.j ? fill.zeros_everywhere : fill.zeros_everywhere || (e.i < e.j) == fill.lower) x[e.at] = 0;
  if (e.i == e.j && fill.ones) x[e.at] = 1;
}

// Of `rows` diagonal elements.
__global__ void __launch_bounds__(interval_threads)
    take_diagonal_kernel(std::int64_t rows, std::int64_t columns, double* x, double* out) {
  const IntervalElement e(rows, columns);
  if (!e.exists) return;
  double& own = x[e.i + e.i * rows];
  out[e.i] = own;
  own = 0;
}
__global__ void __launch_bounds__(interval_threads)
    shift_diagonal(std::int64_t rows, std::int64_t columns, double* x, double shift) {
  const IntervalElement e(rows, columns);
  if (e.exists) x[e.i + e.i * rows] -= shift;
}

}  // namespace vernier::cuda
