// The C interface of the products on a GPU and of cuda_epilogue.hpp.
#include "c_api/c_api.hpp"
#include "c_api/product_functions.hpp"
#include "vernier/cuda_epilogue.hpp"
#include "vernier/vernier_cuda.h"

using namespace vernier::c_api;
namespace cuda = vernier::cuda;
using vernier::Real, vernier::Report;
using vernier::Side, vernier::Uplo, vernier::Op, vernier::Diag;

namespace {

template <class Body>
vernier_status gpu_product(vernier_handle handle, vernier_type type, Body body) {
  return product(handle, type, [&]<class T>(T, const vernier::Options&) {
    const cuda::LentCublas cublas(handle->cublas);
    return body(T{}, gpu_options_of<T>(*handle));
  });
}

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

vernier_status vernier_cuda_set_stream(vernier_handle handle, void* stream) {
  VERNIER_C_BODY(handle->on_gpu.stream = stream);
}

vernier_status vernier_cuda_set_cublas(vernier_handle handle, void* cublas) { VERNIER_C_BODY(handle->cublas = cublas); }

vernier_status vernier_cuda_set_pointer_mode(vernier_handle handle, vernier_pointer_mode mode) {
  return with_handle(handle, [&] {
    require(mode == VERNIER_POINTER_HOST || mode == VERNIER_POINTER_DEVICE,
            "vernier_cuda_set_pointer_mode: expected VERNIER_POINTER_HOST or VERNIER_POINTER_DEVICE");
    handle->on_gpu.pointer_mode = mode == VERNIER_POINTER_HOST ? cuda::PointerMode::host : cuda::PointerMode::device;
  });
}

vernier_status vernier_cuda_set_asynchronous(vernier_handle handle, int asynchronous) {
  VERNIER_C_BODY(handle->on_gpu.asynchronous = asynchronous != 0);
}

vernier_status vernier_cuda_set_outcome(vernier_handle handle, vernier_cuda_outcome* outcome) {
  static_assert(sizeof(vernier_cuda_outcome) == sizeof(cuda::Outcome));
  VERNIER_C_BODY(handle->on_gpu.outcome = reinterpret_cast<cuda::Outcome*>(outcome));
}

vernier_status vernier_cuda_complete_report(vernier_handle handle, const vernier_cuda_outcome* outcome) {
  return with_handle(handle, [&] {
    require(outcome != nullptr, "vernier_cuda_complete_report: outcome is null");
    require(handle->report.has_value(), "vernier_cuda_complete_report: no product has succeeded on this handle");
    cuda::Outcome words;
    std::copy(std::begin(outcome->words), std::end(outcome->words), words.words);
    if (!handle->incomplete) handle->incomplete = handle->report;
    Report completed = *handle->incomplete;
    cuda::complete_report(completed, words);
    handle->report = std::move(completed);
  });
}

vernier_status vernier_cuda_set_engine(vernier_handle handle, const char* engine) {
  return with_handle(handle, [&] {
    const std::string name = engine != nullptr ? engine : "";
    bool known = name.empty() || name == "native";
    std::string names = "native";
    for (const vernier::EngineInfo& info : cuda::engines()) {
      known = known || name == info.name;
      names += ", " + info.name;
    }
    require(known, ("engine: \"" + name + "\" is none of the GPU's; expected one of " + names).c_str());
    handle->on_gpu.engine = name;
  });
}

vernier_status vernier_cuda_set_workspace(vernier_handle handle, void* data, size_t bytes) {
  return with_handle(handle, [&] {
    require((data == nullptr) == (bytes == 0),
            "vernier_cuda_set_workspace: expected both or neither of data and bytes");
    handle->on_gpu.workspace = data;
    handle->on_gpu.workspace_bytes = bytes;
  });
}

VERNIER_C_EXPLAIN(vernier_cuda_explain, cuda, gpu_options_of)
VERNIER_C_GEMM_WORKSPACE(vernier_cuda_gemm_workspace, cuda, gpu_options_of)

vernier_status vernier_cuda_trmm(vernier_handle handle, vernier_type type, vernier_side side, vernier_uplo uplo,
                                 vernier_op op, vernier_diag diag, int64_t m, int64_t n, const void* alpha,
                                 const void* A, int64_t lda, const void* B, int64_t ldb, void* C, int64_t ldc) {
  VERNIER_C_RUN(gpu_product,
                cuda::trmm<T>(as(side), as(uplo), as(op), as(diag), m, n, scalar<T>("alpha is null", alpha), in<T>(A),
                              lda, in<T>(B), ldb, out<T>(C), ldc, options));
}

VERNIER_C_GEMM(vernier_cuda_gemm, gpu_product, cuda::gemm, in<T>(alpha), in<T>(beta))
VERNIER_C_GEMM(vernier_cuda_gemm_unless_wide, gpu_product, cuda::gemm_unless_wide, in<T>(alpha), in<T>(beta))
VERNIER_C_BATCH(vernier_cuda_gemm_batched, gpu_product, cuda::gemm_batched, in<T>(alpha), in<T>(beta))
VERNIER_C_STRIDED_BATCH(vernier_cuda_gemm_strided_batched, gpu_product, cuda::gemm_strided_batched, in<T>(alpha),
                        in<T>(beta))
VERNIER_C_LEVEL3(vernier_cuda_, gpu_product, cuda)
VERNIER_C_RANK_2K_UPDATE(vernier_cuda_syrkx, gpu_product, cuda::syrkx, T)
VERNIER_C_RANK_2K_UPDATE(vernier_cuda_herkx, gpu_product, cuda::herkx, Real<T>)

vernier_status vernier_cuda_activate(vernier_handle handle, vernier_type type, vernier_activation f, int64_t m,
                                     int64_t n, const void* bias, void* D, int64_t ldd, void* before,
                                     int64_t ld_before) {
  return for_real_type(handle, type, [&]<class T>(T) {
    cuda::activate(static_cast<cuda::Activation>(f), m, n, in<T>(bias), out<T>(D), ldd, out<T>(before), ld_before,
                   handle->on_gpu.stream);
  });
}

vernier_status vernier_cuda_relu_with_signs(vernier_handle handle, vernier_type type, int gradient, int64_t m,
                                            int64_t n, const void* bias, void* D, int64_t ldd, void* signs,
                                            int64_t ld_signs) {
  return for_real_type(handle, type, [&]<class T>(T) {
    cuda::relu_with_signs(gradient != 0, m, n, in<T>(bias), out<T>(D), ldd, static_cast<unsigned char*>(signs),
                          ld_signs, handle->on_gpu.stream);
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
