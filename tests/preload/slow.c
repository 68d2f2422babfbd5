/* A library that takes 0.4 seconds to be relocated: what needs it is listed by the loader, and not relocated yet. */
#include <sys/syscall.h>

static int one(void) { return 1; }

/* It runs before any function of another library can be called. */
static int (*resolve(void))(void) {
#if defined(__x86_64__)
  static const long while_it_loads[] = {0, 400000000};
  long result = SYS_nanosleep;
  __asm__ volatile("syscall" : "+a"(result) : "D"(while_it_loads), "S"(0) : "rcx", "r11", "memory");
#endif
  return one;
}

static int chosen(void) __attribute__((ifunc("resolve")));
int (*slow_function)(void) = chosen;
