// vernier/cuda_epilogue.hpp in a build without CUDA.
#include "base/status.hpp"
#include "vernier/cuda_epilogue.hpp"

#if !VERNIER_HAS_CUDA

namespace vernier::cuda {
namespace {

[[noreturn]] void fail_without_cuda() {
  fail(Status::unsupported, "this libvernier was built without CUDA; expected one that was built with nvcc");
}

}  // namespace

template <class T>
void activate(Activation, std::int64_t, std::int64_t, const T*, T*, std::int64_t, T*, std::int64_t, void*) {
  fail_without_cuda();
}
template <class T>
void gelu_gradient(std::int64_t, std::int64_t, T*, std::int64_t, const T*, std::int64_t, void*) {
  fail_without_cuda();
}
template <class T>
void sum_up(bool, std::int64_t, std::int64_t, const T*, std::int64_t, T*, void*) {
  fail_without_cuda();
}
template <class T>
void copy(std::int64_t, std::int64_t, const T*, std::int64_t, T*, std::int64_t, void*) {
  fail_without_cuda();
}

#define VERNIER_INSTANTIATE(T)                                                                                         \
  template void activate(Activation, std::int64_t, std::int64_t, const T*, T*, std::int64_t, T*, std::int64_t, void*); \
  template void gelu_gradient(std::int64_t, std::int64_t, T*, std::int64_t, const T*, std::int64_t, void*);            \
  template void sum_up(bool, std::int64_t, std::int64_t, const T*, std::int64_t, T*, void*);                           \
  template void copy(std::int64_t, std::int64_t, const T*, std::int64_t, T*, std::int64_t, void*);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
#undef VERNIER_INSTANTIATE

}  // namespace vernier::cuda

#endif
