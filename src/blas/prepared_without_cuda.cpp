// The part of vernier/prepared.hpp for GPUs in a build without CUDA.
#include "base/instantiate.hpp"
#include "base/stub.hpp"
#include "blas/prepared_arguments.hpp"
#include "vernier/prepared.hpp"

#if !VERNIER_HAS_CUDA

namespace vernier::cuda {

template <class T>
PreparedOperand<T>::PreparedOperand(Side, Op, std::int64_t, std::int64_t, const T*, std::int64_t, const Options&)
    : AnyPreparedOperand(nullptr) {
  fail_without_cuda();
}
template <class T>
PreparedReport gemm(const PreparedOperand<T>&, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*,
                    std::int64_t, const T*, T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
PreparedReport gemm(Op, const PreparedOperand<T>&, std::int64_t, std::int64_t, std::int64_t, const T*, const T*,
                    std::int64_t, const T*, T*, std::int64_t, const Options&) {
  fail_without_cuda();
}
template <class T>
PreparedReport gemm(const PreparedOperand<T>&, const PreparedOperand<T>&, std::int64_t, std::int64_t, std::int64_t,
                    const T*, const T*, T*, std::int64_t, const Options&) {
  fail_without_cuda();
}

#define VERNIER_INSTANTIATE(T)                                                                               \
  template PreparedOperand<T>::PreparedOperand(Side, Op, std::int64_t, std::int64_t, const T*, std::int64_t, \
                                               const Options&);                                              \
  VERNIER_PREPARED_PRODUCTS(T, const T*)
VERNIER_EACH_REAL(VERNIER_INSTANTIATE)

}  // namespace vernier::cuda

#endif
