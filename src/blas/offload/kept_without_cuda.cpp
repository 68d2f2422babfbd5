#include "base/instantiate.hpp"
#include "base/stub.hpp"
#include "blas/offload/kept.hpp"

#if !VERNIER_HAS_CUDA

namespace vernier::cuda {

VERNIER_STUB(std::size_t, kept_bytes, T, std::int64_t, std::int64_t, const Contract&)
VERNIER_STUB(Report, gemm_keeping, T, const GemmCall<T>&, const Options&, KeptOperand&, KeptOperand&)

VERNIER_TYPE_INSTANCES(kept_bytes, gemm_keeping)

}  // namespace vernier::cuda

#endif
