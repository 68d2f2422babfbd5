// Factors on a GPU for callers that know nothing of CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "vernier/cuda_lapack.hpp"

namespace vernier::cuda {

// Is there a GPU whose panels take so many rows?
template <class T>
bool has_factors(std::int64_t rows);

// getrf of a matrix in device memory, its pivots in the host's.
template <class T>
std::int64_t factor_for_the_host(std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                                 std::vector<std::int64_t>& pivots, const Options& options);

}  // namespace vernier::cuda
