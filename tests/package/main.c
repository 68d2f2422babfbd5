/* What a C program outside of this project does with the installed library. */
#include <stdio.h>
#include <vernier/vernier.h>

int main(void) {
  /* [1 2; 3 4] [5 6; 7 8] = [19 22; 43 50], by columns */
  const double a[] = {1, 3, 2, 4}, b[] = {5, 7, 6, 8}, expected[] = {19, 43, 22, 50}, one = 1, zero = 0;
  double c[4] = {0, 0, 0, 0};
  int i, wrong = 0;
  vernier_handle handle = NULL;
  if (vernier_create(&handle) != VERNIER_SUCCESS) return 1;
  if (vernier_set_contract(handle, "fp64+reproducible") != VERNIER_SUCCESS ||
      vernier_dgemm(handle, VERNIER_OP_N, VERNIER_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2) != VERNIER_SUCCESS) {
    printf("%s\n", vernier_last_error(handle));
    return 1;
  }
  printf("vernier %s\n%s\n", vernier_version(), vernier_report_text(handle));
  for (i = 0; i < 4; ++i) {
    if (c[i] != expected[i]) {
      printf("entry %d: %.17g, expected %g\n", i, c[i], expected[i]);
      ++wrong;
    }
  }
  vernier_destroy(handle);
  return wrong == 0 ? 0 : 1;
}
