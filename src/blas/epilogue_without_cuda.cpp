// vernier/cuda_epilogue.hpp in a build without CUDA.
#include "base/instantiate.hpp"
#include "base/stub.hpp"
#include "vernier/cuda_epilogue.hpp"

#if !VERNIER_HAS_CUDA

#define VERNIER_EPILOGUES(F, T)                                                                                     \
  F(void, activate, T, Activation, std::int64_t, std::int64_t, const T*, T*, std::int64_t, T*, std::int64_t, void*) \
  F(void, gelu_gradient, T, std::int64_t, std::int64_t, T*, std::int64_t, const T*, std::int64_t, void*)            \
  F(void, sum_up, T, bool, std::int64_t, std::int64_t, const T*, std::int64_t, T*, void*)                           \
  F(void, copy, T, std::int64_t, std::int64_t, const T*, std::int64_t, T*, std::int64_t, void*)

namespace vernier::cuda {

VERNIER_EPILOGUES(VERNIER_STUB, T)
VERNIER_FOR_REAL(VERNIER_EPILOGUES, VERNIER_INSTANTIATION)
#undef VERNIER_EPILOGUES

}  // namespace vernier::cuda

#endif
