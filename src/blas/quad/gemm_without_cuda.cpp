// cuda::quad_gemm in a build without CUDA.
#include "base/status.hpp"
#include "blas/quad/instantiate.hpp"
#include "vernier/quad.hpp"

#if !VERNIER_HAS_CUDA

namespace vernier::cuda {

template <class TA, class TB, class TC>
QuadReport quad_gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, double, const TA*, std::int64_t, const TB*,
                     std::int64_t, double, TC*, std::int64_t, const QuadOptions&) {
  fail(Status::unsupported, "this libvernier was built without CUDA; expected one that was built with nvcc");
}

VERNIER_INSTANTIATE_QUAD_GEMM()
#if defined(__SIZEOF_FLOAT128__)
VERNIER_INSTANTIATE_BINARY128_GEMM()
#endif

}  // namespace vernier::cuda

#endif
