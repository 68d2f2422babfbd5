/* What programs do that a preload would rather not see; each prints "right" where all products are.
 *   stacks           products in threads with stacks of 256 KiB, as docs/reliability.md has them
 *   environment      another thread sets variables all the time, more and more of them
 *   settings         variables of the preload change to nonsense between two products
 *   children         a child, its child, and the parent again, while other threads multiply
 *   cancelled        a thread that was cancelled before its first product ends after it, not within
 *   first            children of processes in which another thread is at its first product, a little further each time
 */
#define _DEFAULT_SOURCE /* setenv, usleep */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void Gemm(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                  const int*, const double*, const int*, const double*, double*, const int*);
Gemm dgemm_, zgemm_; /* complex numbers as pairs */

enum { order = 150 };

/* A A with elements of -3 to 3: sums of integers, which every order of adding gives. Complex numbers have as many
 * parts. */
static int right_with(Gemm* gemm, int parts) {
  const int n = order;
  const double one[] = {1, 0}, zero[] = {0, 0};
  const size_t count = (size_t)parts * order * order;
  double *a = calloc(count, sizeof(double)), *c = calloc(count, sizeof(double));
  int i, l, wrong = 0;
  for (i = 0; i < n * n; ++i) a[i * parts] = i % 7 - 3;
  gemm("N", "N", &n, &n, &n, one, a, &n, a, &n, zero, c, &n);
  for (i = 0; i < n * n; ++i) {
    double sum = 0;
    for (l = 0; l < n; ++l) sum += a[(i % n + l * n) * parts] * a[(l + i / n * n) * parts];
    wrong += c[i * parts] != sum;
  }
  free(a);
  free(c);
  return wrong == 0;
}

static int right(void) { return right_with(dgemm_, 1) && right_with(zgemm_, 2); }

static volatile int stop = 0;

static void* products(void* wrong) {
  int round;
  for (round = 0; round < 3; ++round) *(int*)wrong += !right();
  return NULL;
}

static void* variables(void* unused) {
  char name[40], value[200];
  int i;
  memset(value, 'x', sizeof value - 1);
  value[sizeof value - 1] = '\0';
  for (i = 0; !stop; ++i) {
    snprintf(name, sizeof name, "NAME_%d", i % 5000);
    setenv(name, value + i % 190, 1);
  }
  return unused;
}

static int in_threads(size_t stack) {
  pthread_attr_t attributes;
  pthread_t id[3];
  int wrong[3] = {0}, i;
  pthread_attr_init(&attributes);
  if (stack != 0) pthread_attr_setstacksize(&attributes, stack);
  for (i = 0; i < 3; ++i)
    if (pthread_create(&id[i], &attributes, products, &wrong[i]) != 0) return 0;
  for (i = 0; i < 3; ++i) pthread_join(id[i], NULL);
  return wrong[0] + wrong[1] + wrong[2] == 0;
}

static int beside_a_changing_environment(void) {
  pthread_t id;
  int good = right(); /* settings are read with the first product */
  pthread_create(&id, NULL, variables, NULL);
  good = good && in_threads(0);
  stop = 1;
  pthread_join(id, NULL);
  return good;
}

static int after_changed_settings(void) {
  const int before = right();
  setenv("VERNIER_CONTRACT", "fp65", 1);
  setenv("VERNIER_ENGINE", "abacus", 1);
  setenv("VERNIER_MIN_SIZE", "-1", 1);
  setenv("VERNIER_DEVICE", "nowhere", 1);
  setenv("VERNIER_RATES", "/dev/full", 1);
  setenv("VERNIER_REPORT", "/nowhere/report", 1);
  setenv("VERNIER_COUNTERS", "/nowhere/counters", 1);
  return before && right() && in_threads(0);
}

static int in_children(void) {
  pthread_t id;
  int wrong = 0, status = 1, good = right();
  pid_t child;
  pthread_create(&id, NULL, products, &wrong);
  child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(right() ? 0 : 1);
    if (waitpid(grandchild, &status, 0) != grandchild) status = 1;
    _exit(status == 0 && right() ? 0 : 1);
  }
  if (waitpid(child, &status, 0) != child) status = 1;
  pthread_join(id, NULL);
  return good && status == 0 && wrong == 0 && right();
}

static int forks_after(useconds_t time) {
  pthread_t id;
  int wrong = 0, status = 1;
  pid_t child;
  pthread_create(&id, NULL, products, &wrong);
  usleep(time);
  child = fork();
  if (child == 0) {
    alarm(60);
    _exit(right() ? 0 : 1);
  }
  if (waitpid(child, &status, 0) != child) status = 1;
  pthread_join(id, NULL);
  return status == 0 && wrong == 0;
}

static int beside_first_products(void) {
  int good = 1, step;
  for (step = 0; good && step < 16; ++step) {
    int status = 1;
    const pid_t child = fork();
    if (child == 0) _exit(forks_after(500 * (useconds_t)(step * step) / 4) ? 0 : 1);
    good = waitpid(child, &status, 0) == child && status == 0;
  }
  return good && right() && right();
}

static void* cancelled(void* good) {
  pthread_cancel(pthread_self()); /* and goes on to the next place that a thread may end at */
  *(int*)good = right();
  pthread_testcancel();
  *(int*)good = 0;
  return NULL;
}

static int in_a_cancelled_thread(void) {
  pthread_t id;
  void* end = NULL;
  int good = 0;
  pthread_create(&id, NULL, cancelled, &good);
  pthread_join(id, &end);
  return good && end == PTHREAD_CANCELED && right();
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int good = 0;
  if (strcmp(what, "stacks") == 0) good = in_threads(1 << 18);
  if (strcmp(what, "environment") == 0) good = beside_a_changing_environment();
  if (strcmp(what, "settings") == 0) good = after_changed_settings();
  if (strcmp(what, "children") == 0) good = in_children();
  if (strcmp(what, "cancelled") == 0) good = in_a_cancelled_thread();
  if (strcmp(what, "first") == 0) good = beside_first_products();
  puts(good ? "right" : "wrong");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
