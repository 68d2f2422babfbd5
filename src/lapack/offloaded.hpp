// Factorisations and the solver with real matrices of the host on a GPU, whole (blas/offload/host_routine.hpp). Nothing
// where the CPU is to take them: nobody asks for a GPU, its estimate is no better, or it has not the kernels; and under
// contracts that promise bits, since panels round otherwise there.
#pragma once

#include <cstdint>
#include <optional>

#include "lapack/arguments.hpp"

namespace vernier {

template <class T>
std::optional<std::int64_t> offloaded_getrf(std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                                            std::int64_t* pivots, const Options& options);

template <class T>
std::optional<std::int64_t> offloaded_potrf(Uplo uplo, std::int64_t n, T* a, std::int64_t lda, const Options& options);

template <class T>
std::optional<SolveReport> offloaded_solve(const SystemCall<T>& system, const SolveOptions& options);

}  // namespace vernier
