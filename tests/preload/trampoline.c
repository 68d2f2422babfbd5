/* As libblastrampoline, Julia's switch between BLAS libraries: it exports the names, looks them up by hand in the
 * library that it is told, and takes them only if its probes say which suffix, integers and calling conventions
 * these have. Names that the library lacks stay with the one before. What its own names are bound to, it takes for
 * itself and forwards nothing to. */
#define _GNU_SOURCE /* RTLD_DEEPBIND */
#include <complex.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef void (*dgemm_t)(const char*, const char*, const int64_t*, const int64_t*, const int64_t*, const double*,
                        const double*, const int64_t*, const double*, const int64_t*, const double*, double*,
                        const int64_t*);
typedef double (*ddot_t)(const int64_t*, const double*, const int64_t*, const double*, const int64_t*);
int lbt_forward(const char* path);
void dgemm_64_(const char*, const char*, const int64_t*, const int64_t*, const int64_t*, const double*, const double*,
               const int64_t*, const double*, const int64_t*, const double*, double*, const int64_t*);
double ddot_64_(const int64_t*, const double*, const int64_t*, const double*, const int64_t*);

typedef void (*any_t)(void);
static any_t forward[2];
static const any_t self[] = {(any_t)dgemm_64_, (any_t)ddot_64_};

void dgemm_64_(const char* opa, const char* opb, const int64_t* m, const int64_t* n, const int64_t* k,
               const double* alpha, const double* a, const int64_t* lda, const double* b, const int64_t* ldb,
               const double* beta, double* c, const int64_t* ldc) {
  ((dgemm_t)forward[0])(opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
double ddot_64_(const int64_t* n, const double* x, const int64_t* step_x, const double* y, const int64_t* step_y) {
  return ((ddot_t)forward[1])(n, x, step_x, y, step_y);
}

static void* look(void* library, const char* name, const char* suffix) {
  char whole[64];
  snprintf(whole, sizeof whole, "%s%s", name, suffix);
  return dlsym(library, whole);
}

/* Names without a suffix come first: a library that had any would be taken for one of 32 bits. */
static const char* suffix_of(void* library) {
  const char *names[] = {"isamax_", "dpotrf_"}, *suffixes[] = {"", "_", "__", "64", "64_", "_64__", "__64___"};
  size_t i, j;
  for (i = 0; i < 2; ++i)
    for (j = 0; j < 7; ++j)
      if (look(library, names[i], suffixes[j]) != NULL) return suffixes[j];
  return NULL;
}

/* A length that is 3 in 32 bits and negative in 64. */
static int has_64_bits(void* library, const char* suffix) {
  int64_t (*isamax)(const int64_t*, const float*, const int64_t*) = NULL;
  const int64_t negative_or_3 = (int64_t)0xffffffff00000003, one = 1;
  const float x[] = {1, 2, 1};
  *(void**)&isamax = look(library, "isamax_", suffix);
  return isamax != NULL && (isamax(&negative_or_3, x, &one) & 0xffffffff) == 0;
}

/* By value: as a function that returns through its first argument, zdotc leaves that alone. 0 + 1i reads as length 0.
 */
static int returns_complex_by_value(void* library, const char* suffix) {
  void (*by_argument)(double complex*, const int64_t*, const double complex*, const int64_t*, const double complex*,
                      const int64_t*) = NULL;
  double complex (*by_value)(const int64_t*, const double complex*, const int64_t*, const double complex*,
                             const int64_t*) = NULL;
  double complex result = I;
  const double complex nothing = 0, y[] = {1 + 2 * I, 3 - I};
  const int64_t zero = 0, one = 1, two = 2;
  *(void**)&by_argument = *(void**)&by_value = look(library, "zdotc_", suffix);
  if (by_value == NULL) return 0;
  by_argument(&result, &zero, &nothing, &zero, &nothing, &zero);
  return result == I && by_value(&zero, &nothing, &zero, &nothing, &zero) == 0 &&
         by_value(&two, y, &one, y, &one) == 15;
}

/* f2c returns float as double. */
static int returns_float(void* library, const char* suffix) {
  float (*sdot)(const int64_t*, const float*, const int64_t*, const float*, const int64_t*) = NULL;
  const int64_t one = 1;
  const float half = 0.5F;
  *(void**)&sdot = look(library, "sdot_", suffix);
  return sdot != NULL && sdot(&one, &half, &one, &half, &one) == 0.25F;
}

/* MKL had CBLAS of 64 bits by names without the suffix: its functions would be wrapped. */
static int has_cblas_of_another_suffix(void* library, const char* suffix) {
  return look(library, "cblas_zdotc_sub", suffix) == NULL && dlsym(library, "cblas_zdotc_sub") != NULL;
}

/* How many of its names were found; 0 where a probe fails. */
int lbt_forward(const char* path) {
  static const char* const names[] = {"dgemm_", "ddot_"};
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  const char* const suffix = library != NULL ? suffix_of(library) : NULL;
  int i, count = 0;
  if (suffix == NULL || !has_64_bits(library, suffix) || !returns_complex_by_value(library, suffix) ||
      !returns_float(library, suffix) || has_cblas_of_another_suffix(library, suffix))
    return 0;
  for (i = 0; i < 2; ++i) {
    any_t found;
    *(void**)&found = look(library, names[i], suffix);
    if (found == NULL || found == self[i]) continue;
    forward[i] = found;
    ++count;
  }
  return count;
}
