/* Numbers beyond double, intervals and proofs in device memory, from C: the bits of the CPU's, in poisoned outputs. */
#include <cuda_runtime_api.h>
#include <string.h>
#include <vernier/vernier_cuda.h>
#include <vernier/vernier_quad.h>

#include "expect.h"

enum { m = 33, n = 20, k = 57, square = 40 };

/* Numbers of some 20 bits around 1, of both signs. */
static void fill(double* x, int count, unsigned seed) {
  int i;
  for (i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = ((double)(seed >> 8) - 8388608.0) / (double)(1 + (i % 7) * 524288);
  }
}

static void* on_gpu(const void* x, size_t bytes) {
  void* copy = NULL;
  EXPECT(cudaMalloc(&copy, bytes) == cudaSuccess);
  EXPECT((x != NULL ? cudaMemcpy(copy, x, bytes, cudaMemcpyHostToDevice) : cudaMemset(copy, 0xff, bytes)) ==
         cudaSuccess);
  return copy;
}

static int same_as_on_gpu(const void* x, const void* copy, size_t bytes) {
  static unsigned char got[sizeof(vernier_dd) * m * n];
  EXPECT(bytes <= sizeof got && cudaMemcpy(got, copy, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  return memcmp(x, got, bytes) == 0;
}

static void dd_products_have_the_cpus_bits(void) {
  static const char* const contracts[] = {NULL, "exact", "exact+down", "bits(120)"};
  static double a[2 * m * k], b[2 * k * n];
  static vernier_dd c[m * n];
  vernier_handle handle = made();
  const vernier_dd *da, *db;
  vernier_dd* dc = on_gpu(NULL, sizeof c);
  size_t i;
  fill(a, 2 * m * k, 1), fill(b, 2 * k * n, 2);
  for (i = 1; i < 2 * m * k; i += 2) a[i] = a[i - 1] * 0x1p-60;
  for (i = 1; i < 2 * k * n; i += 2) b[i] = b[i - 1] * 0x1p-58;
  da = on_gpu(a, sizeof a), db = on_gpu(b, sizeof b);
  for (i = 0; i < sizeof contracts / sizeof *contracts; ++i) {
    EXPECT(vernier_quad_gemm(handle, contracts[i], VERNIER_OP_N, VERNIER_OP_N, m, n, k, 1, (const vernier_dd*)a, m,
                             (const vernier_dd*)b, k, 0, c, m) == VERNIER_SUCCESS);
    EXPECT(vernier_cuda_quad_gemm(handle, contracts[i], VERNIER_OP_N, VERNIER_OP_N, m, n, k, 1, da, m, db, k, 0, dc,
                                  m) == VERNIER_SUCCESS);
    EXPECT(same_as_on_gpu(c, dc, sizeof c));
    EXPECT(vernier_quad_gemm_of_doubles(handle, contracts[i], VERNIER_OP_T, VERNIER_OP_N, m, n, k, 1, a, k, b, k, 0, c,
                                        m) == VERNIER_SUCCESS);
    EXPECT(vernier_cuda_quad_gemm_of_doubles(handle, contracts[i], VERNIER_OP_T, VERNIER_OP_N, m, n, k, 1,
                                             (const double*)da, k, (const double*)db, k, 0, dc, m) == VERNIER_SUCCESS);
    EXPECT(same_as_on_gpu(c, dc, sizeof c));
  }
  EXPECT(vernier_cuda_quad_gemm(handle, "fp64", VERNIER_OP_N, VERNIER_OP_N, m, n, k, 1, da, m, db, k, 0, dc, m) ==
         VERNIER_INVALID_ARGUMENT);
  EXPECT(strstr(vernier_last_error(handle), "fp64") != NULL && same_as_on_gpu(c, dc, sizeof c));
  EXPECT(vernier_destroy(handle) == VERNIER_SUCCESS);
}

static void intervals_have_the_cpus_bits(void) {
  static double a[m * k], b[k * n], radii[m * k], high[m * k], first[m * n], second[m * n];
  vernier_handle handle = made();
  const double *da, *db, *dr, *dh;
  double *d1 = on_gpu(NULL, sizeof first), *d2 = on_gpu(NULL, sizeof second);
  int i;
  fill(a, m * k, 3), fill(b, k * n, 4);
  for (i = 0; i < m * k; ++i) radii[i] = 1e-3 * (1 + i % 5), high[i] = a[i] + radii[i];
  da = on_gpu(a, sizeof a), db = on_gpu(b, sizeof b), dr = on_gpu(radii, sizeof radii), dh = on_gpu(high, sizeof high);
  EXPECT(vernier_interval_gemm(handle, VERNIER_OP_N, VERNIER_OP_N, m, n, k, a, radii, m, b, NULL, k, first, second,
                               m) == VERNIER_SUCCESS);
  EXPECT(vernier_cuda_interval_gemm(handle, VERNIER_OP_N, VERNIER_OP_N, m, n, k, da, dr, m, db, NULL, k, d1, d2, m) ==
         VERNIER_SUCCESS);
  EXPECT(same_as_on_gpu(first, d1, sizeof first) && same_as_on_gpu(second, d2, sizeof second));
  EXPECT(vernier_interval_gemm_ends(handle, VERNIER_OP_N, VERNIER_OP_N, m, n, k, a, high, m, b, b, k, first, second,
                                    m) == VERNIER_SUCCESS);
  EXPECT(vernier_cuda_interval_gemm_ends(handle, VERNIER_OP_N, VERNIER_OP_N, m, n, k, da, dh, m, db, db, k, d1, d2,
                                         m) == VERNIER_SUCCESS);
  EXPECT(same_as_on_gpu(first, d1, sizeof first) && same_as_on_gpu(second, d2, sizeof second));
  EXPECT(vernier_destroy(handle) == VERNIER_SUCCESS);
}

/* A = 8 I + ones and b = A (1, 2, 3, ...): the solution is integral. */
static void proofs_hold(void) {
  static double a[square * square], b[square], low[square], high[square];
  vernier_handle handle = made();
  const double *da, *db;
  double *dl = on_gpu(NULL, sizeof low), *dh = on_gpu(NULL, sizeof high), ends[2], bound = 0;
  int64_t exponent = 0;
  int i;
  for (i = 0; i < square * square; ++i) a[i] = i % (square + 1) == 0 ? 9 : 1;
  for (i = 0; i < square; ++i) b[i] = 8 * (i + 1) + square * (square + 1) / 2;
  da = on_gpu(a, sizeof a), db = on_gpu(b, sizeof b);
  EXPECT(vernier_cuda_verified_solve(handle, square, 1, da, square, db, square, dl, dh, square) == VERNIER_SUCCESS);
  EXPECT(cudaMemcpy(low, dl, sizeof low, cudaMemcpyDeviceToHost) == cudaSuccess);
  EXPECT(cudaMemcpy(high, dh, sizeof high, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (i = 0; i < square; ++i) EXPECT(low[i] <= i + 1 && high[i] >= i + 1 && high[i] - low[i] < 1e-12);
  EXPECT(vernier_cuda_verified_inverse(handle, square, da, square, on_gpu(NULL, sizeof a), on_gpu(NULL, sizeof a),
                                       square) == VERNIER_SUCCESS);
  EXPECT(vernier_cuda_verified_determinant(handle, square, da, square, ends, &exponent) == VERNIER_SUCCESS);
  EXPECT(ends[0] <= ends[1] && ends[1] - ends[0] < 1e-12 && ends[1] < 1 && ends[1] >= 0.5);
  EXPECT(vernier_cuda_verified_definite(handle, square, da, square, &bound) == VERNIER_SUCCESS);
  EXPECT(bound > 1 && bound <= 8);
  EXPECT(cudaMemset((void*)da, 0, sizeof a) == cudaSuccess);
  EXPECT(vernier_cuda_verified_solve(handle, square, 1, da, square, db, square, dl, dh, square) ==
         VERNIER_BOUND_NOT_MET);
  EXPECT(same_as_on_gpu(low, dl, sizeof low) && same_as_on_gpu(high, dh, sizeof high));
  EXPECT(vernier_destroy(handle) == VERNIER_SUCCESS);
}

int main(void) {
  dd_products_have_the_cpus_bits();
  intervals_have_the_cpus_bits();
  proofs_hold();
  return told_failures();
}
