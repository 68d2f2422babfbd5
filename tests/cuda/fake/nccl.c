/* Stands in for libnccl.so.2: a communicator says how many ranks there are, and what the others' words sum up to. */
#include <stddef.h>
#include <stdint.h>

struct communicator {
  int ranks, code, type, operation;
  const int64_t* others;
};

int ncclCommCount(const struct communicator* c, int* ranks) {
  *ranks = c->ranks;
  return 0;
}

int ncclAllReduce(const int64_t* from, int64_t* to, size_t count, int type, int operation, struct communicator* c,
                  void* stream) {
  (void)stream;
  c->type = type;
  c->operation = operation;
  if (c->code != 0) return c->code;
  for (size_t i = 0; i < count; ++i) to[i] = from[i] + c->others[i];
  return 0;
}

const char* ncclGetErrorString(int code) { return code == 2 ? "unhandled system error" : "another error"; }
