// fork as the program calls it, which waits for threads that load libvernier: what the loader has half done is of no
// use to a child, and handlers that a library registers while fork() runs come too late for it.
#include <dlfcn.h>
#include <sys/types.h>

#include <atomic>

#include "libvernier.hpp"
#include "original.hpp"

extern "C" __attribute__((visibility("default"))) pid_t fork() noexcept {
  using namespace vernier::interpose;
  static constinit std::atomic<void*> next{nullptr};
  if (next == nullptr) next = look_up(RTLD_NEXT, "fork");
  return fork_while_none_loads(reinterpret_cast<pid_t (*)()>(next.load()));
}
