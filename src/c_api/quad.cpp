// The C interface of quadruple products and enclosures.
#include "vernier/quad.hpp"

#include "c_api/c_api.hpp"
#include "c_api/dd.hpp"
#include "vernier/verified.hpp"
#include "vernier/vernier_quad.h"

using namespace vernier::c_api;
using vernier::dd;
using vernier::Error;
using vernier::Op;
using vernier::Status;

namespace {

const std::complex<double>* in_z(const void* x) { return static_cast<const std::complex<double>*>(x); }
std::complex<double>* out_z(void* x) { return static_cast<std::complex<double>*>(x); }

vernier::QuadOptions options_of(vernier_handle handle, const char* contract) {
  vernier::QuadOptions options;
  options.contract = vernier::QuadContract::parse(contract == nullptr ? "" : contract);
  options.engine = handle->options.engine;
  options.threads = handle->options.threads;
  options.workspace_limit = handle->options.workspace_limit;
  return options;
}

// Of the products inside, which are exact.
vernier::Options products_of(vernier_handle handle) {
  vernier::Options options;
  options.engine = handle->options.engine;
  options.threads = handle->options.threads;
  options.workspace_limit = handle->options.workspace_limit;
  return options;
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

extern "C" {

vernier_status vernier_quad_gemm(vernier_handle handle, const char* contract, vernier_op opa, vernier_op opb, int64_t m,
                                 int64_t n, int64_t k, double alpha, const vernier_dd* A, int64_t lda,
                                 const vernier_dd* B, int64_t ldb, double beta, vernier_dd* C, int64_t ldc) {
  return with_handle(handle, [&] {
    vernier::quad_gemm(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, alpha, in_dd(A), lda, in_dd(B), ldb, beta,
                       out_dd(C), ldc, options_of(handle, contract));
  });
}

vernier_status vernier_quad_gemm_of_doubles(vernier_handle handle, const char* contract, vernier_op opa, vernier_op opb,
                                            int64_t m, int64_t n, int64_t k, double alpha, const double* A, int64_t lda,
                                            const double* B, int64_t ldb, double beta, vernier_dd* C, int64_t ldc) {
  return with_handle(handle, [&] {
    vernier::quad_gemm(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, alpha, A, lda, B, ldb, beta, out_dd(C), ldc,
                       options_of(handle, contract));
  });
}

vernier_status vernier_quad_solve(vernier_handle handle, int64_t n, int64_t nrhs, const double* A, int64_t lda,
                                  const double* B, int64_t ldb, vernier_dd* X, int64_t ldx, double* errors) {
  return with_handle(handle, [&] {
    const vernier::QuadSolveReport report =
        vernier::quad_solve(n, nrhs, A, lda, B, ldb, out_dd(X), ldx, options_of(handle, nullptr));
    if (errors != nullptr) errors[0] = report.backward_error, errors[1] = report.forward_error;
    if (!report.ok) throw Error(Status::bound_not_met, "quad_solve: " + report.reason);
  });
}

vernier_status vernier_interval_gemm(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                     int64_t k, const double* Amid, const double* Arad, int64_t lda, const double* Bmid,
                                     const double* Brad, int64_t ldb, double* Cmid, double* Crad, int64_t ldc) {
  return with_handle(handle, [&] {
    vernier::interval_gemm(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, Amid, Arad, lda, Bmid, Brad, ldb, Cmid,
                           Crad, ldc, products_of(handle));
  });
}

vernier_status vernier_verified_solve(vernier_handle handle, int64_t n, int64_t nrhs, const double* A, int64_t lda,
                                      const double* B, int64_t ldb, double* Xlow, double* Xhigh, int64_t ldx) {
  return with_handle(handle, [&] {
    require_verified(vernier::verified_solve(n, nrhs, A, lda, B, ldb, Xlow, Xhigh, ldx, products_of(handle)));
  });
}

vernier_status vernier_interval_gemm_ends(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                          int64_t k, const double* Alow, const double* Ahigh, int64_t lda,
                                          const double* Blow, const double* Bhigh, int64_t ldb, double* Clow,
                                          double* Chigh, int64_t ldc) {
  return with_handle(handle, [&] {
    vernier::interval_gemm_ends(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, Alow, Ahigh, lda, Blow, Bhigh, ldb,
                                Clow, Chigh, ldc, products_of(handle));
  });
}

vernier_status vernier_interval_zgemm(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                      int64_t k, const void* Amid, const double* Arad, int64_t lda, const void* Bmid,
                                      const double* Brad, int64_t ldb, void* Cmid, double* Crad, int64_t ldc) {
  return with_handle(handle, [&] {
    vernier::interval_gemm(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, in_z(Amid), Arad, lda, in_z(Bmid), Brad,
                           ldb, out_z(Cmid), Crad, ldc, products_of(handle));
  });
}

vernier_status vernier_interval_zgemm_ends(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                           int64_t k, const void* Alow, const void* Ahigh, int64_t lda,
                                           const void* Blow, const void* Bhigh, int64_t ldb, void* Clow, void* Chigh,
                                           int64_t ldc) {
  return with_handle(handle, [&] {
    vernier::interval_gemm_ends(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, in_z(Alow), in_z(Ahigh), lda,
                                in_z(Blow), in_z(Bhigh), ldb, out_z(Clow), out_z(Chigh), ldc, products_of(handle));
  });
}

vernier_status vernier_verified_inverse(vernier_handle handle, int64_t n, const double* A, int64_t lda, double* low,
                                        double* high, int64_t ldx) {
  return with_handle(
      handle, [&] { require_verified(vernier::verified_inverse(n, A, lda, low, high, ldx, products_of(handle))); });
}

vernier_status vernier_verified_determinant(vernier_handle handle, int64_t n, const double* A, int64_t lda,
                                            double ends[2], int64_t* exponent) {
  return with_handle(handle, [&] {
    require_pointer("verified_determinant", "ends", ends);
    require_pointer("verified_determinant", "exponent", exponent);
    vernier::DeterminantInterval interval;
    require_verified(vernier::verified_determinant(n, A, lda, interval, products_of(handle)));
    ends[0] = interval.low, ends[1] = interval.high, *exponent = interval.exponent;
  });
}

vernier_status vernier_verified_definite(vernier_handle handle, int64_t n, const double* A, int64_t lda,
                                         double* bound) {
  return with_handle(handle, [&] {
    require_pointer("verified_definite", "bound", bound);
    require_verified(vernier::verified_definite(n, A, lda, *bound, products_of(handle)));
  });
}

}  // extern "C"
