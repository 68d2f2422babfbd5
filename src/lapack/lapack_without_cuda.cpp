// vernier/cuda_lapack.hpp in a build without CUDA.
#include "base/instantiate.hpp"
#include "base/stub.hpp"
#include "lapack/offloaded.hpp"
#include "vernier/cuda_lapack.hpp"

#if !VERNIER_HAS_CUDA

#define VERNIER_CUDA_LAPACK(F, T)                                                                                     \
  F(std::int64_t, getrf, T, std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*, const Options&)              \
  F(void, getrs, T, Op, std::int64_t, std::int64_t, const T*, std::int64_t, const std::int64_t*, T*, std::int64_t,    \
    const Options&)                                                                                                   \
  F(std::int64_t, gesv, T, std::int64_t, std::int64_t, T*, std::int64_t, std::int64_t*, T*, std::int64_t,             \
    const Options&)                                                                                                   \
  F(SolveReport, solve, T, Op, std::int64_t, std::int64_t, const T*, std::int64_t, const T*, std::int64_t, T*,        \
    std::int64_t, const SolveOptions&, void*)                                                                         \
  F(std::int64_t, potrf, T, Uplo, std::int64_t, T*, std::int64_t, const Options&)                                     \
  F(void, potrs, T, Uplo, std::int64_t, std::int64_t, const T*, std::int64_t, T*, std::int64_t, const Options&)       \
  F(std::int64_t, posv, T, Uplo, std::int64_t, std::int64_t, T*, std::int64_t, T*, std::int64_t, const Options&)      \
  F(SolveReport, solve_definite, T, Uplo, std::int64_t, std::int64_t, const T*, std::int64_t, const T*, std::int64_t, \
    T*, std::int64_t, const SolveOptions&, void*)                                                                     \
  F(std::int64_t, factor_for_the_host, T, std::int64_t, std::int64_t, T*, std::int64_t, std::vector<std::int64_t>&,   \
    const Options&)

namespace vernier::cuda {

VERNIER_CUDA_LAPACK(VERNIER_STUB, T)
VERNIER_FOR_REAL(VERNIER_CUDA_LAPACK, VERNIER_INSTANTIATION)
#undef VERNIER_CUDA_LAPACK

template <class T>
bool has_factors(std::int64_t) {
  return false;
}
VERNIER_REAL_INSTANCES(has_factors)

}  // namespace vernier::cuda

#endif
