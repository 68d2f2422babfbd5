/* As libblastrampoline, Julia's switch between BLAS libraries: it exports the names, looks them up by hand in the
 * library that it is told, and takes one only if its probes say which kind it is. What its own names
 * are bound to, it takes for itself and forwards nothing to. */
#define _GNU_SOURCE /* RTLD_DEEPBIND */
#include <complex.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef void (*dgemm_t)(const char*, const char*, const int64_t*, const int64_t*, const int64_t*, const double*,
                        const double*, const int64_t*, const double*, const int64_t*, const double*, double*,
                        const int64_t*);
int lbt_forward(const char* path);
void dgemm_64_(const char*, const char*, const int64_t*, const int64_t*, const int64_t*, const double*, const double*,
               const int64_t*, const double*, const int64_t*, const double*, double*, const int64_t*);

static dgemm_t forward;
static dgemm_t self = dgemm_64_;

void dgemm_64_(const char* opa, const char* opb, const int64_t* m, const int64_t* n, const int64_t* k,
               const double* alpha, const double* a, const int64_t* lda, const double* b, const int64_t* ldb,
               const double* beta, double* c, const int64_t* ldc) {
  forward(opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* How many of its names were found; 0 where a probe fails. */
int lbt_forward(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  int64_t (*isamax)(const int64_t*, const float*, const int64_t*) = NULL;
  float (*sdot)(const int64_t*, const float*, const int64_t*, const float*, const int64_t*) = NULL;
  double complex (*zdotc)(const int64_t*, const double complex*, const int64_t*, const double complex*,
                          const int64_t*) = NULL;
  float complex (*cdotc)(const int64_t*, const float complex*, const int64_t*, const float complex*, const int64_t*) =
      NULL;
  const int64_t negative_or_3 = (int64_t)0xffffffff00000003, one = 1, zero = 0, two = 2;
  const float x[] = {1, 2, 1}, half = 0.5F;
  const double complex y[] = {1 + 2 * I, 3 - I};
  const float complex z[] = {1 + 2 * I, 3 - I};
  void* found;
  if (library == NULL) return 0;
  *(void**)&isamax = dlsym(library, "isamax_64_");
  *(void**)&sdot = dlsym(library, "sdot_64_");
  *(void**)&zdotc = dlsym(library, "zdotc_64_");
  *(void**)&cdotc = dlsym(library, "cdotc_64_");
  if (dlsym(library, "isamax_") != NULL || isamax == NULL || sdot == NULL || zdotc == NULL || cdotc == NULL) return 0;
  if (isamax(&negative_or_3, x, &one) != 0 || isamax(&two, x, &one) != 2) return 0;
  if (sdot(&one, &half, &one, &half, &one) != 0.25F) return 0;
  if (zdotc(&zero, y, &one, y, &one) != 0 || zdotc(&two, y, &one, y, &one) != 15) return 0;
  if (cdotc(&zero, z, &one, z, &one) != 0 || cdotc(&two, z, &one, z, &one) != 15) return 0;
  found = dlsym(library, "dgemm_64_");
  *(void**)&forward = found;
  if (found == NULL || forward == self) return 0;
  return 1;
}
