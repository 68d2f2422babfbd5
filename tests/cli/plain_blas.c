/* A BLAS of four functions, with integers of 64 bits: C = op(A) op(B), columns first, alpha = 1 and beta = 0. */
#include <complex.h>
#include <stdint.h>

enum { NONE = 111, TRANSPOSE = 112, CONJUGATE = 113 };

#define GEMM(name, type, factor, conjugate)                                                                         \
  void name(int order, int opa, int opb, int64_t m, int64_t n, int64_t k, factor alpha, const type* a, int64_t lda, \
            const type* b, int64_t ldb, factor beta, type* c, int64_t ldc) {                                        \
    (void)order, (void)alpha, (void)beta;                                                                           \
    for (int64_t j = 0; j < n; ++j)                                                                                 \
      for (int64_t i = 0; i < m; ++i) {                                                                             \
        type sum = 0;                                                                                               \
        for (int64_t l = 0; l < k; ++l) {                                                                           \
          const type x = opa == NONE ? a[i + l * lda] : a[l + i * lda],                                             \
                     y = opb == NONE ? b[l + j * ldb] : b[j + l * ldb];                                             \
          sum += (opa == CONJUGATE ? conjugate(x) : x) * (opb == CONJUGATE ? conjugate(y) : y);                     \
        }                                                                                                           \
        c[i + j * ldc] = sum;                                                                                       \
      }                                                                                                             \
  }

GEMM(cblas_sgemm64_, float, float, )
GEMM(cblas_dgemm64_, double, double, )
GEMM(cblas_cgemm64_, float complex, const void*, conjf)
GEMM(cblas_zgemm64_, double complex, const void*, conj)
