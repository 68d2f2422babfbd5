// The C interface of the level-3 routines and of batches.
#include "c_api/c_api.hpp"

using namespace vernier::c_api;
using vernier::Diag;
using vernier::Op;
using vernier::Options;
using vernier::Real;
using vernier::Report;
using vernier::Side;
using vernier::Uplo;

extern "C" {

vernier_status vernier_symm(vernier_handle handle, vernier_type type, vernier_side side, vernier_uplo uplo, int64_t m,
                            int64_t n, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                            const void* beta, void* C, int64_t ldc) {
  return product(handle, type, [&]<class T>(T, const Options& options) {
    return vernier::symm<T>(static_cast<Side>(side), static_cast<Uplo>(uplo), m, n, alpha_of<T>(alpha), in<T>(A), lda,
                            in<T>(B), ldb, beta_of<T>(beta), out<T>(C), ldc, options);
  });
}

vernier_status vernier_hemm(vernier_handle handle, vernier_type type, vernier_side side, vernier_uplo uplo, int64_t m,
                            int64_t n, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                            const void* beta, void* C, int64_t ldc) {
  return product(handle, type, [&]<class T>(T, const Options& options) {
    return vernier::hemm<T>(static_cast<Side>(side), static_cast<Uplo>(uplo), m, n, alpha_of<T>(alpha), in<T>(A), lda,
                            in<T>(B), ldb, beta_of<T>(beta), out<T>(C), ldc, options);
  });
}

vernier_status vernier_gemmt(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op opa,
                             vernier_op opb, int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda,
                             const void* B, int64_t ldb, const void* beta, void* C, int64_t ldc) {
  return product(handle, type, [&]<class T>(T, const Options& options) {
    return vernier::gemmt<T>(static_cast<Uplo>(uplo), static_cast<Op>(opa), static_cast<Op>(opb), n, k,
                             alpha_of<T>(alpha), in<T>(A), lda, in<T>(B), ldb, beta_of<T>(beta), out<T>(C), ldc,
                             options);
  });
}

vernier_status vernier_syrk(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,
                            int64_t k, const void* alpha, const void* A, int64_t lda, const void* beta, void* C,
                            int64_t ldc) {
  return product(handle, type, [&]<class T>(T, const Options& options) {
    return vernier::syrk<T>(static_cast<Uplo>(uplo), static_cast<Op>(op), n, k, alpha_of<T>(alpha), in<T>(A), lda,
                            beta_of<T>(beta), out<T>(C), ldc, options);
  });
}

vernier_status vernier_herk(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,
                            int64_t k, const void* alpha, const void* A, int64_t lda, const void* beta, void* C,
                            int64_t ldc) {
  return product(handle, type, [&]<class T>(T, const Options& options) {
    return vernier::herk<T>(static_cast<Uplo>(uplo), static_cast<Op>(op), n, k, alpha_of<Real<T>>(alpha), in<T>(A), lda,
                            beta_of<Real<T>>(beta), out<T>(C), ldc, options);
  });
}

vernier_status vernier_syr2k(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,
                             int64_t k, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                             const void* beta, void* C, int64_t ldc) {
  return product(handle, type, [&]<class T>(T, const Options& options) {
    return vernier::syr2k<T>(static_cast<Uplo>(uplo), static_cast<Op>(op), n, k, alpha_of<T>(alpha), in<T>(A), lda,
                             in<T>(B), ldb, beta_of<T>(beta), out<T>(C), ldc, options);
  });
}

vernier_status vernier_her2k(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,
                             int64_t k, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                             const void* beta, void* C, int64_t ldc) {
  return product(handle, type, [&]<class T>(T, const Options& options) {
    return vernier::her2k<T>(static_cast<Uplo>(uplo), static_cast<Op>(op), n, k, alpha_of<T>(alpha), in<T>(A), lda,
                             in<T>(B), ldb, beta_of<Real<T>>(beta), out<T>(C), ldc, options);
  });
}

vernier_status vernier_trmm(vernier_handle handle, vernier_type type, vernier_side side, vernier_uplo uplo,
                            vernier_op op, vernier_diag diag, int64_t m, int64_t n, const void* alpha, const void* A,
                            int64_t lda, void* B, int64_t ldb) {
  return product(handle, type, [&]<class T>(T, const Options& options) {
    return vernier::trmm<T>(static_cast<Side>(side), static_cast<Uplo>(uplo), static_cast<Op>(op),
                            static_cast<Diag>(diag), m, n, alpha_of<T>(alpha), in<T>(A), lda, out<T>(B), ldb, options);
  });
}

vernier_status vernier_trsm(vernier_handle handle, vernier_type type, vernier_side side, vernier_uplo uplo,
                            vernier_op op, vernier_diag diag, int64_t m, int64_t n, const void* alpha, const void* A,
                            int64_t lda, void* B, int64_t ldb) {
  return product(handle, type, [&]<class T>(T, const Options& options) {
    return vernier::trsm<T>(static_cast<Side>(side), static_cast<Uplo>(uplo), static_cast<Op>(op),
                            static_cast<Diag>(diag), m, n, alpha_of<T>(alpha), in<T>(A), lda, out<T>(B), ldb, options);
  });
}

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

}  // extern "C"
