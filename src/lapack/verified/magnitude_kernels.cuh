// Upper bounds of |M| x, and what a verified solution needs beside products.
#pragma once

#include "lapack/verified/interval_elements.cuh"

namespace vernier::cuda {

inline constexpr int magnitude_slices = 64, magnitude_threads = 128;

// A slice of the columns of each row, added upwards.
__global__ void __launch_bounds__(magnitude_threads)
    slice_magnitudes(std::int64_t n, const double* m, std::int64_t ld, const double* x, double* partial) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * magnitude_threads + threadIdx.x;
  const std::int64_t length = (n + magnitude_slices - 1) / magnitude_slices, first = blockIdx.y * length;
  if (i >= n) return;
  double sum = 0;
  for (std::int64_t l = first; l < min(first + length, n); ++l) sum = __fma_ru(::fabs(m[i + l * ld]), x[l], sum);
  partial[i + blockIdx.y * n] = sum;
}

__global__ void __launch_bounds__(magnitude_threads) add_slices(std::int64_t n, const double* partial, double* y) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * magnitude_threads + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int s = 0; s < magnitude_slices; ++s) sum = __dadd_ru(sum, partial[i + s * n]);
  y[i] = sum;
}

// y, of n numbers, is at least |M| x for x >= 0.
inline void multiply_magnitudes(std::int64_t n, const double* m, std::int64_t ld, const double* x, double* partial,
                                double* y, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((n + magnitude_threads - 1) / magnitude_threads);
  launch("slice_magnitudes", slice_magnitudes,
         {.grid = dim3(blocks, magnitude_slices), .block = dim3(magnitude_threads)}, stream, n, m, ld, x, partial);
  launch("add_slices", add_slices, {.grid = dim3(blocks), .block = dim3(magnitude_threads)}, stream, n, partial, y);
}

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

__global__ void __launch_bounds__(interval_threads)
    find_nonfinite(std::int64_t rows, std::int64_t columns, Elements<const double> x, IntervalFacts* facts) {
  const IntervalElement e(rows, columns);
  if (e.exists && !finite(x.at(e.i, e.j))) atomicMin(&facts->bad, static_cast<unsigned long long>(e.at));
}

}  // namespace vernier::cuda
