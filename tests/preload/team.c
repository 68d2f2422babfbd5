/* A program whose OpenMP runtime is its own, loaded out of the global scope as by a wheel: team RUNTIME. It multiplies
 * within a parallel region, briefly outside of one and then at length, and says how many threads the process has after
 * each; `team RUNTIME again` multiplies ten times outside; `team RUNTIME WHEEL` has a wheel multiply, then multiplies
 * numbers too far apart for residues within a region and outside; `team RUNTIME loading` multiplies while a thread
 * loads the runtime. */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { order = 512 };

void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);

void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            double*, const int*);
void dsymm_(const char*, const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            const int*, const double*, double*, const int*);
void dtrmm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*);
void zgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);

/* One of each kind that is too brief for a second thread. */
static void multiply_briefly(const double* a, int lda, double* c) {
  const int tiny = 120, small = 60, large = 400, thin = 3;
  const double one[] = {1, 0}, zero[] = {0, 0}, two = 2;
  dgemm_("N", "N", &tiny, &tiny, &tiny, one, a, &lda, a, &lda, zero, c, &lda);
  dsyrk_("L", "N", &large, &thin, one, a, &lda, zero, c, &lda);
  dsymm_("L", "L", &tiny, &small, one, a, &lda, a, &lda, zero, c, &lda);
  dtrsm_("L", "L", "N", "U", &tiny, &small, one, a, &lda, c, &lda);
  dtrmm_("L", "L", "N", "U", &tiny, &small, &two, a, &lda, c, &lda);
  zgemm_("N", "N", &small, &small, &small, one, a, &small, a, &small, zero, c, &small);
}

static int tasks(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/task");
  const struct dirent* entry;
  while (folder != NULL && (entry = readdir(folder)) != NULL) count += entry->d_name[0] != '.';
  if (folder != NULL) closedir(folder);
  return count;
}

static void too_wide(int n, const char* where) {
  const double a[] = {1e-300, 1, 1, 1e300, 1, 1, 1, 1, 1}, one = 1, zero = 0;
  double c[9];
  puts(where);
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
}

static int beside_a_wheel(const char* file, void (*enter)(int)) {
  int (*run)(const char*) = NULL;
  void* const wheel = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (wheel != NULL) *(void**)&run = dlsym(wheel, "run");
  if (run == NULL) return EXIT_FAILURE;
  run("wheel");
  enter(1);
  too_wide(2, "in a team");
  enter(0);
  too_wide(3, "alone");
  return EXIT_SUCCESS;
}

static volatile int is_loaded = 0;

static void* load(void* file) {
  if (dlopen(file, RTLD_NOW | RTLD_LOCAL) == NULL) exit(EXIT_FAILURE);
  is_loaded = 1;
  return NULL;
}

static int beside_a_load(char* file) {
  static double a[64], c[64];
  const int n = 8;
  const double one = 1, zero = 0;
  int beside = 0;
  pthread_t thread;
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  if (pthread_create(&thread, NULL, load, file) != 0) return EXIT_FAILURE;
  for (; !is_loaded; ++beside) dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  pthread_join(thread, NULL);
  puts(beside > 10 ? "many beside it" : "few beside it");
  return EXIT_SUCCESS;
}

int main(int argc, char** argv) {
  static double a[order * order], c[order * order];
  const int n = order, small = 400;
  const double one = 1, zero = 0;
  const int loading = argc > 2 && strcmp(argv[2], "loading") == 0;
  int i, before;
  void* const runtime = argc > 1 && !loading ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void (*enter)(int) = NULL;
  if (loading) return beside_a_load(argv[1]);
  if (runtime != NULL) *(void**)&enter = dlsym(runtime, "enter_team");
  if (enter == NULL) return EXIT_FAILURE;
  for (i = 0; i < n * n; ++i) a[i] = i % 7 - 3;
  if (argc > 2 && strcmp(argv[2], "again") != 0) return beside_a_wheel(argv[2], enter);
  if (argc > 2) {
    for (i = 0; i < 10; ++i) dgemm_("N", "N", &small, &small, &small, &one, a, &n, a, &n, &zero, c, &n);
    return EXIT_SUCCESS;
  }
  before = tasks();
  enter(1);
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  printf("in a team: %d more threads\n", tasks() - before);
  enter(0);
  multiply_briefly(a, n, c);
  printf("briefly: %d more threads\n", tasks() - before);
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  printf("alone: %d more threads\n", tasks() - before);
  return EXIT_SUCCESS;
}
