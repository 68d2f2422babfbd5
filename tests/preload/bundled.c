/* A BLAS as wheels bundle it and as Julia has it: renamed, with integers of 64 bits, by plain loops. It says so where
 * it multiplies. */
#include <complex.h>
#include <stdint.h>
#include <stdio.h>

void dgemm_64_(const char* opa, const char* opb, const int64_t* m, const int64_t* n, const int64_t* k,
               const double* alpha, const double* a, const int64_t* lda, const double* b, const int64_t* ldb,
               const double* beta, double* c, const int64_t* ldc);
void scipy_cblas_dgemm64_(int order, int opa, int opb, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                          int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc);
int64_t isamax_64_(const int64_t* n, const float* x, const int64_t* step);
float sdot_64_(const int64_t* n, const float* x, const int64_t* step_x, const float* y, const int64_t* step_y);
double ddot_64_(const int64_t* n, const double* x, const int64_t* step_x, const double* y, const int64_t* step_y);
double complex zdotc_64_(const int64_t* n, const double complex* x, const int64_t* step_x, const double complex* y,
                         const int64_t* step_y);
float complex cdotc_64_(const int64_t* n, const float complex* x, const int64_t* step_x, const float complex* y,
                        const int64_t* step_y);

static void multiply(int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda, const double* b,
                     int64_t ldb, double beta, double* c, int64_t ldc) {
  int64_t i, j, l;
  puts("bundled: dgemm");
  for (j = 0; j < n; ++j)
    for (i = 0; i < m; ++i) {
      double sum = 0;
      for (l = 0; l < k; ++l) sum += a[i + l * lda] * b[l + j * ldb];
      c[i + j * ldc] = alpha * sum + (beta == 0 ? 0 : beta * c[i + j * ldc]);
    }
}

void dgemm_64_(const char* opa, const char* opb, const int64_t* m, const int64_t* n, const int64_t* k,
               const double* alpha, const double* a, const int64_t* lda, const double* b, const int64_t* ldb,
               const double* beta, double* c, const int64_t* ldc) {
  if (*opa == 'N' && *opb == 'N') multiply(*m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}

/* A product by rows is the transpose of one by columns. */
void scipy_cblas_dgemm64_(int order, int opa, int opb, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                          int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  if (opa != 111 || opb != 111) return;
  if (order == 101) multiply(n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
  if (order == 102) multiply(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

int64_t isamax_64_(const int64_t* n, const float* x, const int64_t* step) {
  int64_t best = 0, i;
  puts("bundled: isamax");
  for (i = 1; i < *n; ++i)
    if (x[i * *step] > x[best * *step]) best = i;
  return *n > 0 ? best + 1 : 0;
}
float sdot_64_(const int64_t* n, const float* x, const int64_t* step_x, const float* y, const int64_t* step_y) {
  float sum = 0;
  int64_t i;
  for (i = 0; i < *n; ++i) sum += x[i * *step_x] * y[i * *step_y];
  return sum;
}
double ddot_64_(const int64_t* n, const double* x, const int64_t* step_x, const double* y, const int64_t* step_y) {
  double sum = 0;
  int64_t i;
  for (i = 0; i < *n; ++i) sum += x[i * *step_x] * y[i * *step_y];
  return sum;
}
double complex zdotc_64_(const int64_t* n, const double complex* x, const int64_t* step_x, const double complex* y,
                         const int64_t* step_y) {
  double complex sum = 0;
  int64_t i;
  for (i = 0; i < *n; ++i) sum += conj(x[i * *step_x]) * y[i * *step_y];
  return sum;
}
float complex cdotc_64_(const int64_t* n, const float complex* x, const int64_t* step_x, const float complex* y,
                        const int64_t* step_y) {
  float complex sum = 0;
  int64_t i;
  for (i = 0; i < *n; ++i) sum += conjf(x[i * *step_x]) * y[i * *step_y];
  return sum;
}
