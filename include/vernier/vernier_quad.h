/* Beyond double from C: quad.hpp and verified.hpp, whose names these are. A handle's engine, threads and workspace
 * limit hold here, its contract does not; messages are those of vernier_last_error. */
#ifndef VERNIER_VERNIER_QUAD_H
#define VERNIER_VERNIER_QUAD_H

#include "vernier/vernier.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vernier_dd {
  double hi, lo; /* the number is their sum */
} vernier_dd;

/* C = alpha op(A) op(B) + beta C. contract: "dd", "bits(n)", "exact", "exact+down", ...; null: dd. The second takes the
 * product of matrices of doubles, which is exact until its one rounding for all but the widest data. */
VERNIER_C_API vernier_status vernier_quad_gemm(vernier_handle handle, const char* contract, vernier_op opa,
                                               vernier_op opb, int64_t m, int64_t n, int64_t k, double alpha,
                                               const vernier_dd* A, int64_t lda, const vernier_dd* B, int64_t ldb,
                                               double beta, vernier_dd* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_quad_gemm_of_doubles(vernier_handle handle, const char* contract, vernier_op opa,
                                                          vernier_op opb, int64_t m, int64_t n, int64_t k, double alpha,
                                                          const double* A, int64_t lda, const double* B, int64_t ldb,
                                                          double beta, vernier_dd* C, int64_t ldc);

/* Entries of a matrix; complex ones are two side by side. binary128: the compiler's __float128, 16 bytes. */
typedef enum vernier_quad_type VERNIER_C_ENUM {
  VERNIER_QUAD_DOUBLE = 'd',
  VERNIER_QUAD_DD = 'w',
  VERNIER_QUAD_BINARY128 = 'q',
  VERNIER_QUAD_COMPLEX_DOUBLE = 'z',
  VERNIER_QUAD_COMPLEX_DD = 'W',
  VERNIER_QUAD_COMPLEX_BINARY128 = 'Q'
} vernier_quad_type;

/* The products of all types that quad.hpp names, and of dd whose hi and lo lie in two arrays. */
VERNIER_C_API vernier_status vernier_quad_gemm_of(vernier_handle handle, const char* contract, vernier_quad_type type_a,
                                                  vernier_quad_type type_b, vernier_quad_type type_c, vernier_op opa,
                                                  vernier_op opb, int64_t m, int64_t n, int64_t k, double alpha,
                                                  const void* A, int64_t lda, const void* B, int64_t ldb, double beta,
                                                  void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_quad_gemm_of_arrays(vernier_handle handle, const char* contract, vernier_op opa,
                                                         vernier_op opb, int64_t m, int64_t n, int64_t k, double alpha,
                                                         const double* Ahi, const double* Alo, int64_t lda,
                                                         const double* Bhi, const double* Blo, int64_t ldb, double beta,
                                                         double* Chi, double* Clo, int64_t ldc);

/* In dd and binary128, as quad.hpp has them. info: LAPACK's; null: not wanted. */
VERNIER_C_API vernier_status vernier_quad_syrk(vernier_handle handle, const char* contract, vernier_quad_type type,
                                               vernier_uplo uplo, vernier_op op, int64_t n, int64_t k, double alpha,
                                               const void* A, int64_t lda, double beta, void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_quad_trsm(vernier_handle handle, const char* contract, vernier_quad_type type,
                                               vernier_side side, vernier_uplo uplo, vernier_op op, vernier_diag diag,
                                               int64_t m, int64_t n, double alpha, const void* A, int64_t lda, void* B,
                                               int64_t ldb);
VERNIER_C_API vernier_status vernier_quad_getrf(vernier_handle handle, const char* contract, vernier_quad_type type,
                                                int64_t m, int64_t n, void* A, int64_t lda, int64_t* pivots,
                                                int64_t* info);
VERNIER_C_API vernier_status vernier_quad_potrf(vernier_handle handle, const char* contract, vernier_quad_type type,
                                                vernier_uplo uplo, int64_t n, void* A, int64_t lda, int64_t* info);
VERNIER_C_API vernier_status vernier_quad_gesv(vernier_handle handle, const char* contract, vernier_quad_type type,
                                               int64_t n, int64_t nrhs, void* A, int64_t lda, int64_t* pivots, void* B,
                                               int64_t ldb, int64_t* info);

/* A X = B with X in dd. BOUND_NOT_MET: the corrections do not converge, or A is singular. errors: null, or two numbers:
 * the backward error, and an estimate of the forward error; a proved bound of it from the second call, which returns
 * BOUND_NOT_MET where it has none, with X as good as without. */
VERNIER_C_API vernier_status vernier_quad_solve(vernier_handle handle, int64_t n, int64_t nrhs, const double* A,
                                                int64_t lda, const double* B, int64_t ldb, vernier_dd* X, int64_t ldx,
                                                double* errors);
VERNIER_C_API vernier_status vernier_quad_solve_verified(vernier_handle handle, int64_t n, int64_t nrhs,
                                                         const double* A, int64_t lda, const double* B, int64_t ldb,
                                                         vernier_dd* X, int64_t ldx, double* errors);

/* Cmid and Crad from midpoints and radii; null radii are zeros. */
VERNIER_C_API vernier_status vernier_interval_gemm(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m,
                                                   int64_t n, int64_t k, const double* Amid, const double* Arad,
                                                   int64_t lda, const double* Bmid, const double* Brad, int64_t ldb,
                                                   double* Cmid, double* Crad, int64_t ldc);

/* The same by ends: Alow <= A <= Ahigh. */
VERNIER_C_API vernier_status vernier_interval_gemm_ends(vernier_handle handle, vernier_op opa, vernier_op opb,
                                                        int64_t m, int64_t n, int64_t k, const double* Alow,
                                                        const double* Ahigh, int64_t lda, const double* Blow,
                                                        const double* Bhigh, int64_t ldb, double* Clow, double* Chigh,
                                                        int64_t ldc);

/* Complex ones: discs; rectangles. The matrices but radii are of pairs of doubles, as C's own complex type. */
VERNIER_C_API vernier_status vernier_interval_zgemm(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m,
                                                    int64_t n, int64_t k, const void* Amid, const double* Arad,
                                                    int64_t lda, const void* Bmid, const double* Brad, int64_t ldb,
                                                    void* Cmid, double* Crad, int64_t ldc);
VERNIER_C_API vernier_status vernier_interval_zgemm_ends(vernier_handle handle, vernier_op opa, vernier_op opb,
                                                         int64_t m, int64_t n, int64_t k, const void* Alow,
                                                         const void* Ahigh, int64_t lda, const void* Blow,
                                                         const void* Bhigh, int64_t ldb, void* Clow, void* Chigh,
                                                         int64_t ldc);

/* Xlow <= X <= Xhigh for the exact solution of A X = B; BOUND_NOT_MET: not verified, nothing was written. */
VERNIER_C_API vernier_status vernier_verified_solve(vernier_handle handle, int64_t n, int64_t nrhs, const double* A,
                                                    int64_t lda, const double* B, int64_t ldb, double* Xlow,
                                                    double* Xhigh, int64_t ldx);

/* low <= A^-1 <= high; low 2^exponent <= det A <= high 2^exponent, ends: low and high; all eigenvalues of a symmetric
 * A, of which the lower triangle is read, are at least *bound > 0. BOUND_NOT_MET as above. */
VERNIER_C_API vernier_status vernier_verified_inverse(vernier_handle handle, int64_t n, const double* A, int64_t lda,
                                                      double* low, double* high, int64_t ldx);
VERNIER_C_API vernier_status vernier_verified_determinant(vernier_handle handle, int64_t n, const double* A,
                                                          int64_t lda, double ends[2], int64_t* exponent);
VERNIER_C_API vernier_status vernier_verified_definite(vernier_handle handle, int64_t n, const double* A, int64_t lda,
                                                       double* bound);

/* The same of matrices in device memory, on the stream of vernier_cuda_set_stream (vernier_cuda.h): the bits of the
 * CPU's but for proofs' last ones. They return when the result is there; without CUDA VERNIER_UNSUPPORTED. */
VERNIER_C_API vernier_status vernier_cuda_quad_gemm(vernier_handle handle, const char* contract, vernier_op opa,
                                                    vernier_op opb, int64_t m, int64_t n, int64_t k, double alpha,
                                                    const vernier_dd* A, int64_t lda, const vernier_dd* B, int64_t ldb,
                                                    double beta, vernier_dd* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_quad_gemm_of_doubles(vernier_handle handle, const char* contract,
                                                               vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                                               int64_t k, double alpha, const double* A, int64_t lda,
                                                               const double* B, int64_t ldb, double beta, vernier_dd* C,
                                                               int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_quad_gemm_of(vernier_handle handle, const char* contract,
                                                       vernier_quad_type type_a, vernier_quad_type type_b,
                                                       vernier_quad_type type_c, vernier_op opa, vernier_op opb,
                                                       int64_t m, int64_t n, int64_t k, double alpha, const void* A,
                                                       int64_t lda, const void* B, int64_t ldb, double beta, void* C,
                                                       int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_quad_gemm_of_arrays(vernier_handle handle, const char* contract,
                                                              vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                                              int64_t k, double alpha, const double* Ahi,
                                                              const double* Alo, int64_t lda, const double* Bhi,
                                                              const double* Blo, int64_t ldb, double beta, double* Chi,
                                                              double* Clo, int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_quad_syrk(vernier_handle handle, const char* contract, vernier_quad_type type,
                                                    vernier_uplo uplo, vernier_op op, int64_t n, int64_t k,
                                                    double alpha, const void* A, int64_t lda, double beta, void* C,
                                                    int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_quad_trsm(vernier_handle handle, const char* contract, vernier_quad_type type,
                                                    vernier_side side, vernier_uplo uplo, vernier_op op,
                                                    vernier_diag diag, int64_t m, int64_t n, double alpha,
                                                    const void* A, int64_t lda, void* B, int64_t ldb);
VERNIER_C_API vernier_status vernier_cuda_quad_getrf(vernier_handle handle, const char* contract,
                                                     vernier_quad_type type, int64_t m, int64_t n, void* A, int64_t lda,
                                                     int64_t* pivots, int64_t* info);
VERNIER_C_API vernier_status vernier_cuda_quad_potrf(vernier_handle handle, const char* contract,
                                                     vernier_quad_type type, vernier_uplo uplo, int64_t n, void* A,
                                                     int64_t lda, int64_t* info);
VERNIER_C_API vernier_status vernier_cuda_quad_gesv(vernier_handle handle, const char* contract, vernier_quad_type type,
                                                    int64_t n, int64_t nrhs, void* A, int64_t lda, int64_t* pivots,
                                                    void* B, int64_t ldb, int64_t* info);
VERNIER_C_API vernier_status vernier_cuda_quad_solve(vernier_handle handle, int64_t n, int64_t nrhs, const double* A,
                                                     int64_t lda, const double* B, int64_t ldb, vernier_dd* X,
                                                     int64_t ldx, double* errors);
VERNIER_C_API vernier_status vernier_cuda_quad_solve_verified(vernier_handle handle, int64_t n, int64_t nrhs,
                                                              const double* A, int64_t lda, const double* B,
                                                              int64_t ldb, vernier_dd* X, int64_t ldx, double* errors);
VERNIER_C_API vernier_status vernier_cuda_interval_gemm(vernier_handle handle, vernier_op opa, vernier_op opb,
                                                        int64_t m, int64_t n, int64_t k, const double* Amid,
                                                        const double* Arad, int64_t lda, const double* Bmid,
                                                        const double* Brad, int64_t ldb, double* Cmid, double* Crad,
                                                        int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_interval_gemm_ends(vernier_handle handle, vernier_op opa, vernier_op opb,
                                                             int64_t m, int64_t n, int64_t k, const double* Alow,
                                                             const double* Ahigh, int64_t lda, const double* Blow,
                                                             const double* Bhigh, int64_t ldb, double* Clow,
                                                             double* Chigh, int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_verified_solve(vernier_handle handle, int64_t n, int64_t nrhs,
                                                         const double* A, int64_t lda, const double* B, int64_t ldb,
                                                         double* Xlow, double* Xhigh, int64_t ldx);

VERNIER_C_API vernier_status vernier_cuda_verified_inverse(vernier_handle handle, int64_t n, const double* A,
                                                           int64_t lda, double* low, double* high, int64_t ldx);
VERNIER_C_API vernier_status vernier_cuda_verified_determinant(vernier_handle handle, int64_t n, const double* A,
                                                               int64_t lda, double ends[2], int64_t* exponent);
VERNIER_C_API vernier_status vernier_cuda_verified_definite(vernier_handle handle, int64_t n, const double* A,
                                                            int64_t lda, double* bound);

#ifdef __cplusplus
}
#endif

#endif /* VERNIER_VERNIER_QUAD_H */
