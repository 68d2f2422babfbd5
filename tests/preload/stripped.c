/* As a program that brings a BLAS of its own and is stripped: of dgemm there is the name that it tells XERBLA. */
#include <stdio.h>

int main(int count, char** arguments) {
  (void)arguments;
  if (count > 1) fputs("DGEMM ", stderr);
  return 0;
}
