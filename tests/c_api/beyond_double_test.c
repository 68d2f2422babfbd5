/* Numbers beyond double, intervals and proofs from C. */
#include <math.h>
#include <string.h>
#include <vernier/vernier_quad.h>

#include "expect.h"

static const double a[] = {1, 3, 2, 4};

/* Products that no double holds, and an interval around the solution of A x = (1, 1). */
static void numbers_beyond_double_are_there(void) {
  vernier_handle handle = made();
  const double x[] = {1 + 0x1p-52, 1}, y[] = {1 + 0x1p-52, -1}, ones[] = {1, 1};
  vernier_dd c = {7, 7}, square = {7, 7}, solution[2];
  double low[2], high[2], errors[2], mid[1], radius[1];
  EXPECT(vernier_quad_gemm_of_doubles(handle, NULL, VERNIER_OP_N, VERNIER_OP_N, 1, 1, 2, 1, x, 1, y, 2, 0, &c, 1) ==
         VERNIER_SUCCESS);
  EXPECT(c.hi == 0x1p-51 && c.lo == 0x1p-104); /* (1 + u)^2 - 1 */
  EXPECT(vernier_quad_gemm(handle, "exact", VERNIER_OP_N, VERNIER_OP_N, 1, 1, 1, 1, &c, 1, &c, 1, 0, &square, 1) ==
         VERNIER_SUCCESS);
  EXPECT(square.hi == 0x1p-102 + 0x1p-154 && square.lo == 0x1p-208);
  EXPECT(vernier_quad_gemm(handle, "fp64", VERNIER_OP_N, VERNIER_OP_N, 1, 1, 1, 1, &c, 1, &c, 1, 0, &square, 1) ==
         VERNIER_INVALID_ARGUMENT);
  EXPECT(strstr(vernier_last_error(handle), "fp64") != NULL);
  EXPECT(vernier_quad_solve_verified(handle, 2, 1, a, 2, ones, 2, solution, 2, errors) == VERNIER_SUCCESS);
  EXPECT(errors[1] > 0 && errors[1] < 1e-29);
  EXPECT(vernier_quad_solve(handle, 2, 1, a, 2, ones, 2, solution, 2, errors) == VERNIER_SUCCESS);
  EXPECT(fabs(solution[0].hi + 1) < 1e-30 && fabs(solution[1].hi - 1) < 1e-30 && errors[0] < 1e-30);
  EXPECT(vernier_verified_solve(handle, 2, 1, a, 2, ones, 2, low, high, 2) == VERNIER_SUCCESS);
  EXPECT(low[0] <= -1 && high[0] >= -1 && low[1] <= 1 && high[1] >= 1 && high[1] - low[1] < 1e-15);
  EXPECT(vernier_interval_gemm(handle, VERNIER_OP_N, VERNIER_OP_N, 1, 1, 2, x, ones, 1, y, NULL, 2, mid, radius, 1) ==
         VERNIER_SUCCESS);
  EXPECT(mid[0] == 0x1p-51 && radius[0] >= 2 && radius[0] < 2.001);
  EXPECT(vernier_destroy(handle) == VERNIER_SUCCESS);
}

/* Of [4 1; 1 3] and [1 2; 2 4]: determinants 11 and 0, least eigenvalues 2.38 and 0. */
static void proofs_are_there(void) {
  vernier_handle handle = made();
  const double regular[] = {4, 1, 1, 3}, singular[] = {1, 2, 2, 4}, one[] = {1}, third[] = {1.0 / 3}, z[] = {3, 4};
  double low[4], high[4], ends[2], bound = 7;
  int64_t exponent = 0;
  EXPECT(vernier_verified_inverse(handle, 2, regular, 2, low, high, 2) == VERNIER_SUCCESS);
  EXPECT(11 * low[0] <= 3.0000001 && 11 * high[0] >= 2.9999999 && low[0] <= high[0] && high[0] - low[0] < 1e-15);
  EXPECT(vernier_verified_determinant(handle, 2, regular, 2, ends, &exponent) == VERNIER_SUCCESS);
  EXPECT(ldexp(ends[0], (int)exponent) <= 11 && ldexp(ends[1], (int)exponent) >= 11 && ends[1] - ends[0] < 1e-14);
  EXPECT(vernier_verified_definite(handle, 2, regular, 2, &bound) == VERNIER_SUCCESS);
  EXPECT(bound > 1 && bound < 2.3819661);
  EXPECT(vernier_verified_inverse(handle, 2, singular, 2, low, high, 2) == VERNIER_BOUND_NOT_MET);
  EXPECT(strstr(vernier_last_error(handle), "verified_inverse") != NULL);
  EXPECT(vernier_verified_determinant(handle, 2, regular, 2, NULL, &exponent) == VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_interval_gemm_ends(handle, VERNIER_OP_N, VERNIER_OP_N, 1, 1, 1, third, one, 1, third, third, 1, low,
                                    high, 1) == VERNIER_SUCCESS);
  EXPECT(low[0] < 0.1111111112 && low[0] > 0.111 && high[0] >= 1.0 / 3 && high[0] < 0.3334);
  EXPECT(vernier_interval_zgemm(handle, VERNIER_OP_N, VERNIER_OP_C, 1, 1, 1, z, one, 1, z, NULL, 1, low, &bound, 1) ==
         VERNIER_SUCCESS);
  EXPECT(low[0] == 25 && low[1] == 0 && bound >= 5 && bound < 5.0000001); /* |3 + 4i| times a radius of 1 */
  EXPECT(vernier_interval_zgemm_ends(handle, VERNIER_OP_N, VERNIER_OP_N, 1, 1, 1, z, z, 1, z, z, 1, low, high, 1) ==
         VERNIER_SUCCESS);
  EXPECT(low[0] == -7 && high[0] == -7 && low[1] == 24 && high[1] == 24);
  EXPECT(vernier_destroy(handle) == VERNIER_SUCCESS);
}

/* Other types, arrays of hi and of lo, and factors: of [4 2; 2 3]. */
static void all_types_are_there(void) {
  vernier_handle handle = made();
  const double x[] = {1 + 0x1p-52}, low[] = {0x1p-60}, zero[] = {0}, z[] = {3, 4};
  const vernier_dd matrix[] = {{4, 0}, {2, 0}, {2, 0}, {3, 0}};
  vernier_dd c[4] = {{7, 7}}, b[] = {{6, 0}, {5, 0}};
  double hi = 7, lo = 7;
  int64_t pivots[2], info = 7;
  EXPECT(vernier_quad_gemm_of(handle, NULL, VERNIER_QUAD_DD, VERNIER_QUAD_DOUBLE, VERNIER_QUAD_DD, VERNIER_OP_N,
                              VERNIER_OP_T, 1, 1, 1, 1, matrix, 2, x, 1, 0, c, 1) == VERNIER_SUCCESS);
  EXPECT(c[0].hi == 4 + 0x1p-50 && c[0].lo == 0);
  EXPECT(vernier_quad_gemm_of(handle, NULL, VERNIER_QUAD_COMPLEX_DOUBLE, VERNIER_QUAD_COMPLEX_DOUBLE,
                              VERNIER_QUAD_COMPLEX_DD, VERNIER_OP_N, VERNIER_OP_C, 1, 1, 1, 1, z, 1, z, 1, 0, c,
                              1) == VERNIER_SUCCESS);
  EXPECT(c[0].hi == 25 && c[1].hi == 0);
  EXPECT(vernier_quad_gemm_of(handle, NULL, VERNIER_QUAD_DD, VERNIER_QUAD_DD, VERNIER_QUAD_DOUBLE, VERNIER_OP_N,
                              VERNIER_OP_N, 1, 1, 1, 1, matrix, 2, matrix, 2, 0, c, 1) == VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_quad_gemm_of_arrays(handle, NULL, VERNIER_OP_N, VERNIER_OP_N, 1, 1, 1, 2, x, low, 1, x, zero, 1, 0,
                                     &hi, &lo, 1) == VERNIER_SUCCESS);
  EXPECT(hi == 2 + 0x1p-50 && lo > 0x1p-59 && lo < 0x1.1p-59);
  EXPECT(vernier_quad_syrk(handle, NULL, VERNIER_QUAD_DD, VERNIER_LOWER, VERNIER_OP_T, 1, 2, 1, matrix, 2, 0, c, 1) ==
         VERNIER_SUCCESS);
  EXPECT(c[0].hi == 20);
  memcpy(c, matrix, sizeof c);
  EXPECT(vernier_quad_potrf(handle, NULL, VERNIER_QUAD_DD, VERNIER_LOWER, 2, c, 2, &info) == VERNIER_SUCCESS);
  EXPECT(info == 0 && c[0].hi == 2 && c[1].hi == 1 && fabs(c[3].hi * c[3].hi - 2) < 1e-15);
  memcpy(c, matrix, sizeof c);
  EXPECT(vernier_quad_getrf(handle, NULL, VERNIER_QUAD_DD, 2, 2, c, 2, pivots, &info) == VERNIER_SUCCESS);
  EXPECT(info == 0 && pivots[0] == 1 && c[1].hi == 0.5 && c[3].hi == 2);
  EXPECT(vernier_quad_trsm(handle, NULL, VERNIER_QUAD_DD, VERNIER_LEFT, VERNIER_LOWER, VERNIER_OP_N, VERNIER_UNIT, 2, 1,
                           1, c, 2, b, 2) == VERNIER_SUCCESS);
  EXPECT(b[0].hi == 6 && b[1].hi == 2);
  memcpy(c, matrix, sizeof c);
  b[0].hi = 6, b[1].hi = 5;
  EXPECT(vernier_quad_gesv(handle, NULL, VERNIER_QUAD_DD, 2, 1, c, 2, pivots, b, 2, &info) == VERNIER_SUCCESS);
  EXPECT(info == 0 && b[0].hi == 1 && b[1].hi == 1);
  EXPECT(vernier_destroy(handle) == VERNIER_SUCCESS);
}

int main(void) {
  all_types_are_there();
  numbers_beyond_double_are_there();
  proofs_are_there();
  return told_failures();
}
