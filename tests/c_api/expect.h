/* What programs of tests in C share: expectations that are counted, and a handle. */
#include <stdio.h>
#include <stdlib.h>
#include <vernier/vernier.h>

static int failures = 0;

#define EXPECT(condition)                                    \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("line %d: not so: %s\n", __LINE__, #condition); \
      ++failures;                                            \
    }                                                        \
  } while (0)

static vernier_handle made(void) {
  vernier_handle handle = NULL;
  EXPECT(vernier_create(&handle) == VERNIER_SUCCESS);
  EXPECT(vernier_set_contract(handle, "fp64+reproducible") == VERNIER_SUCCESS);
  return handle;
}

/* The exit code. */
static int told_failures(void) {
  printf("%d failure%s\n", failures, failures == 1 ? "" : "s");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
