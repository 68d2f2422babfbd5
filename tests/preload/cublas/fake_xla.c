/* XLA's name, what it has loaded, and how it reads its flags: when its plugin has been looked up. */
#include <stdlib.h>

const char* GetPjrtApi(void);

const char* GetPjrtApi(void) {
  const char* flags = getenv("XLA_FLAGS");
  return flags == NULL ? "none" : flags;
}
