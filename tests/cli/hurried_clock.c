/* Preloaded: the monotonic clock, a second later each time that it is read. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec* time) {
  static atomic_long reads;
  const int code = (int)syscall(SYS_clock_gettime, id, time);
  if (id == CLOCK_MONOTONIC) time->tv_sec += ++reads;
  return code;
}
