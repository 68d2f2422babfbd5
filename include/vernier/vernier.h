/* Vernier from C: matrix products of stated accuracy out of low-precision matrix engines.
 *
 *     vernier_handle h;
 *     if (vernier_create(&h) != VERNIER_SUCCESS) ...
 *     const double one = 1, zero = 0;
 *     if (vernier_dgemm(h, VERNIER_OP_N, VERNIER_OP_N, m, n, k, &one, A, lda, B, ldb, &zero, C, ldc))
 *       fprintf(stderr, "%s\n", vernier_last_error(h));
 *     vernier_destroy(h);
 *
 * What every routine computes, promises and checks stands in vernier.hpp and level3.hpp, whose names these are. All
 * matrices are column-major, all sizes 64 bits wide. A handle holds settings, the last error and the last report; one
 * thread uses it at a time, and threads with handles of their own do not meet. */
#ifndef VERNIER_VERNIER_H
#define VERNIER_VERNIER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define VERNIER_C_API __attribute__((visibility("default")))
#else
#define VERNIER_C_API
#endif

/* A C++ enumeration, too, can hold whatever a C program passes: functions refuse what they do not know. */
#ifdef __cplusplus
#define VERNIER_C_ENUM : unsigned int
extern "C" {
#else
#define VERNIER_C_ENUM
#endif

/* Numbered like those of cuBLAS, where it has one of that meaning. */
typedef enum vernier_status VERNIER_C_ENUM {
  VERNIER_SUCCESS = 0,
  VERNIER_NOT_INITIALIZED = 1, /* the handle is null */
  VERNIER_OUT_OF_MEMORY = 3,
  VERNIER_INVALID_ARGUMENT = 7,
  VERNIER_DEVICE_ERROR = 13,
  VERNIER_INTERNAL_ERROR = 14,
  VERNIER_UNSUPPORTED = 15,
  VERNIER_BOUND_NOT_MET = 100
} vernier_status;

/* Enumerators that are letters are the letters of the BLAS. */
typedef enum vernier_type VERNIER_C_ENUM {
  VERNIER_S = 'S',
  VERNIER_D = 'D',
  VERNIER_C = 'C',
  VERNIER_Z = 'Z'
} vernier_type;
typedef enum vernier_op VERNIER_C_ENUM { VERNIER_OP_N = 'N', VERNIER_OP_T = 'T', VERNIER_OP_C = 'C' } vernier_op;
typedef enum vernier_side VERNIER_C_ENUM { VERNIER_LEFT = 'L', VERNIER_RIGHT = 'R' } vernier_side;
typedef enum vernier_uplo VERNIER_C_ENUM { VERNIER_LOWER = 'L', VERNIER_UPPER = 'U' } vernier_uplo;
typedef enum vernier_diag VERNIER_C_ENUM { VERNIER_NON_UNIT = 'N', VERNIER_UNIT = 'U' } vernier_diag;

typedef struct vernier_context* vernier_handle;

VERNIER_C_API const char* vernier_version(void);
VERNIER_C_API const char* vernier_status_name(vernier_status status);

VERNIER_C_API vernier_status vernier_create(vernier_handle* handle);
VERNIER_C_API vernier_status vernier_destroy(vernier_handle handle); /* null is allowed */

/* The message of the last call on this handle that failed, "" if none did. With a null handle: of the last failure on
 * this thread that had no handle. Valid until the next call. */
VERNIER_C_API const char* vernier_last_error(vernier_handle handle);

/* ---- settings, kept until changed; what cannot be is refused when it is set -----------------------------------------
 */

/* "fp32", "fp64", "fp64-normwise", "exact", "bits(60)", "normwise(60)", each optionally with "+reproducible" and
 * "+no-fallback"; "exact" also with "+down", "+up" or "+toward-zero". Null:
 * fp32 for single, fp64 for double precision. */
VERNIER_C_API vernier_status vernier_set_contract(vernier_handle handle, const char* contract);
/* The contract of the next product alone; null takes it back. */
VERNIER_C_API vernier_status vernier_set_next_contract(vernier_handle handle, const char* contract);
/* A name that `vernier info` lists, or "native"; null or "": the library chooses. "amx_bf16" serves single precision
 * under fp32 alone: other products fail with it. */
VERNIER_C_API vernier_status vernier_set_engine(vernier_handle handle, const char* engine);
/* Where products of matrices of the host are made (offload.hpp): "cpu", "cuda" or "auto"; null or "": as VERNIER_DEVICE
 * says, or on the CPU. */
VERNIER_C_API vernier_status vernier_set_device(vernier_handle handle, const char* device);
VERNIER_C_API vernier_status vernier_set_threads(vernier_handle handle, int threads);          /* 0: OpenMP's choice */
VERNIER_C_API vernier_status vernier_set_workspace_limit(vernier_handle handle, size_t bytes); /* 0: the default */
VERNIER_C_API vernier_status vernier_set_workspace(vernier_handle handle, void* data, size_t bytes); /* null, 0: none */

/* Bytes with which that product allocates nothing and runs at full speed. */
VERNIER_C_API vernier_status vernier_gemm_workspace(vernier_handle handle, vernier_type type, int64_t m, int64_t n,
                                                    int64_t k, size_t* bytes);

/* ---- what was done --------------------------------------------------------------------------------------------------
 */

typedef struct vernier_report {
  char scheme[16]; /* "residues", "bf16x6" (on CPUs), "split" (on GPUs), "native" or "none" */
  char engine[32]; /* cut to fit */
  int64_t m, n, k; /* of the product, or of the largest one that the routine was made of */
  int moduli;      /* int8 products, 0 if there were none */
  int threads;
  int fallback;       /* 1: the data were too wide, the native product was taken */
  int span_a, span_b; /* widest exponent span of a row of op(A), a column of op(B) */
  double log2_bound;  /* of the promise */
  double seconds;
} vernier_report;

/* Of the last product on this handle that succeeded; INVALID_ARGUMENT if there was none. */
VERNIER_C_API vernier_status vernier_get_report(vernier_handle handle, vernier_report* report);
/* The same in full, "" if there was none; valid until the next call on the handle. */
VERNIER_C_API const char* vernier_report_text(vernier_handle handle);
VERNIER_C_API const char* vernier_report_json(vernier_handle handle);

/* What gemm would do for data of ordinary exponents; reads no matrix. */
VERNIER_C_API vernier_status vernier_explain(vernier_handle handle, vernier_type type, int64_t m, int64_t n, int64_t k,
                                             vernier_report* plan);
/* Why the last plan of vernier_explain or vernier_cuda_explain on this handle is as it is, "" if there was none; valid
 * until the next call on the handle. */
VERNIER_C_API const char* vernier_explain_reason(vernier_handle handle);

/* Gives the workspaces that are kept for the next call back to the system. */
VERNIER_C_API void vernier_release_workspace(void);

/* ---- products -------------------------------------------------------------------------------------------------------
 */

/* C = alpha op(A) op(B) + beta C. Factors and matrices are of the type named; complex numbers are pairs of reals, as
 * C's own complex types. */
VERNIER_C_API vernier_status vernier_gemm(vernier_handle handle, vernier_type type, vernier_op opa, vernier_op opb,
                                          int64_t m, int64_t n, int64_t k, const void* alpha, const void* A,
                                          int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                                          int64_t ldc);
VERNIER_C_API vernier_status vernier_sgemm(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                           int64_t k, const float* alpha, const float* A, int64_t lda, const float* B,
                                           int64_t ldb, const float* beta, float* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_dgemm(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                           int64_t k, const double* alpha, const double* A, int64_t lda,
                                           const double* B, int64_t ldb, const double* beta, double* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_cgemm(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                           int64_t k, const void* alpha, const void* A, int64_t lda, const void* B,
                                           int64_t ldb, const void* beta, void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_zgemm(vernier_handle handle, vernier_op opa, vernier_op opb, int64_t m, int64_t n,
                                           int64_t k, const void* alpha, const void* A, int64_t lda, const void* B,
                                           int64_t ldb, const void* beta, void* C, int64_t ldc);

/* Prepared operands, as prepared.hpp has them: op(X) of rows x columns in single or double precision, by the handle's
 * settings. The product's contract has to be the same. Many threads may use one, each with a handle of its own; it is
 * destroyed when no call uses it any more. */
typedef struct vernier_prepared_operand* vernier_prepared;
VERNIER_C_API vernier_status vernier_prepare(vernier_handle handle, vernier_type type, vernier_side side, vernier_op op,
                                             int64_t rows, int64_t columns, const void* X, int64_t ldx,
                                             vernier_prepared* prepared);
VERNIER_C_API vernier_status vernier_destroy_prepared(vernier_prepared prepared); /* null is allowed */
/* C = alpha A op(B) + beta C, and C = alpha op(A) B + beta C, of the operand's type. */
VERNIER_C_API vernier_status vernier_gemm_prepared_left(vernier_handle handle, vernier_prepared A, vernier_op opb,
                                                        int64_t m, int64_t n, int64_t k, const void* alpha,
                                                        const void* B, int64_t ldb, const void* beta, void* C,
                                                        int64_t ldc);
VERNIER_C_API vernier_status vernier_gemm_prepared_right(vernier_handle handle, vernier_op opa, vernier_prepared B,
                                                         int64_t m, int64_t n, int64_t k, const void* alpha,
                                                         const void* A, int64_t lda, const void* beta, void* C,
                                                         int64_t ldc);

/* Level 3, as level3.hpp has it. The factors of herk and the beta of her2k are of the real type. */
VERNIER_C_API vernier_status vernier_symm(vernier_handle handle, vernier_type type, vernier_side side,
                                          vernier_uplo uplo, int64_t m, int64_t n, const void* alpha, const void* A,
                                          int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                                          int64_t ldc);
VERNIER_C_API vernier_status vernier_hemm(vernier_handle handle, vernier_type type, vernier_side side,
                                          vernier_uplo uplo, int64_t m, int64_t n, const void* alpha, const void* A,
                                          int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                                          int64_t ldc);
VERNIER_C_API vernier_status vernier_gemmt(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op opa,
                                           vernier_op opb, int64_t n, int64_t k, const void* alpha, const void* A,
                                           int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                                           int64_t ldc);
VERNIER_C_API vernier_status vernier_syrk(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op,
                                          int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda,
                                          const void* beta, void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_herk(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op,
                                          int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda,
                                          const void* beta, void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_syr2k(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op,
                                           int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda,
                                           const void* B, int64_t ldb, const void* beta, void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_her2k(vernier_handle handle, vernier_type type, vernier_uplo uplo, vernier_op op,
                                           int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda,
                                           const void* B, int64_t ldb, const void* beta, void* C, int64_t ldc);
VERNIER_C_API vernier_status vernier_trmm(vernier_handle handle, vernier_type type, vernier_side side,
                                          vernier_uplo uplo, vernier_op op, vernier_diag diag, int64_t m, int64_t n,
                                          const void* alpha, const void* A, int64_t lda, void* B, int64_t ldb);
VERNIER_C_API vernier_status vernier_trsm(vernier_handle handle, vernier_type type, vernier_side side,
                                          vernier_uplo uplo, vernier_op op, vernier_diag diag, int64_t m, int64_t n,
                                          const void* alpha, const void* A, int64_t lda, void* B, int64_t ldb);

/* Batches; arrays of pointers, or strides in elements. Where a product fails for its data, or for memory, its own C is
 * untouched, and others may be done. */
VERNIER_C_API vernier_status vernier_gemm_batched(vernier_handle handle, vernier_type type, vernier_op opa,
                                                  vernier_op opb, int64_t m, int64_t n, int64_t k, const void* alpha,
                                                  const void* const* A, int64_t lda, const void* const* B, int64_t ldb,
                                                  const void* beta, void* const* C, int64_t ldc, int64_t count);
VERNIER_C_API vernier_status vernier_gemm_strided_batched(vernier_handle handle, vernier_type type, vernier_op opa,
                                                          vernier_op opb, int64_t m, int64_t n, int64_t k,
                                                          const void* alpha, const void* A, int64_t lda,
                                                          int64_t stride_a, const void* B, int64_t ldb,
                                                          int64_t stride_b, const void* beta, void* C, int64_t ldc,
                                                          int64_t stride_c, int64_t count);

#ifdef __cplusplus
}
#endif

#endif /* VERNIER_VERNIER_H */
