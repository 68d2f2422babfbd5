/* A program whose OpenMP runtime is its own, loaded out of the global scope as by a wheel: team RUNTIME. It multiplies
 * within a parallel region and then outside of one, and says how many threads the process has after each; `team RUNTIME
 * again` multiplies ten times outside. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { order = 512 };

void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);

static int tasks(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/task");
  const struct dirent* entry;
  while (folder != NULL && (entry = readdir(folder)) != NULL) count += entry->d_name[0] != '.';
  if (folder != NULL) closedir(folder);
  return count;
}

int main(int argc, char** argv) {
  static double a[order * order], c[order * order];
  const int n = order, small = 400;
  const double one = 1, zero = 0;
  int i, before;
  void* const runtime = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void (*enter)(int) = NULL;
  if (runtime != NULL) *(void**)&enter = dlsym(runtime, "enter_team");
  if (enter == NULL) return EXIT_FAILURE;
  for (i = 0; i < n * n; ++i) a[i] = i % 7 - 3;
  if (argc > 2) {
    for (i = 0; i < 10; ++i) dgemm_("N", "N", &small, &small, &small, &one, a, &n, a, &n, &zero, c, &n);
    return EXIT_SUCCESS;
  }
  before = tasks();
  enter(1);
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  printf("in a team: %d more threads\n", tasks() - before);
  enter(0);
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  printf("alone: %d more threads\n", tasks() - before);
  return EXIT_SUCCESS;
}
