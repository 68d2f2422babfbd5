/* Loads the module, and with it BLAS or cuBLAS, out of the global scope; a third argument binds it to its own. */
#define _GNU_SOURCE /* RTLD_DEEPBIND */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* module = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL | (argc > 3 ? RTLD_DEEPBIND : 0));
  int (*run)(const char*) = NULL;
  if (module == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  *(void**)&run = dlsym(module, "run");
  return run != NULL && argc > 2 ? run(argv[2]) : 1;
}
