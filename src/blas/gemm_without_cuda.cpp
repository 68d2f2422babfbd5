// vernier/cuda.hpp and cuda_level3.hpp in a build without CUDA.
#include "base/stub.hpp"
#include "blas/level3/routines.hpp"
#include "vernier/cuda_level3.hpp"
#include "vernier/slices.hpp"

#if !VERNIER_HAS_CUDA

#define VERNIER_CUDA_ROUTINES(F, T) \
  VERNIER_CUDA_GEMM(F, T)           \
  VERNIER_CUDA_BATCHES(F, T)        \
  VERNIER_RANK_UPDATES(F, T)        \
  VERNIER_UPDATES_OF_TWO(F, T)      \
  VERNIER_SYMMETRIC_PRODUCTS(F, T)  \
  VERNIER_TRMM_TO_C(F, T)           \
  VERNIER_TRSM(F, T)
#define VERNIER_SLICES(F, T)                                                                               \
  F(SliceReport, gemm_by_slices, T, Op, Op, std::int64_t, std::int64_t, std::int64_t, Scalar<T>, const T*, \
    std::int64_t, const T*, std::int64_t, Scalar<T>, T*, std::int64_t, const SliceOptions&, void*)

namespace vernier::cuda {

VERNIER_CUDA_ROUTINES(VERNIER_STUB, T)
VERNIER_SLICES(VERNIER_STUB, T)
VERNIER_FOR_ALL(VERNIER_CUDA_ROUTINES, VERNIER_INSTANTIATION)
#undef VERNIER_CUDA_ROUTINES
VERNIER_FOR_REAL(VERNIER_SLICES, VERNIER_INSTANTIATION)
#undef VERNIER_SLICES

void release_workspace() {}
std::vector<EngineInfo> engines() { return {}; }
std::string device_name() { fail_without_cuda(); }

}  // namespace vernier::cuda

#endif
