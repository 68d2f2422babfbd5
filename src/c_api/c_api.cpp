// The C interface: validates what C cannot, calls the C++ one, and turns every exception into a code and a message.
#include "c_api/c_api.hpp"

#include <variant>

#include "c_api/product_functions.hpp"
#include "vernier/prepared.hpp"
#include "vernier/vernier_cuda.h"

namespace cuda = vernier::cuda;

struct vernier_prepared_operand {
  std::variant<vernier::PreparedOperand<float>, vernier::PreparedOperand<double>, cuda::PreparedOperand<float>,
               cuda::PreparedOperand<double>>
      x;

  vernier_type type() const { return x.index() % 2 == 0 ? VERNIER_S : VERNIER_D; }
};

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

// ---- prepared operands, on CPUs and GPUs

template <class T>
constexpr bool preparable = std::is_same_v<T, float> || std::is_same_v<T, double>;

// make(T{}) makes the operand.
template <class Make>
vernier_status prepare(vernier_handle handle, vernier_type type, vernier_prepared* prepared, Make make) {
  return with_handle(handle, [&] {
    require(prepared != nullptr, "vernier_prepare: prepared is null");
    *prepared = nullptr;
    require(type == VERNIER_S || type == VERNIER_D, "vernier_prepare: type: expected VERNIER_S or VERNIER_D");
    *prepared =
        type == VERNIER_S ? new vernier_prepared_operand{make(float{})} : new vernier_prepared_operand{make(double{})};
  });
}

// body(T{}, operand) for an operand that is an Operand<T>.
template <template <class> class Operand, class Body>
vernier_status multiply(vernier_handle handle, vernier_prepared x, Body body) {
  const vernier_type type = x != nullptr ? x->type() : VERNIER_D;
  return product(handle, type, [&]<class T>(T, const Options&) -> Report {
    require(x != nullptr, "gemm: the prepared operand is null");
    if constexpr (preparable<T>) {
      const Operand<T>* operand = std::get_if<Operand<T>>(&x->x);
      require(operand != nullptr, "gemm: the operand was prepared in memory of the other side, host or device");
      return body(T{}, *operand);
    } else {
      throw Error(Status::internal_error, "a prepared operand is of a real type");
    }
  });
}

}  // namespace
}  // namespace vernier::c_api

using namespace vernier::c_api;
using vernier::Options, vernier::Real, vernier::Report;
using vernier::Side, vernier::Uplo, vernier::Op, vernier::Diag;

// Of memory of the host, and of the device.
#define VERNIER_PREPARED(prefix, space, options_of_memory, alpha_in_memory, beta_in_memory)                        \
  vernier_status prefix##prepare(vernier_handle handle, vernier_type type, vernier_side side, vernier_op op,       \
                                 int64_t rows, int64_t columns, const void* X, int64_t ldx,                        \
                                 vernier_prepared* prepared) {                                                     \
    return prepare(handle, type, prepared, [&]<class T>(T) {                                                       \
      return space::PreparedOperand<T>(static_cast<Side>(side), static_cast<Op>(op), rows, columns, in<T>(X), ldx, \
                                       options_of_memory<T>(*handle));                                             \
    });                                                                                                            \
  }                                                                                                                \
  vernier_status prefix##gemm_prepared_left(vernier_handle handle, vernier_prepared A, vernier_op opb, int64_t m,  \
                                            int64_t n, int64_t k, const void* alpha, const void* B, int64_t ldb,   \
                                            const void* beta, void* C, int64_t ldc) {                              \
    return multiply<space::PreparedOperand>(handle, A, [&]<class T>(T, const space::PreparedOperand<T>& a) {       \
      return space::gemm<T>(a, static_cast<Op>(opb), m, n, k, alpha_in_memory, in<T>(B), ldb, beta_in_memory,      \
                            out<T>(C), ldc, options_of_memory<T>(*handle));                                        \
    });                                                                                                            \
  }                                                                                                                \
  vernier_status prefix##gemm_prepared_right(vernier_handle handle, vernier_op opa, vernier_prepared B, int64_t m, \
                                             int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda,  \
                                             const void* beta, void* C, int64_t ldc) {                             \
    return multiply<space::PreparedOperand>(handle, B, [&]<class T>(T, const space::PreparedOperand<T>& b) {       \
      return space::gemm<T>(static_cast<Op>(opa), b, m, n, k, alpha_in_memory, in<T>(A), lda, beta_in_memory,      \
                            out<T>(C), ldc, options_of_memory<T>(*handle));                                        \
    });                                                                                                            \
  }

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
  return with_handle(handle, [&] { handle->contract = parsed(contract); });
}

vernier_status vernier_set_next_contract(vernier_handle handle, const char* contract) {
  return with_handle(handle, [&] { handle->next_contract = parsed(contract); });
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
  return with_handle(handle, [&] { handle->options.workspace_limit = bytes; });
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

VERNIER_C_BATCH(vernier_gemm_batched, product, vernier::gemm_batched, alpha_of<T>(alpha), beta_of<T>(beta))
VERNIER_C_STRIDED_BATCH(vernier_gemm_strided_batched, product, vernier::gemm_strided_batched, alpha_of<T>(alpha),
                        beta_of<T>(beta))
VERNIER_C_LEVEL3(vernier_, product, vernier)
VERNIER_C_TRIANGULAR_IN_PLACE(vernier_trmm, product, vernier::trmm)

VERNIER_PREPARED(vernier_, vernier, options_of, scalar<T>("gemm: alpha is null", alpha),
                 scalar<T>("gemm: beta is null", beta))
VERNIER_PREPARED(vernier_cuda_, cuda, gpu_options_of, in<T>(alpha), in<T>(beta))
#undef VERNIER_PREPARED

vernier_status vernier_destroy_prepared(vernier_prepared prepared) {
  delete prepared;
  return VERNIER_SUCCESS;
}

}  // extern "C"
