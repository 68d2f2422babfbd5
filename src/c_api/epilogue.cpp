// The C interface of cuda_epilogue.hpp.
#include "c_api/c_api.hpp"
#include "vernier/cuda_epilogue.hpp"
#include "vernier/vernier_cuda.h"

using namespace vernier::c_api;
namespace cuda = vernier::cuda;

namespace {

template <class Body>
vernier_status for_real_type(vernier_handle handle, vernier_type type, Body body) {
  return with_handle(handle, [&] {
    require(type == VERNIER_S || type == VERNIER_D, "type: expected VERNIER_S or VERNIER_D");
    if (type == VERNIER_S)
      body(float{});
    else
      body(double{});
  });
}

}  // namespace

extern "C" {

vernier_status vernier_cuda_activate(vernier_handle handle, vernier_type type, vernier_activation f, int64_t m,
                                     int64_t n, const void* bias, void* D, int64_t ldd, void* before,
                                     int64_t ld_before) {
  return for_real_type(handle, type, [&]<class T>(T) {
    cuda::activate(static_cast<cuda::Activation>(f), m, n, in<T>(bias), out<T>(D), ldd, out<T>(before), ld_before,
                   handle->on_gpu.stream);
  });
}

vernier_status vernier_cuda_gelu_gradient(vernier_handle handle, vernier_type type, int64_t m, int64_t n, void* D,
                                          int64_t ldd, const void* X, int64_t ldx) {
  return for_real_type(handle, type, [&]<class T>(T) {
    cuda::gelu_gradient(m, n, out<T>(D), ldd, in<T>(X), ldx, handle->on_gpu.stream);
  });
}

vernier_status vernier_cuda_sum_up(vernier_handle handle, vernier_type type, int rows, int64_t m, int64_t n,
                                   const void* X, int64_t ldx, void* sums) {
  return for_real_type(handle, type, [&]<class T>(T) {
    cuda::sum_up(rows != 0, m, n, in<T>(X), ldx, out<T>(sums), handle->on_gpu.stream);
  });
}

vernier_status vernier_cuda_copy(vernier_handle handle, vernier_type type, int64_t m, int64_t n, const void* X,
                                 int64_t ldx, void* Y, int64_t ldy) {
  return with_handle(handle, [&] {
    const bool complex = type == VERNIER_C || type == VERNIER_Z;  // a pair of numbers each
    const int64_t pair = complex ? 2 : 1;
    with_type(type, [&]<class T>(T) {
      using R = vernier::Real<T>;
      cuda::copy(pair * m, n, in<R>(X), pair * ldx, out<R>(Y), pair * ldy, handle->on_gpu.stream);
    });
  });
}

}  // extern "C"
