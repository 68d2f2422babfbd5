/* A cuBLAS without a GPU: each function says how it was called, and returns a status of its own. A handle that another
 * version has made ends the program. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cublas.h"

enum { called = VERSION == 13 ? 42 : VERSION };

static struct fake_handle* own(void* handle) {
  struct fake_handle* h = handle;
  if (h == NULL || h->math_mode / 256 == 0 || h->math_mode / 256 == VERSION) return h;
  printf("cublas %d: a handle of cublas %d\n", VERSION, h->math_mode / 256);
  _Exit(1);
}

int cublasCreate_v2(void** handle) {
  struct fake_handle* h = calloc(1, sizeof *h);
  if (h != NULL) h->math_mode = 256 * VERSION;
  *handle = h;
  return h != NULL ? 0 : 3;
}
int cublasLtCreate(void** handle) { return cublasCreate_v2(handle); }
int cublasLtDestroy(void* handle) {
  free(own(handle));
  return 0;
}

int cublasGetStream_v2(void* handle, void** stream) {
  *stream = own(handle)->stream;
  return 0;
}
int cublasGetPointerMode_v2(void* handle, int* mode) {
  *mode = own(handle)->pointer_mode;
  return 0;
}
int cublasGetMathMode(void* handle, int* mode) {
  *mode = own(handle)->math_mode % 256;
  return 0;
}

int cublasSgemm_v2(void* handle, int opa, int opb, int m, int n, int k, const float* alpha, const float* a, int lda,
                   const float* b, int ldb, const float* beta, float* c, int ldc) {
  (void)handle, (void)opa, (void)opb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b, (void)ldb;
  (void)beta, (void)c;
  printf("cublas: Sgemm %d\n", ldc);
  return 0;
}
int cublasDgemm_v2(void* handle, int opa, int opb, int m, int n, int k, const double* alpha, const double* a, int lda,
                   const double* b, int ldb, const double* beta, double* c, int ldc) {
  printf("cublas: Dgemm %d %d %d %d %d %g %p %d %p %d %g %p %d\n", opa, opb, m, n, k, *alpha, (const void*)a, lda,
         (const void*)b, ldb, *beta, (void*)c, ldc);
  return own(handle) != NULL ? called : 1;
}
int cublasDgemm_v2_64(void* handle, int opa, int opb, int64_t m, int64_t n, int64_t k, const double* alpha,
                      const double* a, int64_t lda, const double* b, int64_t ldb, const double* beta, double* c,
                      int64_t ldc) {
  printf("cublas: Dgemm_64 %d %d %lld %lld %lld %g %lld %lld %g %lld\n", opa, opb, (long long)m, (long long)n,
         (long long)k, *alpha, (long long)lda, (long long)ldb, *beta, (long long)ldc);
  return handle != NULL && a != NULL && b != NULL && c != NULL ? called : 1;
}
int cublasDgemmStridedBatched(void* handle, int opa, int opb, int m, int n, int k, const double* alpha, const double* a,
                              int lda, long long stride_a, const double* b, int ldb, long long stride_b,
                              const double* beta, double* c, int ldc, long long stride_c, int count) {
  printf("cublas: DgemmStridedBatched %d %d %d %d %d %g %d %lld %d %lld %g %d %lld %d\n", opa, opb, m, n, k, *alpha,
         lda, stride_a, ldb, stride_b, *beta, ldc, stride_c, count);
  return handle != NULL && a != NULL && b != NULL && c != NULL ? called : 1;
}
int cublasGemmEx(void* handle, int opa, int opb, int m, int n, int k, const void* alpha, const void* a, int type_a,
                 int lda, const void* b, int type_b, int ldb, const void* beta, void* c, int type_c, int ldc,
                 int compute, int algorithm) {
  printf("cublas: GemmEx %d %d %d %d %d %d %d %d %d %d %d %d %d\n", opa, opb, m, n, k, type_a, lda, type_b, ldb, type_c,
         ldc, compute, algorithm);
  return handle != NULL && a != NULL && b != NULL && c != NULL && alpha != NULL && beta != NULL ? called : 1;
}
int cublasDtrsm_v2(void* handle, int side, int uplo, int op, int diag, int m, int n, const double* alpha,
                   const double* a, int lda, double* b, int ldb) {
  printf("cublas: Dtrsm %d %d %d %d %d %d %g %d %d\n", side, uplo, op, diag, m, n, *alpha, lda, ldb);
  return handle != NULL && a != NULL && b != NULL ? called : 1;
}
/* Made of a product, which must not be taken over once this call was passed on. */
int cublasDsyrk_v2(void* handle, int uplo, int op, int n, int k, const double* alpha, const double* a, int lda,
                   const double* beta, double* c, int ldc) {
  printf("cublas: Dsyrk %d %d %d %d\n", uplo, op, n, k);
  return cublasDgemm_v2(handle, 0, 1, n, n, k, alpha, a, lda, a, lda, beta, c, ldc);
}

int cublasDsyrkx(void* handle, int uplo, int op, int n, int k, const double* alpha, const double* a, int lda,
                 const double* b, int ldb, const double* beta, double* c, int ldc) {
  printf("cublas: Dsyrkx %d %d %d %d %g %d %d %g %d\n", uplo, op, n, k, *alpha, lda, ldb, *beta, ldc);
  return handle != NULL && a != NULL && b != NULL && c != NULL ? called : 1;
}
int cublasZherkx(void* handle, int uplo, int op, int n, int k, const void* alpha, const void* a, int lda, const void* b,
                 int ldb, const double* beta, void* c, int ldc) {
  printf("cublas: Zherkx %d %d %d %d %d %d %g %d\n", uplo, op, n, k, lda, ldb, *beta, ldc);
  return handle != NULL && alpha != NULL && a != NULL && b != NULL && c != NULL ? called : 1;
}
int cublasCsyrkEx(void* handle, int uplo, int op, int n, int k, const void* alpha, const void* a, int type_a, int lda,
                  const void* beta, void* c, int type_c, int ldc) {
  printf("cublas: CsyrkEx %d %d %d %d %d %d %d %d\n", uplo, op, n, k, type_a, lda, type_c, ldc);
  return handle != NULL && alpha != NULL && a != NULL && beta != NULL && c != NULL ? called : 1;
}
int cublasDtrsmBatched(void* handle, int side, int uplo, int op, int diag, int m, int n, const double* alpha,
                       const double* const* a, int lda, double* const* b, int ldb, int count) {
  printf("cublas: DtrsmBatched %d %d %d %d %d %d %g %d %d %d\n", side, uplo, op, diag, m, n, *alpha, lda, ldb, count);
  return handle != NULL && a != NULL && b != NULL ? called : 1;
}
int cublasHgemm(void* handle, int opa, int opb, int m, int n, int k, const void* alpha, const void* a, int lda,
                const void* b, int ldb, const void* beta, void* c, int ldc) {
  printf("cublas: Hgemm %d %d %d %d %d %d %d %d\n", opa, opb, m, n, k, lda, ldb, ldc);
  return handle != NULL && alpha != NULL && a != NULL && b != NULL && beta != NULL && c != NULL ? called : 1;
}
int cublasDgemmGroupedBatched(void* handle, const int* opa, const int* opb, const int* m, const int* n, const int* k,
                              const double* alpha, const double* const* a, const int* lda, const double* const* b,
                              const int* ldb, const double* beta, double* const* c, const int* ldc, int groups,
                              const int* sizes) {
  printf("cublas: DgemmGroupedBatched %d %d %d %d %d %g %d %d %g %d %d %d\n", opa[1], opb[1], m[1], n[1], k[1],
         alpha[1], lda[1], ldb[1], beta[1], ldc[1], groups, sizes[1]);
  return handle != NULL && a != NULL && b != NULL && c != NULL ? called : 1;
}
int cublasXtDgemm(void* handle, int opa, int opb, size_t m, size_t n, size_t k, const double* alpha, const double* a,
                  size_t lda, const double* b, size_t ldb, const double* beta, double* c, size_t ldc) {
  printf("cublas: XtDgemm %d %d %zu %zu %zu %g %zu %zu %g %zu\n", opa, opb, m, n, k, *alpha, lda, ldb, *beta, ldc);
  return handle != NULL && a != NULL && b != NULL && c != NULL ? called : 1;
}

/* The first interface: no handle, no status. */
void cublasDgemm(char opa, char opb, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
                 int ldb, double beta, double* c, int ldc) {
  printf("cublas: first Dgemm %c %c %d %d %d %g %d %d %g %d %d\n", opa, opb, m, n, k, alpha, lda, ldb, beta, ldc,
         a != NULL && b != NULL && c != NULL);
}
void cublasZgemm(char opa, char opb, int m, int n, int k, struct fake_complex alpha, const void* a, int lda,
                 const void* b, int ldb, struct fake_complex beta, void* c, int ldc) {
  printf("cublas: first Zgemm %c %c %d %d %d %g %g %d %d %g %g %d %d\n", opa, opb, m, n, k, alpha.re, alpha.im, lda,
         ldb, beta.re, beta.im, ldc, a != NULL && b != NULL && c != NULL);
}
void cublasZtrsm(char side, char uplo, char op, char diag, int m, int n, struct fake_complex alpha, const void* a,
                 int lda, void* b, int ldb) {
  printf("cublas: first Ztrsm %c %c %c %c %d %d %g %g %d %d %d\n", side, uplo, op, diag, m, n, alpha.re, alpha.im, lda,
         ldb, a != NULL && b != NULL);
}
int cublasSetKernelStream(void* stream) {
  printf("cublas: SetKernelStream %d\n", stream != NULL);
  return called;
}

int cublasSetWorkspace_v2(void* handle, void* data, size_t bytes) {
  printf("cublas: SetWorkspace %d %zu\n", data != NULL, bytes);
  return own(handle) != NULL ? 0 : 1;
}
int cublasSetStream_v2(void* handle, void* stream) {
  own(handle)->stream = stream;
  return 0;
}
int cublasDestroy_v2(void* handle) {
  if (own(handle) != NULL && own(handle)->math_mode >= 256) free(handle);
  return handle != NULL ? 0 : 1;
}

int fake_questions = 0;
int cublasLtMatrixLayoutGetAttribute(void* layout, int attribute, void* value, size_t size, size_t* written) {
  const struct fake_layout* l = layout;
  const uint32_t type = (uint32_t)l->type;
  const uint64_t rows = (uint64_t)l->rows, columns = (uint64_t)l->columns;
  const int64_t zero = 0;
  ++fake_questions;
  const void* from = attribute == 0   ? (const void*)&type
                     : attribute == 1 ? (const void*)&l->order
                     : attribute == 2 ? (const void*)&rows
                     : attribute == 3 ? (const void*)&columns
                     : attribute == 4 ? (const void*)&l->ld
                     : attribute == 5 ? (const void*)&l->count
                     : attribute == 6 ? (const void*)&l->stride
                                      : (const void*)&zero;
  memcpy(value, from, size);
  *written = size;
  return 0;
}
int cublasLtMatmulDescGetAttribute(void* description, int attribute, void* value, size_t size, size_t* written) {
  const struct fake_product* p = description;
  const int64_t zero = 0;
  const int full = 2, like_the_result = -1;
  ++fake_questions;
  const void* from = attribute == 0                       ? (const void*)&p->compute_type
                     : attribute == 1                     ? (const void*)&p->scale_type
                     : attribute == 3                     ? (const void*)&p->op_a
                     : attribute == 6                     ? (const void*)&full
                     : attribute == 7                     ? (const void*)&p->epilogue
                     : attribute == 8                     ? (const void*)&p->bias
                     : attribute == 11                    ? (const void*)&p->auxiliary
                     : attribute == 12                    ? (const void*)&p->ld_auxiliary
                     : attribute == 22 || attribute == 26 ? (const void*)&like_the_result
                                                          : (const void*)&zero;
  memcpy(value, from, size);
  *written = size;
  return 0;
}
int cublasLtMatmul(void* handle, void* description, const void* alpha, const void* a, void* a_layout, const void* b,
                   void* b_layout, const void* beta, const void* c, void* c_layout, void* d, void* d_layout,
                   const void* algorithm, void* workspace, size_t bytes, void* stream) {
  printf("cublas: LtMatmul %d %zu\n", ((struct fake_product*)description)->epilogue, bytes);
  return own(handle) != NULL && alpha != NULL && a != NULL && a_layout != NULL && b != NULL && b_layout != NULL &&
                 beta != NULL && c != NULL && c_layout != NULL && d != NULL && d_layout != NULL && algorithm == NULL &&
                 (workspace == NULL) == (bytes == 0) && stream != NULL
             ? called
             : 1;
}
