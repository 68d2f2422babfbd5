/* A program that looks its functions up by hand.
 *   library PATH            dgemm_ of that library
 *   closed PATH PATH        a library whose dgemm_ was called is closed, its place in memory taken, and a module run
 *   next PATH               what that library finds behind itself: the function of another one
 *   julia PATH PATH [PATH]  libblastrampoline, the BLAS that it forwards to, and a second one that is to take over */
#define _GNU_SOURCE /* RTLD_DEEPBIND, MAP_FIXED_NOREPLACE */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static const double one = 1, zero = 0;
static const double a[] = {1, 3, 2, 4}, b[] = {5, 7, 6, 8}; /* by columns */

static void* open_library(const char* path, int flags) {
  void* library = dlopen(path, RTLD_NOW | flags);
  if (library == NULL) printf("%s\n", dlerror());
  return library;
}

static int by_library(const char* path) {
  void (*dgemm)(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
                const double*, const int*, const double*, double*, const int*) = NULL;
  const int two = 2;
  double c[4];
  void* library = open_library(path, RTLD_LOCAL);
  if (library == NULL) return 1;
  *(void**)&dgemm = dlsym(library, "dgemm_");
  dgemm("N", "N", &two, &two, &two, &one, a, &two, b, &two, &zero, c, &two);
  printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
  printf("none such: %d, ", dlsym(library, "dgemmm_") != NULL);
  puts(dlerror() != NULL ? "told why" : "not told why");
  return 0;
}

static int closed(const char* path, const char* module) {
  void (*dgemm)(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
                const double*, const int*, const double*, double*, const int*) = NULL;
  int (*run)(const char*) = NULL;
  const int two = 2;
  double c[4];
  Dl_info place;
  void* library = open_library(path, RTLD_GLOBAL);
  if (library == NULL || dladdr(dlsym(library, "closable"), &place) == 0) return 1;
  *(void**)&dgemm = dlsym(library, "dgemm_");
  dgemm("N", "N", &two, &two, &two, &one, a, &two, b, &two, &zero, c, &two);
  printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
  dlclose(library);
  mmap(place.dli_fbase, 1 << 14, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  library = open_library(module, RTLD_LOCAL);
  if (library == NULL) return 1;
  *(void**)&run = dlsym(library, "run");
  return run("products");
}

static int next(const char* first) {
  int (*number)(void) = NULL;
  void* library = open_library(first, RTLD_GLOBAL);
  if (library == NULL) return 1;
  *(void**)&number = dlsym(library, "number");
  printf("number: %d\n", number());
  *(void**)&number = dlsym(RTLD_DEFAULT, "number");
  printf("by default: %d\n", number());
  return 0;
}

static int julia(int count, char** paths) {
  int (*forward)(const char*) = NULL;
  void (*dgemm)(const char*, const char*, const int64_t*, const int64_t*, const int64_t*, const double*, const double*,
                const int64_t*, const double*, const int64_t*, const double*, double*, const int64_t*) = NULL;
  double (*ddot)(const int64_t*, const double*, const int64_t*, const double*, const int64_t*) = NULL;
  const int64_t two = 2, step = 1;
  double c[4];
  int i;
  void* trampoline = open_library(paths[0], RTLD_LOCAL | RTLD_DEEPBIND); /* as Julia loads all libraries */
  if (trampoline == NULL) return 1;
  *(void**)&forward = dlsym(trampoline, "lbt_forward");
  for (i = 1; i < count; ++i) printf("forwarded: %d\n", forward(paths[i]));
  *(void**)&dgemm = dlsym(trampoline, "dgemm_64_");
  dgemm("N", "N", &two, &two, &two, &one, a, &two, b, &two, &zero, c, &two);
  printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
  *(void**)&ddot = dlsym(trampoline, "ddot_64_");
  if (count > 2) printf("ddot: %g\n", ddot(&two, a, &step, b, &step));
  return 0;
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  if (argc > 2 && strcmp(argv[1], "library") == 0) return by_library(argv[2]);
  if (argc > 3 && strcmp(argv[1], "closed") == 0) return closed(argv[2], argv[3]);
  if (argc > 2 && strcmp(argv[1], "next") == 0) return next(argv[2]);
  if (argc > 3 && strcmp(argv[1], "julia") == 0) return julia(argc - 2, argv + 2);
  return 1;
}
