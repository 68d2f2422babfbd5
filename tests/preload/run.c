/* What happens to a program that `vernier run` starts.
 *   wait COUNT   says "ready", then which signals it got; ends with their number
 *   sandbox      a product once no file may be opened any more
 *   narrow       a product once it may have few addresses more
 *   nobody       a product once it has given up its rights
 *   cutoff       ends while two threads multiply on end */
#define _DEFAULT_SOURCE /* syscall, usleep */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);

void dgemv_(const char*, const int*, const int*, const double*, const double*, const int*, const double*, const int*,
            const double*, double*, const int*);

static volatile sig_atomic_t count = 0;

static void got(int signal) {
  char text[] = "got  0\n";
  if (signal >= 10) text[4] = (char)('0' + signal / 10);
  text[5] = (char)('0' + signal % 10);
  if (write(1, text, sizeof text - 1) > 0) ++count;
}

static int product(const char* where) {
  static double a[300 * 300], c[300 * 300];
  const double one = 1, zero = 0;
  const int n = 300;
  int i;
  for (i = 0; i < n * n; ++i) a[i] = i % n == i / n ? 3 : 0;
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  printf("%s: %g\n", where, c[n + 1]);
  return 19;
}

static int sandbox(void) {
  struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {4, rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 1;
  return product("sandbox");
}

static int narrow(unsigned long kilobytes) {
  struct rlimit limit = {0, 0};
  unsigned long pages = 0;
  static double a[300 * 300], x[300], y[300];
  const double one = 1;
  const int n = 300, next = 1;
  FILE* size;
  dgemv_("N", &n, &n, &one, a, &n, x, &next, &one, y, &next); /* a BLAS takes its own memory before */
  size = fopen("/proc/self/statm", "r");
  if (size == NULL || fscanf(size, "%lu", &pages) != 1 || fclose(size) != 0) return 1;
  limit.rlim_cur = limit.rlim_max = pages * (unsigned long)sysconf(_SC_PAGESIZE) + (kilobytes << 10);
  return setrlimit(RLIMIT_AS, &limit) == 0 ? product("narrow") : 1;
}

static void* multiply_on_end(void* c) {
  static double a[600 * 600];
  const double one = 1, zero = 0;
  const int n = 600;
  for (;;) dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  return NULL;
}

static int cut_off(void) {
  static double c[2][600 * 600];
  pthread_t id;
  pthread_create(&id, NULL, multiply_on_end, c[0]);
  pthread_create(&id, NULL, multiply_on_end, c[1]);
  usleep(400000);
  _exit(19);
}

int main(int argc, char** argv) {
  const int wanted = argc > 2 ? atoi(argv[2]) : 0;
  int i;
  if (argc < 2) return 1;
  if (strcmp(argv[1], "sandbox") == 0) return sandbox();
  if (strcmp(argv[1], "narrow") == 0) return narrow((unsigned long)wanted);
  if (strcmp(argv[1], "cutoff") == 0) return cut_off();
  if (strcmp(argv[1], "nobody") == 0) return setgid(65534) == 0 && setuid(65534) == 0 ? product("nobody") : 1;
  signal(SIGINT, got), signal(SIGTERM, got), signal(SIGUSR1, got), signal(SIGHUP, got), signal(SIGALRM, got);
  puts("ready");
  fflush(stdout);
  for (i = 0; i < 400 && count < wanted; ++i) usleep(50000);
  usleep(100000); /* one more than wanted? */
  return count;
}
