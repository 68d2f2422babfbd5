/* A BLAS of one function, by plain loops, for programs that load it and close it again. */
extern int closable;
int closable = 1;

void dgemm_(const char* opa, const char* opb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);

void dgemm_(const char* opa, const char* opb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc) {
  int i, j, l;
  if ((*opa != 'N' && *opa != 'n') || (*opb != 'N' && *opb != 'n')) return;
  for (j = 0; j < *n; ++j)
    for (i = 0; i < *m; ++i) {
      double sum = 0;
      for (l = 0; l < *k; ++l) sum += a[i + l * *lda] * b[l + j * *ldb];
      c[i + j * *ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * *ldc]);
    }
}
