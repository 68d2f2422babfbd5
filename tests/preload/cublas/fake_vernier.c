/* A libvernier without a GPU, with the functions that the cuBLAS preload loads: each says how it was called. It takes
 * products of 512 and more to be faster than cuBLAS, refuses ldc = 777 for the data and ldc = 778 as captured, and
 * leaves the data of ldc = 779 to the native product. Its products want a workspace of 1000 bytes, of 4000
 * where m is 1000 or more, and are planned for the one that the handle has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vernier/vernier_cuda.h>

#include "fake_cublas.h"

struct vernier_context {
  void* stream;
  vernier_pointer_mode mode;
  const char* error;
  size_t workspace_bytes;
  void* cublas;
  int normwise;
};

static vernier_status answer(vernier_handle h, int64_t ldc) {
  h->error = ldc == 777 ? "too wide" : ldc == 778 ? "a stream that is being captured" : "";
  return ldc == 777 ? VERNIER_BOUND_NOT_MET : ldc == 778 ? VERNIER_UNSUPPORTED : VERNIER_SUCCESS;
}

vernier_status vernier_create(vernier_handle* h) {
  *h = calloc(1, sizeof **h);
  return *h != NULL ? VERNIER_SUCCESS : VERNIER_OUT_OF_MEMORY;
}
vernier_status vernier_destroy(vernier_handle h) {
  free(h);
  return VERNIER_SUCCESS;
}
const char* vernier_last_error(vernier_handle h) { return h != NULL ? h->error : "no handle"; }
vernier_status vernier_set_contract(vernier_handle h, const char* contract) {
  h->error = "no such contract";
  h->normwise = strcmp(contract, "fp64-normwise") == 0;
  return strcmp(contract, "fp65") == 0 ? VERNIER_INVALID_ARGUMENT : VERNIER_SUCCESS;
}
vernier_status vernier_cuda_set_engine(vernier_handle h, const char* engine) {
  h->error = "no such engine";
  return strcmp(engine, "abacus") == 0 ? VERNIER_INVALID_ARGUMENT : VERNIER_SUCCESS;
}
vernier_status vernier_get_report(vernier_handle h, vernier_report* report) {
  memset(report, 0, sizeof *report);
  strcpy(report->scheme, "residues");
  strcpy(report->engine, "fake");
  report->moduli = 14;
  report->seconds = 1;
  return h != NULL ? VERNIER_SUCCESS : VERNIER_NOT_INITIALIZED;
}
static size_t wanted(int64_t m) { return m < 1000 ? 1000 : 4000; }

vernier_status vernier_cuda_explain(vernier_handle h, vernier_type type, int64_t m, int64_t n, int64_t k,
                                    vernier_report* plan) {
  vernier_get_report(h, plan);
  if (type == VERNIER_D && (m < 512 || n < 512 || k < 512)) strcpy(plan->scheme, "native");
  if (h->workspace_bytes > 0 && h->workspace_bytes < wanted(m)) strcpy(plan->scheme, "native");
  return VERNIER_SUCCESS;
}
const char* vernier_explain_reason(vernier_handle h) {
  return h->normwise ? "the plan of the other contract" : "the plan of this process";
}
vernier_status vernier_cuda_set_stream(vernier_handle h, void* stream) {
  h->stream = stream;
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_set_cublas(vernier_handle h, void* cublas) {
  h->cublas = cublas;
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_set_pointer_mode(vernier_handle h, vernier_pointer_mode mode) {
  h->mode = mode;
  return VERNIER_SUCCESS;
}

vernier_status vernier_cuda_set_workspace(vernier_handle h, void* data, size_t bytes) {
  h->workspace_bytes = bytes;
  return (data == NULL) == (bytes == 0) ? VERNIER_SUCCESS : VERNIER_INVALID_ARGUMENT;
}
vernier_status vernier_cuda_gemm_workspace(vernier_handle h, vernier_type type, int64_t m, int64_t n, int64_t k,
                                           size_t* bytes) {
  *bytes = type != 0 && m > 0 && n > 0 && k > 0 ? wanted(m) : 0;
  return h != NULL ? VERNIER_SUCCESS : VERNIER_NOT_INITIALIZED;
}

static void say(vernier_handle h, const char* name, vernier_type type) {
  printf("vernier: %s %c stream %d mode %d", name, (char)type, h->stream != NULL, (int)h->mode);
  if (h->workspace_bytes > 0) printf(" workspace %zu", h->workspace_bytes);
  if (h->cublas != NULL && ((const struct fake_handle*)h->cublas)->math_mode != 0) printf(" lent in another mode");
}

vernier_status vernier_cuda_gemm(vernier_handle h, vernier_type type, vernier_op opa, vernier_op opb, int64_t m,
                                 int64_t n, int64_t k, const void* alpha, const void* A, int64_t lda, const void* B,
                                 int64_t ldb, const void* beta, void* C, int64_t ldc) {
  if (answer(h, ldc) != VERNIER_SUCCESS) return answer(h, ldc);
  say(h, "gemm", type);
  printf(" %c %c %d %d %d %d %d %d %d\n", (char)opa, (char)opb, (int)m, (int)n, (int)k, (int)lda, (int)ldb, (int)ldc,
         alpha != NULL && A != NULL && B != NULL && beta != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_gemm_unless_wide(vernier_handle h, vernier_type type, vernier_op opa, vernier_op opb,
                                             int64_t m, int64_t n, int64_t k, const void* alpha, const void* A,
                                             int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                                             int64_t ldc) {
  if (ldc == 779) {
    h->error = "left";
    printf("tried ");
    return VERNIER_BOUND_NOT_MET;
  }
  return vernier_cuda_gemm(h, type, opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
vernier_status vernier_cuda_gemm_batched(vernier_handle h, vernier_type type, vernier_op opa, vernier_op opb, int64_t m,
                                         int64_t n, int64_t k, const void* alpha, const void* const* A, int64_t lda,
                                         const void* const* B, int64_t ldb, const void* beta, void* const* C,
                                         int64_t ldc, int64_t count) {
  say(h, "gemm_batched", type);
  printf(" %c %c %d %d %d %d %d %d %d %d\n", (char)opa, (char)opb, (int)m, (int)n, (int)k, (int)lda, (int)ldb, (int)ldc,
         (int)count, alpha != NULL && A != NULL && B != NULL && beta != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_gemm_strided_batched(vernier_handle h, vernier_type type, vernier_op opa, vernier_op opb,
                                                 int64_t m, int64_t n, int64_t k, const void* alpha, const void* A,
                                                 int64_t lda, int64_t stride_a, const void* B, int64_t ldb,
                                                 int64_t stride_b, const void* beta, void* C, int64_t ldc,
                                                 int64_t stride_c, int64_t count) {
  say(h, h->cublas != NULL ? "gemm_strided_batched" : "no cublas", type);
  printf(" %c %c %d %d %d %d %d %d %d %d %d %d %d\n", (char)opa, (char)opb, (int)m, (int)n, (int)k, (int)lda,
         (int)stride_a, (int)ldb, (int)stride_b, (int)ldc, (int)stride_c, (int)count,
         alpha != NULL && A != NULL && B != NULL && beta != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_trsm(vernier_handle h, vernier_type type, vernier_side side, vernier_uplo uplo,
                                 vernier_op op, vernier_diag diag, int64_t m, int64_t n, const void* alpha,
                                 const void* A, int64_t lda, void* B, int64_t ldb) {
  say(h, "trsm", type);
  printf(" %c %c %c %c %d %d %d %d %d\n", (char)side, (char)uplo, (char)op, (char)diag, (int)m, (int)n, (int)lda,
         (int)ldb, alpha != NULL && A != NULL && B != NULL);
  return VERNIER_SUCCESS;
}

vernier_status vernier_cuda_symm(vernier_handle h, vernier_type type, vernier_side side, vernier_uplo uplo, int64_t m,
                                 int64_t n, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                                 const void* beta, void* C, int64_t ldc) {
  say(h, "symm", type);
  printf(" %c %c %d %d %d %d %d %d\n", (char)side, (char)uplo, (int)m, (int)n, (int)lda, (int)ldb, (int)ldc,
         alpha != NULL && A != NULL && B != NULL && beta != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_hemm(vernier_handle h, vernier_type type, vernier_side side, vernier_uplo uplo, int64_t m,
                                 int64_t n, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                                 const void* beta, void* C, int64_t ldc) {
  say(h, "hemm", type);
  printf(" %c %c %d %d %d %d %d %d\n", (char)side, (char)uplo, (int)m, (int)n, (int)lda, (int)ldb, (int)ldc,
         alpha != NULL && A != NULL && B != NULL && beta != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_syrk(vernier_handle h, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,
                                 int64_t k, const void* alpha, const void* A, int64_t lda, const void* beta, void* C,
                                 int64_t ldc) {
  say(h, "syrk", type);
  printf(" %c %c %d %d %d %d %d\n", (char)uplo, (char)op, (int)n, (int)k, (int)lda, (int)ldc,
         alpha != NULL && A != NULL && beta != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_herk(vernier_handle h, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,
                                 int64_t k, const void* alpha, const void* A, int64_t lda, const void* beta, void* C,
                                 int64_t ldc) {
  say(h, "herk", type);
  printf(" %c %c %d %d %d %d %d\n", (char)uplo, (char)op, (int)n, (int)k, (int)lda, (int)ldc,
         alpha != NULL && A != NULL && beta != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_syr2k(vernier_handle h, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,
                                  int64_t k, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                                  const void* beta, void* C, int64_t ldc) {
  say(h, "syr2k", type);
  printf(" %c %c %d %d %d %d %d %d\n", (char)uplo, (char)op, (int)n, (int)k, (int)lda, (int)ldb, (int)ldc,
         alpha != NULL && A != NULL && B != NULL && beta != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_syrkx(vernier_handle h, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,
                                  int64_t k, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                                  const void* beta, void* C, int64_t ldc) {
  say(h, "syrkx", type);
  printf(" %c %c %d %d %d %d %d %d\n", (char)uplo, (char)op, (int)n, (int)k, (int)lda, (int)ldb, (int)ldc,
         alpha != NULL && A != NULL && B != NULL && beta != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_herkx(vernier_handle h, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,
                                  int64_t k, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                                  const void* beta, void* C, int64_t ldc) {
  say(h, "herkx", type);
  printf(" %c %c %d %d %d %d %d %d\n", (char)uplo, (char)op, (int)n, (int)k, (int)lda, (int)ldb, (int)ldc,
         alpha != NULL && A != NULL && B != NULL && beta != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_her2k(vernier_handle h, vernier_type type, vernier_uplo uplo, vernier_op op, int64_t n,
                                  int64_t k, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                                  const void* beta, void* C, int64_t ldc) {
  say(h, "her2k", type);
  printf(" %c %c %d %d %d %d %d %d\n", (char)uplo, (char)op, (int)n, (int)k, (int)lda, (int)ldb, (int)ldc,
         alpha != NULL && A != NULL && B != NULL && beta != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_trmm(vernier_handle h, vernier_type type, vernier_side side, vernier_uplo uplo,
                                 vernier_op op, vernier_diag diag, int64_t m, int64_t n, const void* alpha,
                                 const void* A, int64_t lda, const void* B, int64_t ldb, void* C, int64_t ldc) {
  say(h, "trmm", type);
  printf(" %c %c %c %c %d %d %d %d %d %d\n", (char)side, (char)uplo, (char)op, (char)diag, (int)m, (int)n, (int)lda,
         (int)ldb, (int)ldc, alpha != NULL && A != NULL && B != NULL && C != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_activate(vernier_handle h, vernier_type type, vernier_activation f, int64_t m, int64_t n,
                                     const void* bias, void* D, int64_t ldd, void* before, int64_t ld_before) {
  say(h, "activate", type);
  printf(" %d %d %d %d %d %d %d %d\n", (int)f, (int)m, (int)n, bias != NULL, (int)ldd, before != NULL, (int)ld_before,
         D != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_relu_with_signs(vernier_handle h, vernier_type type, int gradient, int64_t m, int64_t n,
                                            const void* bias, void* D, int64_t ldd, void* signs, int64_t ld_signs) {
  say(h, "relu_with_signs", type);
  printf(" %d %d %d %d %d %d %d\n", gradient, (int)m, (int)n, bias != NULL, (int)ldd, signs != NULL, (int)ld_signs);
  return D != NULL ? VERNIER_SUCCESS : VERNIER_INVALID_ARGUMENT;
}
vernier_status vernier_cuda_gelu_gradient(vernier_handle h, vernier_type type, int64_t m, int64_t n, void* D,
                                          int64_t ldd, const void* X, int64_t ldx) {
  say(h, "gelu_gradient", type);
  printf(" %d %d %d %d %d\n", (int)m, (int)n, (int)ldd, (int)ldx, D != NULL && X != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_sum_up(vernier_handle h, vernier_type type, int rows, int64_t m, int64_t n, const void* X,
                                   int64_t ldx, void* sums) {
  say(h, "sum_up", type);
  printf(" %d %d %d %d %d\n", rows, (int)m, (int)n, (int)ldx, X != NULL && sums != NULL);
  return VERNIER_SUCCESS;
}
vernier_status vernier_cuda_copy(vernier_handle h, vernier_type type, int64_t m, int64_t n, const void* X, int64_t ldx,
                                 void* Y, int64_t ldy) {
  say(h, "copy", type);
  printf(" %d %d %d %d %d\n", (int)m, (int)n, (int)ldx, (int)ldy, X != NULL && Y != NULL && X != Y);
  return VERNIER_SUCCESS;
}
