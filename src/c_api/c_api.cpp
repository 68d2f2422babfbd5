// The C interface: validates what C cannot, calls the C++ one, and turns every exception into a code and a message.
#include "c_api/c_api.hpp"
#include "c_api/product_functions.hpp"

namespace vernier::c_api {
namespace {

std::optional<Contract> parsed(const char* contract) {
  if (contract == nullptr) return std::nullopt;
  return Contract::parse(contract);
}

// Text made from the report, kept in the handle.
template <class Make>
const char* report_text(vernier_handle handle, Make make) noexcept {
  if (handle == nullptr) return "";
  handle->text.clear();
  if (handle->report) guarded(handle->error, [&] { handle->text = make(*handle->report); });
  return handle->text.c_str();
}

}  // namespace
}  // namespace vernier::c_api

using namespace vernier::c_api;
using vernier::Options, vernier::Real, vernier::Report;
using vernier::Side, vernier::Uplo, vernier::Op, vernier::Diag;

extern "C" {

const char* vernier_version(void) { return vernier::version(); }

const char* vernier_status_name(vernier_status status) {
#define VERNIER_NAME(name) \
  if (status == name) return #name;
  VERNIER_NAME(VERNIER_SUCCESS)
  VERNIER_NAME(VERNIER_NOT_INITIALIZED)
  VERNIER_NAME(VERNIER_OUT_OF_MEMORY)
  VERNIER_NAME(VERNIER_INVALID_ARGUMENT)
  VERNIER_NAME(VERNIER_DEVICE_ERROR)
  VERNIER_NAME(VERNIER_INTERNAL_ERROR)
  VERNIER_NAME(VERNIER_UNSUPPORTED)
  VERNIER_NAME(VERNIER_BOUND_NOT_MET)
#undef VERNIER_NAME
  return "unknown status";
}

vernier_status vernier_create(vernier_handle* handle) {
  return guarded(error_without_handle, [&] {
    require(handle != nullptr, "vernier_create: handle is null");
    *handle = nullptr;
    *handle = new vernier_context;
  });
}

vernier_status vernier_destroy(vernier_handle handle) {
  delete handle;
  return VERNIER_SUCCESS;
}

const char* vernier_last_error(vernier_handle handle) {
  return handle != nullptr ? handle->error.c_str() : error_without_handle.c_str();
}

vernier_status vernier_set_contract(vernier_handle handle, const char* contract) {
  VERNIER_C_BODY(handle->contract = parsed(contract));
}

vernier_status vernier_set_next_contract(vernier_handle handle, const char* contract) {
  VERNIER_C_BODY(handle->next_contract = parsed(contract));
}

vernier_status vernier_set_device(vernier_handle handle, const char* device) {
  return with_handle(handle, [&] {
    if (device == nullptr || *device == '\0')
      handle->device.reset();
    else
      handle->device = vernier::parse_device(device);
  });
}

vernier_status vernier_set_engine(vernier_handle handle, const char* engine) {
  return with_handle(handle, [&] {
    Options asked{.contract = vernier::Contract::fp32()};  // which every engine keeps for float
    asked.engine = engine != nullptr ? engine : "";
    vernier::explain<float>(Op::none, Op::none, 1, 1, 1, asked);  // throws on a name that is none
    handle->options.engine = asked.engine;
  });
}

vernier_status vernier_set_threads(vernier_handle handle, int threads) {
  return with_handle(handle, [&] {
    require(threads >= 0, "vernier_set_threads: expected 0 or more");
    handle->options.threads = threads;
  });
}

vernier_status vernier_set_workspace_limit(vernier_handle handle, size_t bytes) {
  VERNIER_C_BODY(handle->options.workspace_limit = bytes);
}

vernier_status vernier_set_workspace(vernier_handle handle, void* data, size_t bytes) {
  return with_handle(handle, [&] {
    require((data == nullptr) == (bytes == 0), "vernier_set_workspace: expected both or neither of data and bytes");
    handle->options.workspace = data;
    handle->options.workspace_bytes = bytes;
  });
}

vernier_status vernier_get_report(vernier_handle handle, vernier_report* report) {
  return with_handle(handle, [&] {
    require(report != nullptr, "vernier_get_report: report is null");
    require(handle->report.has_value(), "vernier_get_report: no product has succeeded on this handle");
    *report = summary(*handle->report);
  });
}

const char* vernier_report_text(vernier_handle handle) {
  return report_text(handle, [](const Report& report) { return report.text(); });
}

const char* vernier_report_json(vernier_handle handle) {
  return report_text(handle, [](const Report& report) { return report.json(); });
}

VERNIER_C_EXPLAIN(vernier_explain, vernier, options_of)

const char* vernier_explain_reason(vernier_handle handle) { return handle != nullptr ? handle->reason.c_str() : ""; }

VERNIER_C_GEMM_WORKSPACE(vernier_gemm_workspace, vernier, options_of)

void vernier_release_workspace(void) { vernier::release_workspace(); }

VERNIER_C_GEMM(vernier_gemm, product, vernier::gemm, scalar<T>("gemm: alpha is null", alpha),
               scalar<T>("gemm: beta is null", beta))

#define VERNIER_C_TYPED_GEMM(function, type, T)                                                                   \
  vernier_status function(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n, int64_t k, \
                          const T* alpha, const T* A, int64_t lda, const T* B, int64_t ldb, const T* beta, T* C,  \
                          int64_t ldc) {                                                                          \
    return vernier_gemm(handle, type, opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);                    \
  }
VERNIER_C_TYPED_GEMM(vernier_sgemm, VERNIER_S, float)
VERNIER_C_TYPED_GEMM(vernier_dgemm, VERNIER_D, double)
VERNIER_C_TYPED_GEMM(vernier_cgemm, VERNIER_C, void)
VERNIER_C_TYPED_GEMM(vernier_zgemm, VERNIER_Z, void)
#undef VERNIER_C_TYPED_GEMM

VERNIER_C_BATCH(vernier_gemm_batched, product, vernier::gemm_batched, scalar<T>("alpha is null", alpha),
                scalar<T>("beta is null", beta))
VERNIER_C_STRIDED_BATCH(vernier_gemm_strided_batched, product, vernier::gemm_strided_batched,
                        scalar<T>("alpha is null", alpha), scalar<T>("beta is null", beta))
VERNIER_C_LEVEL3(vernier_, product, vernier)
VERNIER_C_TRIANGULAR_IN_PLACE(vernier_trmm, product, vernier::trmm)

}  // extern "C"
