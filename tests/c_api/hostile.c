/* Arguments that a program passes by mistake, to the functions that tests/fuzz/c_api.cpp does not call: each is refused
 * with a status that is no internal error, with words, and with the output as it was. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "vernier/vernier.h"
#include "vernier/vernier_distributed.h"
#include "vernier/vernier_quad.h"

static int failures = 0;

static void expect(int kept, const char* what, int line) {
  if (kept) return;
  fprintf(stderr, "line %d: %s\n", line, what);
  ++failures;
}

static void refused(vernier_handle h, vernier_status status, const char* call, int line) {
  expect(status != VERNIER_SUCCESS, call, line);
  expect(status != VERNIER_INTERNAL_ERROR && status != VERNIER_DEVICE_ERROR, vernier_last_error(h), line);
  expect(*vernier_last_error(h) != '\0', "no words", line);
}

#define REFUSED(call) refused(h, call, #call, __LINE__)
#define TAKEN(call) expect((call) == VERNIER_SUCCESS, #call, __LINE__)

enum { n = 3 };
#define HUGE_SIZE (INT64_C(1) << 24)
#define WRONG_OP ((vernier_op)'?')
#define N VERNIER_OP_N
static double a[n * n] = {4, 1, 0, 1, 3, 1, 0, 1, 2}, b[n * n] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, c[n * n], d[n * n];
static vernier_dd qa[n * n], qb[n * n], qc[n * n];

static int untouched(void) {
  static const double zeros[n * n];
  static const vernier_dd quad_zeros[n * n];
  return memcmp(c, zeros, sizeof c) == 0 && memcmp(d, zeros, sizeof d) == 0 && memcmp(qc, quad_zeros, sizeof qc) == 0;
}

static void beyond_double(vernier_handle h) {
  expect(vernier_quad_gemm(NULL, "dd", N, N, n, n, n, 1, qa, n, qb, n, 0, qc, n) == VERNIER_NOT_INITIALIZED, "null",
         __LINE__);
  REFUSED(vernier_quad_gemm(h, "%n%s", N, N, n, n, n, 1, qa, n, qb, n, 0, qc, n));
  REFUSED(vernier_quad_gemm(h, "bits(999999999999999999999)", N, N, n, n, n, 1, qa, n, qb, n, 0, qc, n));
  REFUSED(vernier_quad_gemm(h, "dd", WRONG_OP, N, n, n, n, 1, qa, n, qb, n, 0, qc, n));
  REFUSED(vernier_quad_gemm(h, "dd", N, WRONG_OP, n, n, n, 1, qa, n, qb, n, 0, qc, n));
  REFUSED(vernier_quad_gemm(h, "dd", N, N, -1, n, n, 1, qa, n, qb, n, 0, qc, n));
  REFUSED(vernier_quad_gemm(h, "dd", N, N, INT64_MAX, INT64_MAX, 1, 1, qa, INT64_MAX, qb, 1, 0, qc, INT64_MAX));
  REFUSED(vernier_quad_gemm(h, "dd", N, N, HUGE_SIZE, HUGE_SIZE, 1, 1, qa, HUGE_SIZE, qb, 1, 0, qc, HUGE_SIZE));
  REFUSED(vernier_quad_gemm(h, "dd", N, N, n, n, n, 1, NULL, n, qb, n, 0, qc, n));
  REFUSED(vernier_quad_gemm(h, "dd", N, N, n, n, n, 1, qa, n, qb, n, 0, NULL, n));
  REFUSED(vernier_quad_gemm(h, "dd", N, N, n, n, n, 1, qa, n - 1, qb, n, 0, qc, n));
  REFUSED(vernier_quad_gemm(h, "dd", N, N, n, n, n, 1, qa, n, qb, n, 0, qc, INT64_MIN));
  REFUSED(vernier_quad_gemm_of_doubles(h, "exact+sideways", N, N, n, n, n, 1, a, n, b, n, 0, qc, n));
  REFUSED(vernier_quad_gemm_of_doubles(h, NULL, N, N, n, n, n, 1, a, n, NULL, n, 0, qc, n));
  REFUSED(vernier_quad_solve(h, -1, 1, a, n, b, n, qc, n, NULL));
  REFUSED(vernier_quad_solve(h, n, INT64_MIN, a, n, b, n, qc, n, NULL));
  REFUSED(vernier_quad_solve(h, n, 1, a, n, b, n, NULL, n, NULL));
  REFUSED(vernier_quad_solve(h, HUGE_SIZE, 1, a, HUGE_SIZE, b, HUGE_SIZE, qc, HUGE_SIZE, NULL));
  REFUSED(vernier_interval_gemm(h, WRONG_OP, N, n, n, n, a, NULL, n, b, NULL, n, c, d, n));
  REFUSED(vernier_interval_gemm(h, N, N, n, n, n, a, NULL, n, b, NULL, n, c, NULL, n));
  REFUSED(vernier_interval_gemm(h, N, N, n, n, n, a, NULL, n, b, NULL, n, NULL, d, n));
  REFUSED(vernier_interval_gemm(h, N, N, n, n, -7, a, NULL, n, b, NULL, n, c, d, n));
  REFUSED(vernier_interval_zgemm(h, N, N, n, n, n, a, NULL, n - 1, b, NULL, n, c, d, n));
  REFUSED(vernier_interval_zgemm_ends(h, N, N, n, n, n, a, a, n, b, b, n, c, NULL, n));
  REFUSED(vernier_verified_solve(h, n, 1, a, 1, b, n, c, d, n));
  REFUSED(vernier_verified_solve(h, n, 1, a, n, b, n, c, NULL, n));
  REFUSED(vernier_verified_solve(h, n, 1, NULL, n, b, n, c, d, n));
  REFUSED(vernier_verified_solve(h, HUGE_SIZE, HUGE_SIZE, a, HUGE_SIZE, b, HUGE_SIZE, c, d, HUGE_SIZE));
  expect(untouched(), "an output was written", __LINE__);
}

static vernier_distributed product_of(vernier_handle h) {
  vernier_distributed product = NULL;
  TAKEN(vernier_set_contract(h, "fp64+reproducible"));
  REFUSED(vernier_distributed_create(h, VERNIER_D, N, N, -1, n, n, &product));
  REFUSED(vernier_distributed_create(h, VERNIER_D, WRONG_OP, N, n, n, n, &product));
  REFUSED(vernier_distributed_create(h, (vernier_type)'?', N, N, n, n, n, &product));
  REFUSED(vernier_distributed_create(h, VERNIER_D, N, N, n, n, n, NULL));
  REFUSED(vernier_cuda_distributed_create(h, VERNIER_D, N, N, n, -1, n, &product));
  REFUSED(vernier_cuda_distributed_create(h, VERNIER_D, N, N, n, n, n, NULL));
  expect(vernier_distributed_create(NULL, VERNIER_D, N, N, n, n, n, &product) == VERNIER_NOT_INITIALIZED, "null",
         __LINE__);
  expect(product == NULL, "a product after a refusal", __LINE__);
  TAKEN(vernier_distributed_create(h, VERNIER_D, N, N, n, n, n, &product));
  return product;
}

static void parts_that_are_none(vernier_handle h, vernier_distributed p) {
  static const int64_t all[n] = {0, 1, 2}, beyond[n] = {0, 1, n}, below[n] = {-1, 1, 2};
  const vernier_part parts[] = {
      {NULL, n, all, n, all, n}, {a, n - 1, all, n, all, n}, {a, INT64_MIN, all, n, all, n}, {a, n, NULL, n, all, n},
      {a, n, all, n, NULL, n},   {a, n, all, -1, all, n},    {a, n, all, n, all, INT64_MIN}, {a, n, beyond, n, all, n},
      {a, n, all, n, below, n},  {a, n, below, n, all, n},   {a, INT64_MAX, all, n, all, n},
  };
  REFUSED(vernier_distributed_scan(p, VERNIER_LEFT, NULL));
  expect(vernier_distributed_scan(NULL, VERNIER_LEFT, &parts[0]) == VERNIER_NOT_INITIALIZED, "null", __LINE__);
  REFUSED(vernier_distributed_scan(p, (vernier_side)'?', &(vernier_part){a, n, all, n, all, n}));
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
    REFUSED(vernier_distributed_scan(p, VERNIER_LEFT, &parts[i]));
}

static void stages_out_of_order(vernier_handle h, vernier_distributed p) {
  static const int64_t all[n] = {0, 1, 2};
  const vernier_part left = {a, n, all, n, all, n}, right = {b, n, all, n, all, n}, out = {c, n, all, n, all, n};
  const double one = 1, zero = 0;
  const void* elements[1] = {NULL};
  expect(vernier_distributed_passes(p) == 0 && vernier_distributed_moduli(p, 0) == 0, "facts before the scan",
         __LINE__);
  expect(vernier_distributed_passes(NULL) == 0 && vernier_distributed_maxima(NULL, NULL) == NULL, "null", __LINE__);
  REFUSED(vernier_distributed_convert(p, 0, VERNIER_LEFT, &left, d, n));
  REFUSED(vernier_distributed_partial(p, 0, &left, &right, d, n));
  REFUSED(vernier_distributed_finish(p, elements, n, &one, &zero, &out));
  for (int round = 0; vernier_distributed_scanning(p) && round < 9; ++round) {
    TAKEN(vernier_distributed_scan(p, VERNIER_LEFT, &left));
    TAKEN(vernier_distributed_scan(p, VERNIER_RIGHT, &right));
    TAKEN(vernier_distributed_combine(p));
  }
  REFUSED(vernier_distributed_combine(p));
  REFUSED(vernier_distributed_scan(p, VERNIER_LEFT, &left));
  for (int pass = -1; pass < 2000; pass += 2001)
    expect(vernier_distributed_moduli(p, pass) == 0 && vernier_distributed_words(p, pass) == 0, "no such pass",
           __LINE__);
  REFUSED(vernier_cuda_distributed_all_reduce(p, 0, 1, d, d)); /* it is in memory of the host */
  REFUSED(vernier_distributed_partial(p, -1, &left, &right, d, n));
  REFUSED(vernier_distributed_partial(p, 1000, &left, &right, d, n));
  REFUSED(vernier_distributed_partial(p, 0, &left, NULL, d, n));
  REFUSED(vernier_distributed_partial(p, 0, &left, &right, NULL, n));
  REFUSED(vernier_distributed_partial(p, 0, &left, &right, d, 0));
  REFUSED(vernier_distributed_convert(p, 0, VERNIER_LEFT, &left, NULL, n));
  REFUSED(vernier_distributed_convert(p, 0, (vernier_side)'?', &left, d, n));
  REFUSED(vernier_distributed_multiply(p, 0, WRONG_OP, N, n, n, n, d, n, d, n, d, n));
  REFUSED(vernier_distributed_multiply(p, 0, N, N, n, -1, n, d, n, d, n, d, n));
  REFUSED(vernier_distributed_multiply(p, 0, N, N, n, n, n, NULL, n, d, n, d, n));
  REFUSED(vernier_distributed_add(p, 0, -1, d, d));
  REFUSED(vernier_distributed_add(p, 0, 1, NULL, d));
  REFUSED(vernier_distributed_to_words(p, 0, 1, NULL, NULL));
  REFUSED(vernier_distributed_from_words(p, 1000, 1, NULL, NULL));
  REFUSED(vernier_distributed_finish(p, NULL, n, &one, &zero, &out));
  REFUSED(vernier_distributed_finish(p, elements, n, &one, &zero, &out));
  REFUSED(vernier_distributed_finish(p, elements, n, NULL, &zero, &out));
  expect(untouched(), "an output was written", __LINE__);
}

int main(void) {
  vernier_handle h = NULL;
  TAKEN(vernier_create(&h));
  beyond_double(h);
  vernier_distributed product = product_of(h);
  parts_that_are_none(h, product);
  stages_out_of_order(h, product);
  TAKEN(vernier_distributed_destroy(product));
  TAKEN(vernier_destroy(h));
  if (failures == 0) puts("hostile: every call was refused or right");
  return failures != 0;
}
