/* The same from C: C = A B. */
#include <stdio.h>
#include <vernier/vernier.h>

int main(void) {
  /* [1 2; 3 4] [5 6; 7 8], by columns */
  const double A[] = {1, 3, 2, 4}, B[] = {5, 7, 6, 8}, one = 1, zero = 0;
  double C[4] = {0, 0, 0, 0};
  vernier_handle handle;
  if (vernier_create(&handle) != VERNIER_SUCCESS) return 1;
  if (vernier_set_contract(handle, "exact") != VERNIER_SUCCESS ||
      vernier_dgemm(handle, VERNIER_OP_N, VERNIER_OP_N, 2, 2, 2, &one, A, 2, B, 2, &zero, C, 2) != VERNIER_SUCCESS) {
    fprintf(stderr, "%s\n", vernier_last_error(handle));
    vernier_destroy(handle);
    return 1;
  }
  printf("%g %g\n%g %g\n%s\n", C[0], C[2], C[1], C[3], vernier_report_text(handle));
  vernier_destroy(handle);
  return 0;
}
