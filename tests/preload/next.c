/* One of two libraries with a function of the same name: the first asks who comes behind it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

int number(void);

int number(void) {
  int (*behind)(void) = NULL;
  if (NUMBER != 1) return NUMBER;
  *(void**)&behind = dlsym(RTLD_NEXT, "number");
  return behind != NULL ? 10 * behind() : -1;
}
