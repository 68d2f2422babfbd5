// Factorisations and the solver with real matrices of the host on a GPU, whole (blas/offload/host_routine.hpp). Nothing
// where the CPU is to take them: nobody asks for a GPU, its estimate is no better, or it has not the kernels; and under
// contracts that promise bits, since panels round otherwise there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lapack/arguments.hpp"
#include "vernier/cuda_lapack.hpp"

namespace vernier {

template <class T>
std::optional<std::int64_t> offloaded_getrf(std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                                            std::int64_t* pivots, const Options& options);

template <class T>
std::optional<std::int64_t> offloaded_potrf(Uplo uplo, std::int64_t n, T* a, std::int64_t lda, const Options& options);

template <class T>
std::optional<SolveReport> offloaded_solve(const SystemCall<T>& system, const SolveOptions& options);

}  // namespace vernier

// On a GPU, for callers that know nothing of CUDA.
namespace vernier::cuda {

// Is there a GPU whose panels take so many rows?
template <class T>
bool has_factors(std::int64_t rows);

// getrf of a matrix in device memory, its pivots in the host's.
template <class T>
std::int64_t factor_for_the_host(std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                                 std::vector<std::int64_t>& pivots, const Options& options);

}  // namespace vernier::cuda
