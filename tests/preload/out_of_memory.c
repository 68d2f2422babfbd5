/* A program whose memory ends at any one allocation of Vernier's in its second call: each is refused once, in a process
 * of its own, and dsyrk_ has to be right all the same. Those of the BLAS and of the loader are granted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            double*, const int*);
void* __libc_malloc(size_t bytes);

static volatile long left = -1; /* before one is refused; below 0: none is */
static volatile int refused = 0;

static int is_verniers(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == NULL) return 0;
  return strstr(info.dli_fname, "vernier") != NULL || strstr(info.dli_fname, "stdc++") != NULL;
}

void* malloc(size_t bytes) {
  if (left >= 0 && is_verniers(__builtin_return_address(0)) && left-- == 0) {
    refused = 1;
    return NULL;
  }
  return __libc_malloc(bytes);
}

enum { order = 40, k = 30 };

static void update(double* c) {
  static double a[order * k];
  const int n = order, length = k;
  const double alpha = 2, beta = 3;
  int i;
  for (i = 0; i < n * length; ++i) a[i] = (double)((i * 7) % 11 - 5);
  for (i = 0; i < n * n; ++i) c[i] = i % 5;
  dsyrk_("L", "N", &n, &length, &alpha, a, &n, &beta, c, &n);
}

static int right(const double* c) { /* against sums of small integers */
  int i, j, l;
  for (j = 0; j < order; ++j)
    for (i = j; i < order; ++i) {
      double sum = 0;
      for (l = 0; l < k; ++l) sum += (double)((((i + l * order) * 7) % 11 - 5) * (((j + l * order) * 7) % 11 - 5));
      if (c[i + j * order] != 2 * sum + 3 * ((i + j * order) % 5)) return 0;
    }
  return 1;
}

int main(void) {
  static double c[order * order];
  long n, failures = 0;
  update(c); /* which finds all memory */
  for (n = 0; n < 3000; ++n) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      left = n;
      update(c);
      left = -1;
      _exit(!right(c) ? 1 : refused ? 0 : 42);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return 2;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 42) break;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      printf("allocation %ld: status %d\n", n, status);
      ++failures;
    }
  }
  printf("%ld refused, %ld failures\n", n, failures);
  return failures == 0 && n < 3000 ? 0 : 1;
}
