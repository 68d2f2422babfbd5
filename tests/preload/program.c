/* A program that knows BLAS and CBLAS and nothing of Vernier. Its argument says what it does:
 *   products   products and solves of every interface, and says whether each is right
 *   error      a dgemm_ with a wrong argument, which XERBLA is to report with the number that BLAS gives it
 *   threads    the same products in many threads at once
 *   wrong      as error, after many products of the same sizes without one
 *   wide       a product of numbers too far apart for the integer scheme
 *   turns      products of two shapes in turns, of numbers too far apart
 *   counted    small products and larger ones in threads that come and go, and in a child
 *   fork       two products, one more in a child, and a second child without any
 *   ends       a product, and the end by _exit
 *   killed     a product, and the end by SIGKILL */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  by_rows = 101,
  by_columns = 102,
  none = 111,
  conjugated = 113,
  upper = 121,
  lower = 122,
  unit = 132,
  left = 141
};

void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*);
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
void cblas_zher2k(int, int, int, int, int, const void*, const void*, int, const void*, int, double, void*, int);
void cblas_dgemmt(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int)
    __attribute__((weak));
void dgemm_64_(const char*, const char*, const int64_t*, const int64_t*, const int64_t*, const double*, const double*,
               const int64_t*, const double*, const int64_t*, const double*, double*, const int64_t*)
    __attribute__((weak));

static int failures = 0;

static void expect(const char* what, const double* got, const double* expected, int count) {
  int i;
  for (i = 0; i < count; ++i)
    if (got[i] != expected[i]) {
      printf("%s: element %d is %g, expected %g\n", what, i, got[i], expected[i]);
      ++failures;
    }
}

static void products(void) {
  const int two = 2, one_column = 1;
  const int64_t wide_two = 2;
  const double one = 1, zero = 0;
  const double a[] = {1, 3, 2, 4}, b[] = {5, 7, 6, 8}, ab[] = {19, 43, 22, 50}; /* by columns */
  const double r[] = {1, 2, 3, 4}, s[] = {5, 6, 7, 8}, rs[] = {19, 22, 43, 50}; /* the same by rows */
  const double l[] = {1, 3, NAN, 1}, solution[] = {2, -1};
  double c[4] = {NAN, NAN, NAN, NAN}, x[] = {2, 5};
  /* i (1 + i) conj(2) + its conjugate = -4, by rows and by columns; the imaginary part is not read */
  const double i_[] = {0, 1}, u[] = {1, 1}, v[] = {2, 0}, minus_four[] = {-4, 0};
  double z[] = {0, NAN};
  dgemm_("N", "n", &two, &two, &two, &one, a, &two, b, &two, &zero, c, &two);
  expect("dgemm_", c, ab, 4);
  cblas_dgemm(by_rows, none, none, 2, 2, 2, 1, r, 2, s, 2, 0, c, 2);
  expect("cblas_dgemm by rows", c, rs, 4);
  dtrsm_("L", "L", "N", "U", &two, &one_column, &one, l, &two, x, &two);
  expect("dtrsm_", x, solution, 2);
  cblas_zher2k(by_columns, lower, none, 1, 1, i_, u, 1, v, 1, 0, z, 1);
  expect("cblas_zher2k by columns", z, minus_four, 2);
  z[1] = NAN;
  cblas_zher2k(by_rows, upper, none, 1, 1, i_, u, 1, v, 1, 0, z, 1);
  expect("cblas_zher2k by rows", z, minus_four, 2);
  if (dgemm_64_ != NULL) {
    memset(c, 0, sizeof c);
    dgemm_64_("N", "N", &wide_two, &wide_two, &wide_two, &one, a, &wide_two, b, &wide_two, &zero, c, &wide_two);
    expect("dgemm_64_", c, ab, 4);
    puts("dgemm_64_ was there");
  }
  if (cblas_dgemmt != NULL) {
    const double kept[] = {19, 77, 22, 50};
    c[1] = 77;
    cblas_dgemmt(by_columns, upper, none, none, 2, 2, 1, a, 2, b, 2, 0, c, 2);
    expect("cblas_dgemmt", c, kept, 4);
  }
}

enum { threads = 6, rounds = 100, order = 20 };

static void* one_thread(void* wrong) {
  const int n = order;
  const double one = 1, zero = 0;
  double a[order * order], c[order * order];
  int i, round;
  for (i = 0; i < n * n; ++i) a[i] = i % 7 - 3;
  for (round = 0; round < rounds; ++round) {
    double expected = 0;
    dgemm_("N", "T", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
    for (i = 0; i < n; ++i) expected += a[i * n] * a[1 + i * n];
    if (c[1] != expected || c[n] != expected) ++*(int*)wrong;
  }
  return NULL;
}

static void in_threads(void) {
  pthread_t id[threads];
  int wrong[threads] = {0}, i;
  for (i = 0; i < threads; ++i) pthread_create(&id[i], NULL, one_thread, &wrong[i]);
  for (i = 0; i < threads; ++i) {
    pthread_join(id[i], NULL);
    failures += wrong[i];
  }
}

static void error(void) {
  const int two = 2, one = 1;
  const double factor = 1, a[] = {1, 2, 3, 4};
  double c[4];
  dgemm_("N", "N", &two, &two, &two, &factor, a, &one, a, &two, &factor, c, &two); /* lda, the eighth, is too small */
  puts("went on");
}

static void wide(void) {
  const double a[] = {1e-300, 1, 1, 1e300}, b[] = {1, 0, 0, 1};
  double c[4];
  cblas_dgemm(by_columns, none, none, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
  expect("wide", c, a, 4);
}

/* Sizes of a power of two, as most are; the product is the first factor, of which each element counts. */
static void in_turns(void) {
  const int sizes[] = {16, 64};
  const double one = 1, zero = 0;
  static double a[64 * 64], unit_matrix[64 * 64], c[64 * 64];
  int i, round;
  for (i = 0; i < 64 * 64; ++i) a[i] = i % 3 == 0 ? 1e-150 : 1e150;
  for (round = 0; round < 8; ++round) {
    const int* n = &sizes[round % 2];
    memset(unit_matrix, 0, sizeof unit_matrix);
    for (i = 0; i < *n; ++i) unit_matrix[i * (*n + 1)] = 1;
    dgemm_("N", "N", n, n, n, &one, a, n, unit_matrix, n, &zero, c, n);
    expect("in turns", c, a, *n * *n);
  }
}

static void square(void) {
  const int two = 2;
  const double one = 1, zero = 0, a[] = {1, 3, 2, 4}, aa[] = {7, 15, 10, 22};
  double c[4];
  dgemm_("N", "N", &two, &two, &two, &one, a, &two, a, &two, &zero, c, &two);
  expect("a square", c, aa, 4);
}

static void in_children(void) {
  int child, status = 1;
  square();
  square();
  for (child = 0; child < 2; ++child) {
    const pid_t id = fork();
    if (id == 0) {
      if (child == 0) square();
      exit(failures);
    }
    if (id < 0 || waitpid(id, &status, 0) != id || status != 0) ++failures;
  }
}

static void* counted_products(void* unused) {
  const int small = 2, n = order;
  const double one = 1, zero = 0;
  double a[order * order] = {0}, c[order * order];
  int i;
  for (i = 0; i < 1000; ++i) dgemm_("N", "T", &small, &small, &small, &one, a, &n, a, &n, &zero, c, &n);
  for (i = 0; i < 100; ++i) dgemm_("N", "T", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  return unused;
}

static void counted(void) {
  pthread_t id[40];
  int wave, i, status = 1;
  pid_t child;
  for (wave = 0; wave < 3; ++wave) {
    for (i = 0; i < 40; ++i) pthread_create(&id[i], NULL, counted_products, NULL);
    for (i = 0; i < 40; ++i) pthread_join(id[i], NULL);
  }
  counted_products(NULL);
  child = fork();
  if (child == 0) {
    counted_products(NULL);
    exit(0);
  }
  if (waitpid(child, &status, 0) != child || status != 0) ++failures;
}

static void error_in_a_known_shape(void) {
  const int n = order, one = 1;
  const double factor = 1;
  double a[order * order] = {0}, c[order * order];
  counted_products(NULL);
  dgemm_("N", "T", &n, &n, &n, &factor, a, &one, a, &n, &factor, c, &n);
}

/* As a program, or as a module of one that loads it. */
int run(const char* what) {
  if (strcmp(what, "products") == 0) products();
  if (strcmp(what, "threads") == 0) in_threads();
  if (strcmp(what, "error") == 0) error();
  if (strcmp(what, "wide") == 0) wide();
  if (strcmp(what, "turns") == 0) in_turns();
  if (strcmp(what, "counted") == 0) counted();
  if (strcmp(what, "wrong") == 0) error_in_a_known_shape();
  if (strcmp(what, "fork") == 0) in_children();
  if (strcmp(what, "ends") == 0 || strcmp(what, "killed") == 0) square();
  if (strcmp(what, "ends") == 0) _exit(failures);
  if (strcmp(what, "killed") == 0) raise(SIGKILL);
  printf("%d failures\n", failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) { return run(argc > 1 ? argv[1] : ""); }
