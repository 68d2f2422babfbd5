/* An extension module of a wheel: linked to the BLAS that the wheel bundles, by its name there. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void scipy_cblas_dgemm64_(int, int, int, int64_t, int64_t, int64_t, double, const double*, int64_t, const double*,
                          int64_t, double, double*, int64_t);
int run(const char* what);

int run(const char* what) {
  const double tiny = strcmp(what, "wide") == 0 ? 1e-300 : 1; /* too wide for residues */
  const double a[] = {1, 2 * tiny, 3, 4}, b[] = {5, 6 * tiny, 7 / tiny, 8};
  double c[4] = {0, 0, 0, 0};
  scipy_cblas_dgemm64_(101, 111, 111, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
  printf("%s: %g %g %g %g\n", what, c[0], c[1], c[2], c[3]);
  return 0;
}
