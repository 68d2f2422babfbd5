// The C interface of quadruple products and enclosures, on CPUs and GPUs.
#include "vernier/quad.hpp"

#include "c_api/quad_options.hpp"
#include "vernier/verified.hpp"
#include "vernier/vernier_quad.h"

using namespace vernier::c_api;
using vernier::dd, vernier::Error, vernier::Op, vernier::Status;

namespace {

static_assert(sizeof(vernier_dd) == sizeof(dd) && alignof(vernier_dd) == alignof(dd));
const dd* in_dd(const vernier_dd* x) { return reinterpret_cast<const dd*>(x); }
dd* out_dd(vernier_dd* x) { return reinterpret_cast<dd*>(x); }

const std::complex<double>* in_z(const void* x) { return static_cast<const std::complex<double>*>(x); }
std::complex<double>* out_z(void* x) { return static_cast<std::complex<double>*>(x); }

// Of the products inside, which are exact.
vernier::Options products_of(vernier_handle handle) {
  return {.engine = handle->options.engine,
          .threads = handle->options.threads,
          .workspace_limit = handle->options.workspace_limit};
}

vernier::cuda::Options products_on_gpu(vernier_handle handle) {
  return {.engine = handle->on_gpu.engine == "native" ? "" : handle->on_gpu.engine,
          .stream = handle->on_gpu.stream,
          .workspace_limit = handle->options.workspace_limit};
}

void require_pointer(const char* routine, const char* name, const void* pointer) {
  if (pointer == nullptr)
    throw Error(Status::invalid_argument,
                std::string(routine) + ": " + name + " is null: expected room for the result");
}

void require_verified(const vernier::VerifiedReport& report) {
  if (!report.verified) throw Error(Status::bound_not_met, report.routine + ": " + report.reason);
}

}  // namespace

// On a CPU, and on a GPU.
#define VERNIER_BEYOND_DOUBLE(prefix, space, quad_options, product_options)                                            \
  vernier_status prefix##quad_gemm(vernier_handle handle, const char* contract, vernier_op opa, vernier_op opb,        \
                                   int64_t m, int64_t n, int64_t k, double alpha, const vernier_dd* A, int64_t lda,    \
                                   const vernier_dd* B, int64_t ldb, double beta, vernier_dd* C, int64_t ldc) {        \
    VERNIER_C_BODY(space::quad_gemm(as(opa), as(opb), m, n, k, alpha, in_dd(A), lda, in_dd(B), ldb, beta, out_dd(C),   \
                                    ldc, quad_options(handle, contract)));                                             \
  }                                                                                                                    \
  vernier_status prefix##quad_gemm_of_doubles(vernier_handle handle, const char* contract, vernier_op opa,             \
                                              vernier_op opb, int64_t m, int64_t n, int64_t k, double alpha,           \
                                              const double* A, int64_t lda, const double* B, int64_t ldb, double beta, \
                                              vernier_dd* C, int64_t ldc) {                                            \
    VERNIER_C_BODY(space::quad_gemm(as(opa), as(opb), m, n, k, alpha, A, lda, B, ldb, beta, out_dd(C), ldc,            \
                                    quad_options(handle, contract)));                                                  \
  }                                                                                                                    \
  vernier_status prefix##interval_gemm(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,    \
                                       int64_t k, const double* Amid, const double* Arad, int64_t lda,                 \
                                       const double* Bmid, const double* Brad, int64_t ldb, double* Cmid,              \
                                       double* Crad, int64_t ldc) {                                                    \
    VERNIER_C_BODY(space::interval_gemm(as(opa), as(opb), m, n, k, Amid, Arad, lda, Bmid, Brad, ldb, Cmid, Crad, ldc,  \
                                        product_options(handle)));                                                     \
  }                                                                                                                    \
  vernier_status prefix##interval_gemm_ends(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m,          \
                                            int64_t n, int64_t k, const double* Alow, const double* Ahigh,             \
                                            int64_t lda, const double* Blow, const double* Bhigh, int64_t ldb,         \
                                            double* Clow, double* Chigh, int64_t ldc) {                                \
    VERNIER_C_BODY(space::interval_gemm_ends(as(opa), as(opb), m, n, k, Alow, Ahigh, lda, Blow, Bhigh, ldb, Clow,      \
                                             Chigh, ldc, product_options(handle)));                                    \
  }                                                                                                                    \
  vernier_status prefix##verified_solve(vernier_handle handle, int64_t n, int64_t nrhs, const double* A, int64_t lda,  \
                                        const double* B, int64_t ldb, double* Xlow, double* Xhigh, int64_t ldx) {      \
    VERNIER_C_BODY(                                                                                                    \
        require_verified(space::verified_solve(n, nrhs, A, lda, B, ldb, Xlow, Xhigh, ldx, product_options(handle))));  \
  }                                                                                                                    \
  vernier_status prefix##verified_inverse(vernier_handle handle, int64_t n, const double* A, int64_t lda, double* low, \
                                          double* high, int64_t ldx) {                                                 \
    VERNIER_C_BODY(require_verified(space::verified_inverse(n, A, lda, low, high, ldx, product_options(handle))));     \
  }                                                                                                                    \
  vernier_status prefix##verified_determinant(vernier_handle handle, int64_t n, const double* A, int64_t lda,          \
                                              double ends[2], int64_t* exponent) {                                     \
    return with_handle(handle, [&] {                                                                                   \
      require_pointer("verified_determinant", "ends", ends);                                                           \
      require_pointer("verified_determinant", "exponent", exponent);                                                   \
      vernier::DeterminantInterval interval;                                                                           \
      require_verified(space::verified_determinant(n, A, lda, interval, product_options(handle)));                     \
      ends[0] = interval.low, ends[1] = interval.high, *exponent = interval.exponent;                                  \
    });                                                                                                                \
  }                                                                                                                    \
  vernier_status prefix##verified_definite(vernier_handle handle, int64_t n, const double* A, int64_t lda,             \
                                           double* bound) {                                                            \
    return with_handle(handle, [&] {                                                                                   \
      require_pointer("verified_definite", "bound", bound);                                                            \
      require_verified(space::verified_definite(n, A, lda, *bound, product_options(handle)));                          \
    });                                                                                                                \
  }

#define VERNIER_SOLVE_IN_DD(name, space, options_of, proved)                                                         \
  vernier_status name(vernier_handle handle, int64_t n, int64_t nrhs, const double* A, int64_t lda, const double* B, \
                      int64_t ldb, vernier_dd* X, int64_t ldx, double* errors) {                                     \
    return with_handle(handle, [&] {                                                                                 \
      vernier::QuadOptions options = options_of(handle, nullptr);                                                    \
      options.verified = proved;                                                                                     \
      const vernier::QuadSolveReport report = space::quad_solve(n, nrhs, A, lda, B, ldb, out_dd(X), ldx, options);   \
      if (errors != nullptr) errors[0] = report.backward_error, errors[1] = report.forward_error;                    \
      if (!report.ok) throw Error(Status::bound_not_met, "quad_solve: " + report.reason);                            \
      if (report.verified != proved) throw Error(Status::bound_not_met, "quad_solve: its error is an estimate");     \
    });                                                                                                              \
  }

extern "C" {

VERNIER_BEYOND_DOUBLE(vernier_, vernier, quad_options, products_of)
VERNIER_BEYOND_DOUBLE(vernier_cuda_, vernier::cuda, quad_options_on_gpu, products_on_gpu)
#undef VERNIER_BEYOND_DOUBLE
VERNIER_SOLVE_IN_DD(vernier_quad_solve, vernier, quad_options, false)
VERNIER_SOLVE_IN_DD(vernier_quad_solve_verified, vernier, quad_options, true)
VERNIER_SOLVE_IN_DD(vernier_cuda_quad_solve, vernier::cuda, quad_options_on_gpu, false)
VERNIER_SOLVE_IN_DD(vernier_cuda_quad_solve_verified, vernier::cuda, quad_options_on_gpu, true)
#undef VERNIER_SOLVE_IN_DD

vernier_status vernier_interval_zgemm(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                      int64_t k, const void* Amid, const double* Arad, int64_t lda, const void* Bmid,
                                      const double* Brad, int64_t ldb, void* Cmid, double* Crad, int64_t ldc) {
  VERNIER_C_BODY(vernier::interval_gemm(as(opa), as(opb), m, n, k, in_z(Amid), Arad, lda, in_z(Bmid), Brad, ldb,
                                        out_z(Cmid), Crad, ldc, products_of(handle)));
}

vernier_status vernier_interval_zgemm_ends(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                           int64_t k, const void* Alow, const void* Ahigh, int64_t lda,
                                           const void* Blow, const void* Bhigh, int64_t ldb, void* Clow, void* Chigh,
                                           int64_t ldc) {
  VERNIER_C_BODY(vernier::interval_gemm_ends(as(opa), as(opb), m, n, k, in_z(Alow), in_z(Ahigh), lda, in_z(Blow),
                                             in_z(Bhigh), ldb, out_z(Clow), out_z(Chigh), ldc, products_of(handle)));
}

}  // extern "C"
