/* The C interface as a C program meets it: results, settings, codes, messages, reports. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vernier/vernier.h>
#include <vernier/vernier_cuda.h>
#include <vernier/vernier_distributed.h>

#include "expect.h"

static const double a[] = {1, 3, 2, 4}, b[] = {5, 7, 6, 8}, one = 1, zero = 0;

static vernier_status small_product(vernier_handle handle, double* c) {
  return vernier_dgemm(handle, VERNIER_OP_N, VERNIER_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2);
}

static void every_type_multiplies(void) {
  vernier_handle handle = made();
  const float sa[] = {1, 3, 2, 4}, sb[] = {5, 7, 6, 8}, s_one = 1, s_zero = 0;
  /* (1 + 2i) (3 - i) = 5 + 5i, and with the conjugate of the left factor (1 - 2i) (3 - i) = 1 - 7i */
  const double za[] = {1, 2}, zb[] = {3, -1}, z_one[] = {1, 0}, z_zero[] = {0, 0};
  const float ca[] = {1, 2}, cb[] = {3, -1}, c_one[] = {1, 0}, c_i[] = {0, 1};
  double c[4], z[2] = {7, 7};
  float s[4], x[2] = {1, 1};
  EXPECT(small_product(handle, c) == VERNIER_SUCCESS);
  EXPECT(c[0] == 19 && c[1] == 43 && c[2] == 22 && c[3] == 50);
  EXPECT(vernier_sgemm(handle, VERNIER_OP_T, VERNIER_OP_N, 2, 2, 2, &s_one, sa, 2, sb, 2, &s_zero, s, 2) ==
         VERNIER_SUCCESS);
  EXPECT(s[0] == 26 && s[1] == 38 && s[2] == 30 && s[3] == 44);
  EXPECT(vernier_zgemm(handle, VERNIER_OP_N, VERNIER_OP_N, 1, 1, 1, z_one, za, 1, zb, 1, z_zero, z, 1) ==
         VERNIER_SUCCESS);
  EXPECT(z[0] == 5 && z[1] == 5);
  EXPECT(vernier_cgemm(handle, VERNIER_OP_C, VERNIER_OP_N, 1, 1, 1, c_one, ca, 1, cb, 1, c_i, x, 1) == VERNIER_SUCCESS);
  EXPECT(x[0] == 0 && x[1] == -6); /* 1 - 7i + i (1 + i) */
  EXPECT(vernier_gemm(handle, (vernier_type)'Q', VERNIER_OP_N, VERNIER_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2) ==
         VERNIER_INVALID_ARGUMENT);
  vernier_destroy(handle);
}

static void devices_are_named(void) {
  vernier_handle handle = made();
  double c[4];
  EXPECT(vernier_set_device(handle, "gpu") == VERNIER_INVALID_ARGUMENT);
  EXPECT(strstr(vernier_last_error(handle), "expected cpu, cuda or auto") != NULL);
  EXPECT(vernier_set_device(handle, "auto") == VERNIER_SUCCESS);
  EXPECT(small_product(handle, c) == VERNIER_SUCCESS);
  EXPECT(c[0] == 19 && c[1] == 43 && c[2] == 22 && c[3] == 50);
  EXPECT(vernier_set_device(handle, NULL) == VERNIER_SUCCESS);
  EXPECT(vernier_set_device(NULL, "cpu") == VERNIER_NOT_INITIALIZED);
  vernier_destroy(handle);
}

static void prepared_operands_multiply(void) {
  vernier_handle handle = made();
  vernier_prepared left = NULL, right = NULL;
  const float sb[] = {5, 7, 6, 8}, sa[] = {1, 3, 2, 4}, s_one = 1, s_zero = 0;
  double x[] = {1, 3, 2, 4}, c[4];
  float s[4];
  EXPECT(vernier_prepare(handle, VERNIER_D, VERNIER_LEFT, VERNIER_OP_N, 2, 2, x, 2, &left) == VERNIER_SUCCESS);
  x[0] = 100; /* the object has a copy */
  EXPECT(vernier_gemm_prepared_left(handle, left, VERNIER_OP_N, 2, 2, 2, &one, b, 2, &zero, c, 2) == VERNIER_SUCCESS);
  EXPECT(c[0] == 19 && c[1] == 43 && c[2] == 22 && c[3] == 50);
  EXPECT(strstr(vernier_report_text(handle), "prepared") != NULL);
  EXPECT(vernier_cuda_gemm_prepared_left(handle, left, VERNIER_OP_N, 2, 2, 2, &one, b, 2, &zero, c, 2) ==
         VERNIER_INVALID_ARGUMENT);
  EXPECT(strstr(vernier_last_error(handle), "the other side") != NULL);
  EXPECT(vernier_gemm_prepared_left(handle, left, VERNIER_OP_N, 3, 2, 2, &one, b, 2, &zero, c, 3) ==
         VERNIER_INVALID_ARGUMENT);
  EXPECT(strstr(vernier_last_error(handle), "prepared as 2 x 2; expected 3 x 2") != NULL);
  EXPECT(vernier_gemm_prepared_left(handle, NULL, VERNIER_OP_N, 2, 2, 2, &one, b, 2, &zero, c, 2) ==
         VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_prepare(handle, VERNIER_S, VERNIER_RIGHT, VERNIER_OP_N, 2, 2, sb, 2, &right) == VERNIER_SUCCESS);
  EXPECT(vernier_gemm_prepared_right(handle, VERNIER_OP_T, right, 2, 2, 2, &s_one, sa, 2, &s_zero, s, 2) ==
         VERNIER_SUCCESS);
  EXPECT(s[0] == 26 && s[1] == 38 && s[2] == 30 && s[3] == 44);
  vernier_destroy_prepared(right);
  EXPECT(vernier_prepare(handle, VERNIER_Z, VERNIER_LEFT, VERNIER_OP_N, 1, 1, x, 1, &right) ==
         VERNIER_INVALID_ARGUMENT);
  EXPECT(right == NULL);
  vernier_destroy_prepared(left);
  vernier_destroy_prepared(NULL);
  vernier_destroy(handle);
}

static void level_3_is_there(void) {
  vernier_handle handle = made();
  /* L = [2 .; 1 4] by columns, with what must not be read: L [1; 2] = [2; 9] and back */
  const double l[] = {2, 1, NAN, 4};
  double x[] = {1, 2}, c[] = {1, 1, 77, 1}, d[4] = {0, 0, 0, 0};
  const void* as[2];
  void* cs[1];
  EXPECT(vernier_trmm(handle, VERNIER_D, VERNIER_LEFT, VERNIER_LOWER, VERNIER_OP_N, VERNIER_NON_UNIT, 2, 1, &one, l, 2,
                      x, 2) == VERNIER_SUCCESS);
  EXPECT(x[0] == 2 && x[1] == 9);
  EXPECT(vernier_trsm(handle, VERNIER_D, VERNIER_LEFT, VERNIER_LOWER, VERNIER_OP_N, VERNIER_NON_UNIT, 2, 1, &one, l, 2,
                      x, 2) == VERNIER_SUCCESS);
  EXPECT(x[0] == 1 && x[1] == 2);
  /* lower triangle of [1; 2] [1 2] + C */
  EXPECT(vernier_syrk(handle, VERNIER_D, VERNIER_LOWER, VERNIER_OP_N, 2, 1, &one, x, 2, &one, c, 2) == VERNIER_SUCCESS);
  EXPECT(c[0] == 2 && c[1] == 3 && c[2] == 77 && c[3] == 5);
  EXPECT(vernier_herk(handle, VERNIER_D, VERNIER_LOWER, VERNIER_OP_N, 2, 1, &one, x, 2, &zero, c, 2) ==
         VERNIER_SUCCESS);
  EXPECT(c[0] == 1 && c[1] == 2 && c[2] == 77 && c[3] == 4);
  EXPECT(vernier_syr2k(handle, VERNIER_D, VERNIER_LOWER, VERNIER_OP_N, 2, 1, &one, x, 2, x, 2, &one, c, 2) ==
         VERNIER_SUCCESS);
  EXPECT(c[0] == 3 && c[1] == 6 && c[3] == 12);
  EXPECT(vernier_her2k(handle, VERNIER_D, VERNIER_LOWER, VERNIER_OP_N, 2, 1, &one, x, 2, x, 2, &zero, c, 2) ==
         VERNIER_SUCCESS);
  EXPECT(c[0] == 2 && c[1] == 4 && c[3] == 8);
  EXPECT(vernier_gemmt(handle, VERNIER_D, VERNIER_LOWER, VERNIER_OP_N, VERNIER_OP_T, 2, 1, &one, x, 2, x, 2, &zero, c,
                       2) == VERNIER_SUCCESS);
  EXPECT(c[0] == 1 && c[1] == 2 && c[2] == 77 && c[3] == 4);
  /* the symmetric [2 1; 1 4] of the stored triangle, times [1; 2] */
  EXPECT(vernier_symm(handle, VERNIER_D, VERNIER_LEFT, VERNIER_LOWER, 2, 1, &one, l, 2, x, 2, &zero, d, 2) ==
         VERNIER_SUCCESS);
  EXPECT(d[0] == 4 && d[1] == 9);
  EXPECT(vernier_hemm(handle, VERNIER_D, VERNIER_LEFT, VERNIER_LOWER, 2, 1, &one, l, 2, x, 2, &one, d, 2) ==
         VERNIER_SUCCESS);
  EXPECT(d[0] == 8 && d[1] == 18);
  as[0] = a;
  as[1] = b;
  cs[0] = d;
  EXPECT(vernier_gemm_batched(handle, VERNIER_D, VERNIER_OP_N, VERNIER_OP_N, 2, 2, 2, &one, as, 2, as + 1, 2, &zero, cs,
                              2, 1) == VERNIER_SUCCESS);
  EXPECT(d[0] == 19 && d[3] == 50);
  EXPECT(vernier_gemm_strided_batched(handle, VERNIER_D, VERNIER_OP_N, VERNIER_OP_N, 2, 1, 2, &one, a, 2, 0, b, 2, 2,
                                      &zero, d, 2, 2, 2) == VERNIER_SUCCESS);
  EXPECT(d[0] == 19 && d[1] == 43 && d[2] == 22 && d[3] == 50);
  EXPECT(vernier_trsm(handle, VERNIER_D, (vernier_side)'x', VERNIER_LOWER, VERNIER_OP_N, VERNIER_UNIT, 2, 1, &one, l, 2,
                      x, 2) == VERNIER_INVALID_ARGUMENT);
  vernier_destroy(handle);
}

static void errors_have_codes_and_words_and_leave_c_alone(void) {
  vernier_handle handle = made();
  double c[4] = {1, 2, 3, 4};
  EXPECT(vernier_create(NULL) == VERNIER_INVALID_ARGUMENT);
  EXPECT(small_product(NULL, c) == VERNIER_NOT_INITIALIZED);
  EXPECT(strstr(vernier_last_error(NULL), "handle") != NULL);
  EXPECT(strcmp(vernier_last_error(handle), "") == 0);
  EXPECT(vernier_dgemm(handle, VERNIER_OP_N, VERNIER_OP_N, 2, 2, 2, &one, a, 1, b, 2, &zero, c, 2) ==
         VERNIER_INVALID_ARGUMENT);
  EXPECT(strstr(vernier_last_error(handle), "lda = 1") != NULL);
  EXPECT(vernier_dgemm(handle, VERNIER_OP_N, VERNIER_OP_N, 2, 2, 2, NULL, a, 2, b, 2, &zero, c, 2) ==
         VERNIER_INVALID_ARGUMENT);
  EXPECT(strstr(vernier_last_error(handle), "alpha is null") != NULL);
  EXPECT(vernier_dgemm(handle, (vernier_op)'X', VERNIER_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2) ==
         VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_dgemm(handle, (vernier_op)(256 + 'N'), VERNIER_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2) ==
         VERNIER_INVALID_ARGUMENT); /* of which a byte is a letter */
  EXPECT(vernier_dgemm(handle, VERNIER_OP_N, VERNIER_OP_N, -1, 2, 2, &one, a, 2, b, 2, &zero, c, 2) ==
         VERNIER_INVALID_ARGUMENT);
  EXPECT(c[0] == 1 && c[1] == 2 && c[2] == 3 && c[3] == 4);
  EXPECT(vernier_set_contract(handle, "fp65") == VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_set_engine(handle, "abacus") != VERNIER_SUCCESS);
  EXPECT(strstr(vernier_last_error(handle), "abacus") != NULL);
  EXPECT(vernier_set_threads(handle, -1) == VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_set_workspace(handle, c, 0) == VERNIER_INVALID_ARGUMENT);
  EXPECT(small_product(handle, c) == VERNIER_SUCCESS); /* refused settings have changed nothing */
  EXPECT(strcmp(vernier_status_name(VERNIER_BOUND_NOT_MET), "VERNIER_BOUND_NOT_MET") == 0);
  vernier_destroy(handle);
  EXPECT(vernier_destroy(NULL) == VERNIER_SUCCESS);
}

static void data_too_wide_for_the_contract_are_an_error(void) {
  vernier_handle handle = made();
  const double wide[] = {1e-300, 1, 1, 1e300};
  double c[4] = {1, 2, 3, 4};
  const vernier_status status =
      vernier_dgemm(handle, VERNIER_OP_N, VERNIER_OP_N, 2, 2, 2, &one, wide, 2, wide, 2, &zero, c, 2);
  EXPECT(status == VERNIER_BOUND_NOT_MET);
  EXPECT(c[0] == 1 && c[3] == 4);
  EXPECT(strlen(vernier_last_error(handle)) > 0);
  vernier_destroy(handle);
}

static void a_contract_for_one_call_is_used_up(void) {
  vernier_handle handle = made();
  double c[4];
  vernier_report report;
  int ordinary;
  EXPECT(vernier_get_report(handle, &report) == VERNIER_INVALID_ARGUMENT);
  EXPECT(strcmp(vernier_report_json(handle), "") == 0);
  EXPECT(small_product(handle, c) == VERNIER_SUCCESS);
  EXPECT(vernier_get_report(handle, &report) == VERNIER_SUCCESS);
  EXPECT(strcmp(report.scheme, "residues") == 0 && report.m == 2 && report.n == 2 && report.k == 2);
  EXPECT(report.seconds > 0 && report.fallback == 0 && report.span_a > 0);
  ordinary = report.moduli;
  EXPECT(vernier_set_next_contract(handle, "bits(20)+reproducible") == VERNIER_SUCCESS);
  EXPECT(small_product(handle, c) == VERNIER_SUCCESS);
  EXPECT(vernier_get_report(handle, &report) == VERNIER_SUCCESS);
  EXPECT(report.moduli > 0 && report.moduli < ordinary);
  EXPECT(strstr(vernier_report_json(handle), "bits(20)+reproducible") != NULL);
  EXPECT(small_product(handle, c) == VERNIER_SUCCESS);
  EXPECT(vernier_get_report(handle, &report) == VERNIER_SUCCESS);
  EXPECT(report.moduli == ordinary);
  EXPECT(strstr(vernier_report_text(handle), "residues") != NULL);
  vernier_destroy(handle);
}

static void engines_threads_and_workspaces_are_taken(void) {
  vernier_handle handle = made();
  double c[4];
  vernier_report report;
  size_t bytes = 0;
  void* workspace;
  EXPECT(vernier_set_engine(handle, "portable") == VERNIER_SUCCESS);
  EXPECT(vernier_set_threads(handle, 1) == VERNIER_SUCCESS);
  EXPECT(vernier_gemm_workspace(handle, VERNIER_D, 2, 2, 2, &bytes) == VERNIER_SUCCESS);
  EXPECT(bytes > 0);
  workspace = malloc(bytes);
  EXPECT(vernier_set_workspace(handle, workspace, bytes) == VERNIER_SUCCESS);
  EXPECT(small_product(handle, c) == VERNIER_SUCCESS && c[3] == 50);
  EXPECT(vernier_get_report(handle, &report) == VERNIER_SUCCESS);
  EXPECT(strcmp(report.engine, "portable") == 0 && report.threads == 1);
  EXPECT(vernier_set_workspace(handle, workspace, 64) == VERNIER_SUCCESS);
  EXPECT(small_product(handle, c) == VERNIER_INVALID_ARGUMENT); /* too small */
  EXPECT(vernier_set_workspace(handle, NULL, 0) == VERNIER_SUCCESS);
  EXPECT(vernier_set_engine(handle, NULL) == VERNIER_SUCCESS);
  EXPECT(vernier_set_contract(handle, NULL) == VERNIER_SUCCESS);
  EXPECT(strcmp(vernier_explain_reason(handle), "") == 0 && strcmp(vernier_explain_reason(NULL), "") == 0);
  EXPECT(vernier_explain(handle, VERNIER_Z, 100, 100, 100, &report) == VERNIER_SUCCESS);
  EXPECT(strcmp(vernier_explain_reason(handle), "") != 0);
  EXPECT(report.m == 100 && report.log2_bound < 0);
  free(workspace);
  vernier_destroy(handle);
  vernier_release_workspace();
}

/* With a GPU or without one: what is found wrong before a GPU is asked for, and that C is left alone. */
static void the_gpu_s_side_checks_what_it_is_given(void) {
  vernier_handle handle = made();
  double c[4] = {7, 7, 7, 7};
  char memory[16];
  size_t bytes = 0;
  const vernier_cuda_outcome regular = {{0}};
  vernier_report report;
  EXPECT(vernier_cuda_set_stream(NULL, NULL) == VERNIER_NOT_INITIALIZED);
  EXPECT(vernier_cuda_set_stream(handle, NULL) == VERNIER_SUCCESS);
  EXPECT(vernier_cuda_set_cublas(NULL, NULL) == VERNIER_NOT_INITIALIZED);
  EXPECT(vernier_cuda_set_cublas(handle, NULL) == VERNIER_SUCCESS);
  EXPECT(vernier_cuda_set_pointer_mode(handle, (vernier_pointer_mode)2) == VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_cuda_set_pointer_mode(handle, VERNIER_POINTER_HOST) == VERNIER_SUCCESS);
  EXPECT(vernier_cuda_set_asynchronous(handle, 1) == VERNIER_SUCCESS);
  EXPECT(vernier_cuda_complete_report(NULL, &regular) == VERNIER_NOT_INITIALIZED);
  EXPECT(vernier_cuda_complete_report(handle, &regular) == VERNIER_INVALID_ARGUMENT); /* no product yet */
  EXPECT(small_product(handle, c) == VERNIER_SUCCESS);
  EXPECT(vernier_cuda_complete_report(handle, NULL) == VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_cuda_complete_report(handle, &regular) == VERNIER_SUCCESS); /* nothing was to be decided */
  EXPECT(vernier_get_report(handle, &report) == VERNIER_SUCCESS && report.fallback == 0 && report.span_a > 0);
  EXPECT(vernier_cuda_set_outcome(NULL, NULL) == VERNIER_NOT_INITIALIZED);
  EXPECT(vernier_cuda_set_outcome(handle, NULL) == VERNIER_SUCCESS);
  c[0] = c[1] = c[2] = c[3] = 7;
  EXPECT(vernier_cuda_set_engine(handle, "abacus") == VERNIER_INVALID_ARGUMENT);
  EXPECT(strstr(vernier_last_error(handle), "abacus") != NULL);
  EXPECT(vernier_cuda_set_engine(handle, "native") == VERNIER_SUCCESS);
  EXPECT(vernier_cuda_set_engine(handle, NULL) == VERNIER_SUCCESS);
  EXPECT(vernier_cuda_set_workspace(handle, memory, 0) == VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_cuda_explain(handle, VERNIER_D, 2, 2, 2, NULL) == VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_cuda_prepare(handle, VERNIER_D, VERNIER_LEFT, VERNIER_OP_N, 2, 2, a, 2, NULL) ==
         VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_cuda_gemm_workspace(handle, VERNIER_D, 2, 2, 2, NULL) == VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_cuda_gemm_workspace(handle, (vernier_type)'Q', 2, 2, 2, &bytes) == VERNIER_INVALID_ARGUMENT);
  /* ldc = 1 is too small, or there is no CUDA in this build */
  EXPECT(vernier_cuda_gemm(handle, VERNIER_D, VERNIER_OP_N, VERNIER_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 1) !=
         VERNIER_SUCCESS);
  EXPECT(vernier_last_error(handle)[0] != '\0');
  EXPECT(vernier_cuda_trsm(handle, VERNIER_Z, VERNIER_LEFT, VERNIER_LOWER, VERNIER_OP_N, VERNIER_UNIT, 2, 2, NULL, a, 2,
                           c, 2) == VERNIER_INVALID_ARGUMENT); /* alpha is null */
  EXPECT(vernier_cuda_gemmt(handle, VERNIER_D, VERNIER_LOWER, VERNIER_OP_N, VERNIER_OP_N, 2, 2, NULL, a, 2, b, 2, &zero,
                            c, 2) == VERNIER_INVALID_ARGUMENT); /* alpha is null */
  EXPECT(vernier_cuda_syrkx(handle, VERNIER_S, VERNIER_LOWER, VERNIER_OP_N, 2, 2, NULL, a, 2, b, 2, &zero, c, 2) ==
         VERNIER_INVALID_ARGUMENT); /* alpha is null */
  EXPECT(vernier_cuda_herkx(handle, VERNIER_Z, VERNIER_LOWER, VERNIER_OP_C, 2, 2, a, a, 2, b, 2, NULL, c, 2) ==
         VERNIER_INVALID_ARGUMENT); /* beta is null */
  EXPECT(c[0] == 7 && c[3] == 7);
  vernier_destroy(handle);
}

/* Two parties, each with one k: what the second found out goes to the first, and its sums by bytes or by words. */
static void parties_multiply(int by_words) {
  vernier_handle handle = made();
  const int64_t indices[] = {0, 1};
  const vernier_part whole_c = {NULL, 2, indices, 2, indices, 2};
  vernier_distributed party[2] = {NULL, NULL};
  vernier_part left[2], right[2], part = whole_c;
  char sums[2][4 * 16];
  int64_t words[2][4 * 4];
  const void* elements[1];
  double c[4], expected[4];
  int i, j;
  EXPECT(small_product(handle, expected) == VERNIER_SUCCESS);
  for (i = 0; i < 2; ++i) {
    const vernier_part l = {a + 2 * i, 2, indices, 2, indices + i, 1}, r = {b + i, 2, indices + i, 1, indices, 2};
    left[i] = l;
    right[i] = r;
    EXPECT(vernier_distributed_create(handle, VERNIER_D, VERNIER_OP_N, VERNIER_OP_N, 2, 2, 2, &party[i]) ==
           VERNIER_SUCCESS);
    EXPECT(vernier_distributed_element_bytes(party[i], 0) == 0); /* not before the scan is complete */
  }
  while (vernier_distributed_scanning(party[0])) {
    int64_t maxima = 0, sums_count = 0, *m[2], *s[2];
    for (i = 0; i < 2; ++i) {
      EXPECT(vernier_distributed_scan(party[i], VERNIER_LEFT, &left[i]) == VERNIER_SUCCESS);
      EXPECT(vernier_distributed_scan(party[i], VERNIER_RIGHT, &right[i]) == VERNIER_SUCCESS);
      m[i] = vernier_distributed_maxima(party[i], &maxima);
      s[i] = vernier_distributed_sums(party[i], &sums_count);
    }
    for (j = 0; j < maxima; ++j) m[0][j] = m[1][j] = m[0][j] > m[1][j] ? m[0][j] : m[1][j];
    for (j = 0; j < sums_count; ++j) s[0][j] = s[1][j] = s[0][j] + s[1][j];
    for (i = 0; i < 2; ++i) EXPECT(vernier_distributed_combine(party[i]) == VERNIER_SUCCESS);
  }
  EXPECT(vernier_distributed_passes(party[0]) == 1 && vernier_distributed_moduli(party[0], 0) == 15);
  EXPECT(vernier_distributed_element_bytes(party[0], 0) == 16 && vernier_distributed_words(party[0], 0) == 2);
  memset(sums, 0, sizeof sums);
  for (i = 0; i < 2; ++i)
    EXPECT(vernier_distributed_partial(party[i], 0, &left[i], &right[i], sums[i], 2) == VERNIER_SUCCESS);
  if (by_words) {
    const int count = (int)vernier_distributed_words(party[0], 0) * 4;
    for (i = 0; i < 2; ++i) EXPECT(vernier_distributed_to_words(party[i], 0, 4, sums[i], words[i]) == VERNIER_SUCCESS);
    for (j = 0; j < count; ++j) words[0][j] += words[1][j];
    EXPECT(vernier_distributed_from_words(party[0], 0, 4, words[0], sums[0]) == VERNIER_SUCCESS);
  } else {
    EXPECT(vernier_distributed_add(party[0], 0, 4, sums[1], sums[0]) == VERNIER_SUCCESS);
  }
  part.X = c;
  elements[0] = sums[0];
  EXPECT(vernier_distributed_finish(party[0], elements, 2, &one, &zero, NULL) == VERNIER_INVALID_ARGUMENT);
  EXPECT(vernier_distributed_finish(party[0], elements, 2, &one, &zero, &part) == VERNIER_SUCCESS);
  EXPECT(memcmp(c, expected, sizeof c) == 0);
  EXPECT(vernier_distributed_combine(NULL) == VERNIER_NOT_INITIALIZED);
  for (i = 0; i < 2; ++i) vernier_distributed_destroy(party[i]);
  vernier_destroy(handle);
}

int main(void) {
  parties_multiply(0);
  parties_multiply(1);
  every_type_multiplies();
  devices_are_named();
  prepared_operands_multiply();
  level_3_is_there();
  errors_have_codes_and_words_and_leave_c_alone();
  data_too_wide_for_the_contract_are_an_error();
  a_contract_for_one_call_is_used_up();
  engines_threads_and_workspaces_are_taken();
  the_gpu_s_side_checks_what_it_is_given();
  return told_failures();
}
