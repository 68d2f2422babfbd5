/* Loads the module, and with it BLAS or cuBLAS, out of the global scope; a third argument binds it to its own, or is
 * another module, which is loaded with it and runs after it. */
#define _GNU_SOURCE /* RTLD_DEEPBIND */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int (*Run)(const char*);

static Run load(const char* path, int mode) {
  void* module = dlopen(path, RTLD_NOW | RTLD_LOCAL | mode);
  Run run = NULL;
  if (module == NULL)
    fprintf(stderr, "%s\n", dlerror());
  else
    *(void**)&run = dlsym(module, "run");
  return run;
}

int main(int argc, char** argv) {
  const int second = argc > 3 && strchr(argv[3], '/') != NULL;
  Run run = load(argc > 1 ? argv[1] : "", argc > 3 && !second ? RTLD_DEEPBIND : 0), then = NULL;
  if (second) then = load(argv[3], 0);
  if (run == NULL || argc < 3 || (second && then == NULL)) return 1;
  return run(argv[2]) | (second ? then(argv[2]) : 0);
}
