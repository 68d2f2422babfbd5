// No pthread_cancel() within a scope.
#pragma once

#include <pthread.h>

namespace vernier {

// One in each scope that opens, reads or writes a file: there a cancelled thread would end, and its way out of it meets
// functions that nothing may leave, which ends the process. A cancellation waits; products alone have no such place.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace vernier
