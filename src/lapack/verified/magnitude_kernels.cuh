// Kernels of upper bounds of |M| x, and of the search for NaN and infinities.
#pragma once

#include "lapack/verified/interval_elements.cuh"
#include "lapack/verified/magnitudes.hpp"

namespace vernier::cuda {

inline constexpr int magnitude_threads = 128;

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

__global__ void __launch_bounds__(interval_threads)
    find_nonfinite(std::int64_t rows, std::int64_t columns, Elements<const double> x, IntervalFacts* facts) {
  const IntervalElement e(rows, columns);
  if (e.exists && !finite(x.at(e.i, e.j))) atomicMin(&facts->bad, static_cast<unsigned long long>(e.at));
}

}  // namespace vernier::cuda
