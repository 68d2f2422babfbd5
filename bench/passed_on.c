/* Nanoseconds of processor time of a call of BLAS that a preload looks at and passes on: small, of size with nothing to
 * multiply, and of size. Linked to a BLAS that does nothing, so that the difference between a run with the preload and
 * one without is the preload's. */
#include <stdio.h>
#include <time.h>

void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double best_ns(int n, int k, double alpha) {
  enum { calls = 1000000 };
  static double a[600 * 600], c[600 * 600];
  const double one = 1;
  double best = 1;
  int repetition, i;
  for (repetition = 0; repetition < 9; ++repetition) {
    const double start = now();
    for (i = 0; i < calls; ++i) dgemm_("N", "N", &n, &n, &k, &alpha, a, &n, a, &n, &one, c, &n);
    if ((now() - start) / calls < best) best = (now() - start) / calls;
  }
  return 1e9 * best;
}

int main(void) {
  const double small = best_ns(1, 0, 1), idle = best_ns(600, 600, 0);
  printf("{\"small_ns\": %.2f, \"of_size_idle_ns\": %.2f, \"of_size_ns\": %.2f}\n", small, idle, best_ns(600, 600, 1));
  return 0;
}
