/* Vernier on a GPU from C: the routines of vernier.h for matrices in device memory, queued on the handle's stream.
 *
 * cuda.hpp and cuda_level3.hpp say what each computes, how far it is asynchronous and what a graph can capture. In a
 * build without CUDA, and without a GPU, all of them return VERNIER_UNSUPPORTED. Of the handle's settings the contract
 * counts here, and the workspace limit, in bytes of device memory; the seconds of a report are the host's. */
#ifndef VERNIER_VERNIER_CUDA_H
#define VERNIER_VERNIER_CUDA_H

#include "vernier/vernier.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vernier_pointer_mode VERNIER_C_ENUM {
  VERNIER_POINTER_HOST = 0,
  VERNIER_POINTER_DEVICE = 1
} vernier_pointer_mode;

VERNIER_C_API vernier_status vernier_cuda_set_stream(vernier_handle handle, void* stream); /* a cudaStream_t */
/* A cublasHandle_t of the caller's, of the current device and of the cuBLAS that the process has loaded, which
 * products, but for those of prepared operands, and level 3 on this handle take wherever they call cuBLAS: to make one
 * takes 0.1 s. No other thread may use it during a call. After the call its stream and modes are as they were; it keeps
 * a workspace where its stream is that of this handle. Not read between calls, nor where the process has loaded several
 * versions of cuBLAS. Null, the default: the library's own. */
VERNIER_C_API vernier_status vernier_cuda_set_cublas(vernier_handle handle, void* cublas);
/* Where the factors of gemm and its batches are; those of the other routines are on the host. */
VERNIER_C_API vernier_status vernier_cuda_set_pointer_mode(vernier_handle handle, vernier_pointer_mode mode);
/* Not 0: products never wait for the GPU, which decides what the data need (Options::asynchronous in cuda.hpp). */
VERNIER_C_API vernier_status vernier_cuda_set_asynchronous(vernier_handle handle, int asynchronous);
/* Where gemm, but neither its batches nor level 3, leaves behind the product what was decided on the GPU: in memory
 * that it reaches, its own or pinned. Contracts that no kernel may keep for some data must be given one where no host
 * waits. Null: nowhere. */
typedef struct vernier_cuda_outcome {
  int32_t words[24];
} vernier_cuda_outcome;
VERNIER_C_API vernier_status vernier_cuda_set_outcome(vernier_handle handle, vernier_cuda_outcome* outcome);
/* Completes the report of the handle's last product, once its stream has come so far and the outcome is in memory of
 * the host; anew after each replay of a graph. VERNIER_BOUND_NOT_MET: the data were too wide for the contract, and C
 * was left as it was. */
VERNIER_C_API vernier_status vernier_cuda_complete_report(vernier_handle handle, const vernier_cuda_outcome* outcome);
/* A GPU engine that `vernier info` lists, or "native"; null or "": the library chooses. */
VERNIER_C_API vernier_status vernier_cuda_set_engine(vernier_handle handle, const char* engine);
/* Device memory for gemm; null, 0: none. */
VERNIER_C_API vernier_status vernier_cuda_set_workspace(vernier_handle handle, void* data, size_t bytes);
VERNIER_C_API vernier_status vernier_cuda_gemm_workspace(vernier_handle handle, vernier_type type, int64_t m, int64_t n,
                                                         int64_t k, size_t* bytes);
VERNIER_C_API vernier_status vernier_cuda_explain(vernier_handle handle, vernier_type type, int64_t m, int64_t n,
                                                  int64_t k, vernier_report* plan);

VERNIER_C_API vernier_status vernier_cuda_gemm(vernier_handle handle, vernier_type type, vernier_op opa, vernier_op opb,
                                               int64_t m, int64_t n, int64_t k, const void* alpha, const void* A,
                                               int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                                               int64_t ldc);
/* As gemm, but VERNIER_BOUND_NOT_MET, with C untouched, in place of cuBLAS's product of data that are too wide, but for
 * parts of C by one that is lent: for callers with a cuBLAS of their own. */
VERNIER_C_API vernier_status vernier_cuda_gemm_unless_wide(vernier_handle handle, vernier_type type, vernier_op opa,
                                                           vernier_op opb, int64_t m, int64_t n, int64_t k,
                                                           const void* alpha, const void* A, int64_t lda, const void* B,
                                                           int64_t ldb, const void* beta, void* C, int64_t ldc);
/* Prepared operands (vernier.h), of a matrix in device memory; vernier_destroy_prepared ends these too. */
VERNIER_C_API vernier_status vernier_cuda_prepare(vernier_handle handle, vernier_type type, vernier_side side,
                                                  vernier_op op, int64_t rows, int64_t columns, const void* X,
                                                  int64_t ldx, vernier_prepared* prepared);
VERNIER_C_API vernier_status vernier_cuda_gemm_prepared_left(vernier_handle handle, vernier_prepared A, vernier_op opb,
                                                             int64_t m, int64_t n, int64_t k, const void* alpha,
                                                             const void* B, int64_t ldb, const void* beta, void* C,
                                                             int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_gemm_prepared_right(vernier_handle handle, vernier_op opa, vernier_prepared B,
                                                              int64_t m, int64_t n, int64_t k, const void* alpha,
                                                              const void* A, int64_t lda, const void* beta, void* C,
                                                              int64_t ldc);
/* A, B and C: arrays of addresses in device memory. */
VERNIER_C_API vernier_status vernier_cuda_gemm_batched(vernier_handle handle, vernier_type type, vernier_op opa,
                                                       vernier_op opb, int64_t m, int64_t n, int64_t k,
                                                       const void* alpha, const void* const* A, int64_t lda,
                                                       const void* const* B, int64_t ldb, const void* beta,
                                                       void* const* C, int64_t ldc, int64_t count);
VERNIER_C_API vernier_status vernier_cuda_gemm_strided_batched(vernier_handle handle, vernier_type type, vernier_op opa,
                                                               vernier_op opb, int64_t m, int64_t n, int64_t k,
                                                               const void* alpha, const void* A, int64_t lda,
                                                               int64_t stride_a, const void* B, int64_t ldb,
                                                               int64_t stride_b, const void* beta, void* C, int64_t ldc,
                                                               int64_t stride_c, int64_t count);

VERNIER_C_API vernier_status vernier_cuda_gemmt(vernier_handle handle, vernier_type type, vernier_uplo uplo,
                                                vernier_op opa, vernier_op opb, int64_t n, int64_t k, const void* alpha,
                                                const void* A, int64_t lda, const void* B, int64_t ldb,
                                                const void* beta, void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_symm(vernier_handle handle, vernier_type type, vernier_side side,
                                               vernier_uplo uplo, int64_t m, int64_t n, const void* alpha,
                                               const void* A, int64_t lda, const void* B, int64_t ldb, const void* beta,
                                               void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_hemm(vernier_handle handle, vernier_type type, vernier_side side,
                                               vernier_uplo uplo, int64_t m, int64_t n, const void* alpha,
                                               const void* A, int64_t lda, const void* B, int64_t ldb, const void* beta,
                                               void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_syrk(vernier_handle handle, vernier_type type, vernier_uplo uplo,
                                               vernier_op op, int64_t n, int64_t k, const void* alpha, const void* A,
                                               int64_t lda, const void* beta, void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_herk(vernier_handle handle, vernier_type type, vernier_uplo uplo,
                                               vernier_op op, int64_t n, int64_t k, const void* alpha, const void* A,
                                               int64_t lda, const void* beta, void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_syr2k(vernier_handle handle, vernier_type type, vernier_uplo uplo,
                                                vernier_op op, int64_t n, int64_t k, const void* alpha, const void* A,
                                                int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                                                int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_her2k(vernier_handle handle, vernier_type type, vernier_uplo uplo,
                                                vernier_op op, int64_t n, int64_t k, const void* alpha, const void* A,
                                                int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                                                int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_syrkx(vernier_handle handle, vernier_type type, vernier_uplo uplo,
                                                vernier_op op, int64_t n, int64_t k, const void* alpha, const void* A,
                                                int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                                                int64_t ldc);
/* beta is real, as for her2k. */
VERNIER_C_API vernier_status vernier_cuda_herkx(vernier_handle handle, vernier_type type, vernier_uplo uplo,
                                                vernier_op op, int64_t n, int64_t k, const void* alpha, const void* A,
                                                int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                                                int64_t ldc);
/* C = alpha op(A) B or alpha B op(A), as cuBLAS has it; C may be B. */
VERNIER_C_API vernier_status vernier_cuda_trmm(vernier_handle handle, vernier_type type, vernier_side side,
                                               vernier_uplo uplo, vernier_op op, vernier_diag diag, int64_t m,
                                               int64_t n, const void* alpha, const void* A, int64_t lda, const void* B,
                                               int64_t ldb, void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_cuda_trsm(vernier_handle handle, vernier_type type, vernier_side side,
                                               vernier_uplo uplo, vernier_op op, vernier_diag diag, int64_t m,
                                               int64_t n, const void* alpha, const void* A, int64_t lda, void* B,
                                               int64_t ldb);

/* What cublasLtMatmul does to a product besides (cuda_epilogue.hpp), of types S and D; copy of all four. Asynchronous
 * on the handle's stream. D = f(D + bias); relu, or its gradient, by a bit for each sign; D = D gelu'(X) by elements;
 * sums of rows, or of columns; Y = X. */
typedef enum vernier_activation VERNIER_C_ENUM {
  VERNIER_ACTIVATION_NONE = 0,
  VERNIER_ACTIVATION_RELU = 1,
  VERNIER_ACTIVATION_GELU = 2
} vernier_activation;
VERNIER_C_API vernier_status vernier_cuda_activate(vernier_handle handle, vernier_type type, vernier_activation f,
                                                   int64_t m, int64_t n, const void* bias, void* D, int64_t ldd,
                                                   void* before, int64_t ld_before);
VERNIER_C_API vernier_status vernier_cuda_relu_with_signs(vernier_handle handle, vernier_type type, int gradient,
                                                          int64_t m, int64_t n, const void* bias, void* D, int64_t ldd,
                                                          void* signs, int64_t ld_signs);
VERNIER_C_API vernier_status vernier_cuda_gelu_gradient(vernier_handle handle, vernier_type type, int64_t m, int64_t n,
                                                        void* D, int64_t ldd, const void* X, int64_t ldx);
VERNIER_C_API vernier_status vernier_cuda_sum_up(vernier_handle handle, vernier_type type, int rows, int64_t m,
                                                 int64_t n, const void* X, int64_t ldx, void* sums);
VERNIER_C_API vernier_status vernier_cuda_copy(vernier_handle handle, vernier_type type, int64_t m, int64_t n,
                                               const void* X, int64_t ldx, void* Y, int64_t ldy);

#ifdef __cplusplus
}
#endif

#endif /* VERNIER_VERNIER_CUDA_H */
