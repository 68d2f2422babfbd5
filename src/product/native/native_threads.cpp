#include "product/native/native_threads.hpp"

#include <mutex>

#include "base/fork_mutex.hpp"

namespace vernier {
namespace {

int (*const get)() = native_symbol<int (*)()>("openblas_get_num_threads");
void (*const set)(int) = native_symbol<void (*)(int)>("openblas_set_num_threads");
int users = 0, before = 0;

// Never destroyed, as the mutex asks.
ForkMutex& mutex() {
  static ForkMutex& once = *new ForkMutex;
  return once;
}
[[maybe_unused]] const ForkMutex& made_early = mutex();  // no fork() comes in between

}  // namespace

NativeThreads::NativeThreads(int threads) : active_(threads > 0 && get != nullptr && set != nullptr) {
  if (!active_) return;
  const std::lock_guard lock(mutex());
  if (users++ == 0) before = get();
  if (get() != threads) set(threads);
}

NativeThreads::~NativeThreads() {
  if (!active_) return;
  const std::lock_guard lock(mutex());
  if (--users == 0 && get() != before) set(before);
}

}  // namespace vernier
