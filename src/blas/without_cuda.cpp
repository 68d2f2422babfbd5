// The BLAS of GPUs in a build without CUDA.
#include "base/stub.hpp"
#include "blas/level3/routines.hpp"
#include "blas/measure/measure_gpu.hpp"
#include "blas/offload/kept.hpp"
#include "blas/prepared_arguments.hpp"
#include "blas/quad/instantiate.hpp"
#include "vernier/cuda_epilogue.hpp"
#include "vernier/cuda_level3.hpp"
#include "vernier/prepared.hpp"
#include "vernier/quad.hpp"
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
#define VERNIER_EPILOGUES(F, T)                                                                                     \
  F(void, activate, T, Activation, std::int64_t, std::int64_t, const T*, T*, std::int64_t, T*, std::int64_t, void*) \
  F(void, relu_with_signs, T, bool, std::int64_t, std::int64_t, const T*, T*, std::int64_t, unsigned char*,         \
    std::int64_t, void*)                                                                                            \
  F(void, gelu_gradient, T, std::int64_t, std::int64_t, T*, std::int64_t, const T*, std::int64_t, void*)            \
  F(void, sum_up, T, bool, std::int64_t, std::int64_t, const T*, std::int64_t, T*, void*)                           \
  F(void, copy, T, std::int64_t, std::int64_t, const T*, std::int64_t, T*, std::int64_t, void*)

void vernier::measure_gpu(const std::string&, const std::string&) {}

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
LentCublas::LentCublas(void*) {}
LentCublas::~LentCublas() = default;

VERNIER_EPILOGUES(VERNIER_STUB, T)
VERNIER_FOR_REAL(VERNIER_EPILOGUES, VERNIER_INSTANTIATION)
#undef VERNIER_EPILOGUES

template <class T>
PreparedOperand<T>::PreparedOperand(Side, Op, std::int64_t, std::int64_t, const T*, std::int64_t, const Options&)
    : AnyPreparedOperand(nullptr) {
  fail_without_cuda();
}
VERNIER_STUB(PreparedReport, gemm, T, const PreparedOperand<T>&, Op, std::int64_t, std::int64_t, std::int64_t, const T*,
             const T*, std::int64_t, const T*, T*, std::int64_t, const Options&)
VERNIER_STUB(PreparedReport, gemm, T, Op, const PreparedOperand<T>&, std::int64_t, std::int64_t, std::int64_t, const T*,
             const T*, std::int64_t, const T*, T*, std::int64_t, const Options&)
VERNIER_STUB(PreparedReport, gemm, T, const PreparedOperand<T>&, const PreparedOperand<T>&, std::int64_t, std::int64_t,
             std::int64_t, const T*, const T*, T*, std::int64_t, const Options&)

#define VERNIER_INSTANTIATE(T)                                                                               \
  template PreparedOperand<T>::PreparedOperand(Side, Op, std::int64_t, std::int64_t, const T*, std::int64_t, \
                                               const Options&);                                              \
  VERNIER_PREPARED_PRODUCTS(T, const T*)
VERNIER_EACH_REAL(VERNIER_INSTANTIATE)

VERNIER_STUB(std::size_t, kept_bytes, T, std::int64_t, std::int64_t, const Contract&)
VERNIER_STUB(Report, gemm_keeping, T, const GemmCall<T>&, const Options&, KeptOperand&, KeptOperand&)
VERNIER_TYPE_INSTANCES(kept_bytes, gemm_keeping)

template <class TA, class TB, class TC>
VERNIER_PLAIN_STUB(QuadReport, quad_gemm, Op, Op, std::int64_t, std::int64_t, std::int64_t, double, const TA*,
                   std::int64_t, const TB*, std::int64_t, double, TC*, std::int64_t, const QuadOptions&)
VERNIER_INSTANTIATE_QUAD_GEMM()
#if defined(__SIZEOF_FLOAT128__)
    VERNIER_INSTANTIATE_BINARY128_GEMM()
#endif

}  // namespace vernier::cuda

#endif
