// The C interface of the level-3 routines and of batches.
#include "c_api/c_api.hpp"
#include "c_api/level3_functions.hpp"

using namespace vernier::c_api;
using vernier::Diag;
using vernier::Op;
using vernier::Options;
using vernier::Real;
using vernier::Report;
using vernier::Side;
using vernier::Uplo;

extern "C" {

vernier_status vernier_gemm_batched(vernier_handle handle, vernier_type type, vernier_op opa, vernier_op opb, int64_t m,
                                    int64_t n, int64_t k, const void* alpha, const void* const* A, int64_t lda,
                                    const void* const* B, int64_t ldb, const void* beta, void* const* C, int64_t ldc,
                                    int64_t count) {
  return product(handle, type, [&]<class T>(T, const Options& options) {
    return vernier::gemm_batched<T>(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, alpha_of<T>(alpha),
                                    reinterpret_cast<const T* const*>(A), lda, reinterpret_cast<const T* const*>(B),
                                    ldb, beta_of<T>(beta), reinterpret_cast<T* const*>(C), ldc, count, options);
  });
}

vernier_status vernier_gemm_strided_batched(vernier_handle handle, vernier_type type, vernier_op opa, vernier_op opb,
                                            int64_t m, int64_t n, int64_t k, const void* alpha, const void* A,
                                            int64_t lda, int64_t stride_a, const void* B, int64_t ldb, int64_t stride_b,
                                            const void* beta, void* C, int64_t ldc, int64_t stride_c, int64_t count) {
  return product(handle, type, [&]<class T>(T, const Options& options) {
    return vernier::gemm_strided_batched<T>(static_cast<Op>(opa), static_cast<Op>(opb), m, n, k, alpha_of<T>(alpha),
                                            in<T>(A), lda, stride_a, in<T>(B), ldb, stride_b, beta_of<T>(beta),
                                            out<T>(C), ldc, stride_c, count, options);
  });
}

VERNIER_C_SYMMETRIC_PRODUCT(vernier_symm, product, vernier::symm)
VERNIER_C_SYMMETRIC_PRODUCT(vernier_hemm, product, vernier::hemm)
VERNIER_C_GEMMT(vernier_gemmt, product, vernier::gemmt)
VERNIER_C_RANK_K_UPDATE(vernier_syrk, product, vernier::syrk, T)
VERNIER_C_RANK_K_UPDATE(vernier_herk, product, vernier::herk, Real<T>)
VERNIER_C_RANK_2K_UPDATE(vernier_syr2k, product, vernier::syr2k, T)
VERNIER_C_RANK_2K_UPDATE(vernier_her2k, product, vernier::her2k, Real<T>)
VERNIER_C_TRIANGULAR_IN_PLACE(vernier_trmm, product, vernier::trmm)
VERNIER_C_TRIANGULAR_IN_PLACE(vernier_trsm, product, vernier::trsm)

}  // extern "C"
