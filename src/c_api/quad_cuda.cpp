// The C interface of quadruple products and enclosures on a GPU.
#include "c_api/c_api.hpp"
#include "c_api/dd.hpp"
#include "vernier/quad.hpp"
#include "vernier/verified.hpp"
#include "vernier/vernier_quad.h"

using namespace vernier::c_api;
namespace cuda = vernier::cuda;
using vernier::dd;
using vernier::Error;
using vernier::Op;
using vernier::Status;

namespace {

vernier::QuadOptions quad_options(vernier_handle handle, const char* contract) {
  vernier::QuadOptions options;
  options.contract = vernier::QuadContract::parse(contract == nullptr ? "" : contract);
  options.engine = handle->on_gpu.engine == "native" ? "" : handle->on_gpu.engine;
  options.threads = handle->options.threads;
  options.workspace_limit = handle->options.workspace_limit;
  options.stream = handle->on_gpu.stream;
  return options;
}

cuda::Options products_on_gpu(vernier_handle handle) {
  return {.engine = handle->on_gpu.engine == "native" ? "" : handle->on_gpu.engine,
          .stream = handle->on_gpu.stream,
          .workspace_limit = handle->options.workspace_limit};
}

}  // namespace

extern "C" {

vernier_status vernier_cuda_quad_gemm(vernier_handle handle, const char* contract, vernier_op opa, vernier_op opb,
                                      int64_t m, int64_t n, int64_t k, double alpha, const vernier_dd* A, int64_t lda,
                                      const vernier_dd* B, int64_t ldb, double beta, vernier_dd* C, int64_t ldc) {
  return with_handle(handle, [&] {
    cuda::quad_gemm(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, alpha, in_dd(A), lda, in_dd(B), ldb, beta,
                    out_dd(C), ldc, quad_options(handle, contract));
  });
}

vernier_status vernier_cuda_quad_gemm_of_doubles(vernier_handle handle, const char* contract, vernier_op opa,
                                                 vernier_op opb, int64_t m, int64_t n, int64_t k, double alpha,
                                                 const double* A, int64_t lda, const double* B, int64_t ldb,
                                                 double beta, vernier_dd* C, int64_t ldc) {
  return with_handle(handle, [&] {
    cuda::quad_gemm(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, alpha, A, lda, B, ldb, beta, out_dd(C), ldc,
                    quad_options(handle, contract));
  });
}

vernier_status vernier_cuda_quad_solve(vernier_handle handle, int64_t n, int64_t nrhs, const double* A, int64_t lda,
                                       const double* B, int64_t ldb, vernier_dd* X, int64_t ldx, double* errors) {
  return with_handle(handle, [&] {
    const vernier::QuadSolveReport report =
        cuda::quad_solve(n, nrhs, A, lda, B, ldb, out_dd(X), ldx, quad_options(handle, nullptr));
    if (errors != nullptr) errors[0] = report.backward_error, errors[1] = report.forward_error;
    if (!report.ok) throw Error(Status::bound_not_met, "quad_solve: " + report.reason);
  });
}

vernier_status vernier_cuda_interval_gemm(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                          int64_t k, const double* Amid, const double* Arad, int64_t lda,
                                          const double* Bmid, const double* Brad, int64_t ldb, double* Cmid,
                                          double* Crad, int64_t ldc) {
  return with_handle(handle, [&] {
    cuda::interval_gemm(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, Amid, Arad, lda, Bmid, Brad, ldb, Cmid,
                        Crad, ldc, products_on_gpu(handle));
  });
}

vernier_status vernier_cuda_interval_gemm_ends(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m,
                                               int64_t n, int64_t k, const double* Alow, const double* Ahigh,
                                               int64_t lda, const double* Blow, const double* Bhigh, int64_t ldb,
                                               double* Clow, double* Chigh, int64_t ldc) {
  return with_handle(handle, [&] {
    cuda::interval_gemm_ends(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, Alow, Ahigh, lda, Blow, Bhigh, ldb,
                             Clow, Chigh, ldc, products_on_gpu(handle));
  });
}

vernier_status vernier_cuda_verified_solve(vernier_handle handle, int64_t n, int64_t nrhs, const double* A, int64_t lda,
                                           const double* B, int64_t ldb, double* Xlow, double* Xhigh, int64_t ldx) {
  return with_handle(handle, [&] {
    const vernier::VerifiedReport report =
        cuda::verified_solve(n, nrhs, A, lda, B, ldb, Xlow, Xhigh, ldx, products_on_gpu(handle));
    if (!report.verified) throw Error(Status::bound_not_met, report.routine + ": " + report.reason);
  });
}

}  // extern "C"
