// Upper bounds of |M| x on a GPU, and a search for NaN and infinities before any work.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace vernier::cuda {

inline constexpr int magnitude_slices = 64;

// y, of n numbers, is at least |M| x for x >= 0. partial: n magnitude_slices numbers.
void multiply_magnitudes(std::int64_t n, const double* m, std::int64_t ld, const double* x, double* partial, double* y,
                         cudaStream_t stream);

// Throws what names the first one.
void check_finite_matrix(const char* routine, const char* name, const double* x, std::int64_t rows,
                         std::int64_t columns, std::int64_t ld, cudaStream_t stream);

}  // namespace vernier::cuda
