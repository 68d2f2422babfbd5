/* A driver that says that all streams capture, or none. */
#include <stdlib.h>

int cuStreamIsCapturing(void* stream, int* status);

int cuStreamIsCapturing(void* stream, int* status) {
  (void)stream;
  *status = getenv("FAKE_CAPTURING") != NULL;
  return 0;
}
