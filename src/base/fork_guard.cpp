// Static variables of functions, for a child of fork(): what another thread was making in the parent is made again. The
// C++ library's own functions, which these replace (Itanium C++ ABI, 3.3.3), have the child wait for a thread that it
// does not have.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace vernier {
namespace {

// The compiler looks at the first byte alone.
struct Guard {
  std::uint8_t made;
  std::uint32_t maker;  // which process is making it; 0 if none is
};

// Told apart by how often they were forked.
constinit std::uint32_t this_process = 1;
[[maybe_unused]] const int counts_forks = pthread_atfork(nullptr, nullptr, [] { ++this_process; });

constexpr useconds_t moment = 50;  // first calls alone wait, and briefly

bool is_made(Guard* guard) { return std::atomic_ref(guard->made).load(std::memory_order_acquire) != 0; }

bool begins_to_make(Guard* guard) {
  const std::atomic_ref maker(guard->maker);
  while (!is_made(guard)) {
    std::uint32_t seen = maker.load(std::memory_order_relaxed);
    if (seen == this_process) {
      usleep(moment);
    } else if (maker.compare_exchange_weak(seen, this_process, std::memory_order_acquire)) {
      if (!is_made(guard)) return true;
      maker.store(0, std::memory_order_relaxed);
    }
  }
  return false;
}

void ends_making(Guard* guard, bool made) {
  if (made) std::atomic_ref(guard->made).store(1, std::memory_order_release);
  std::atomic_ref(guard->maker).store(0, std::memory_order_release);
}

}  // namespace
}  // namespace vernier

extern "C" {
[[gnu::visibility("hidden")]] int __cxa_guard_acquire(long long* guard) {
  return vernier::begins_to_make(reinterpret_cast<vernier::Guard*>(guard)) ? 1 : 0;
}
[[gnu::visibility("hidden")]] void __cxa_guard_release(long long* guard) {
  vernier::ends_making(reinterpret_cast<vernier::Guard*>(guard), true);
}
[[gnu::visibility("hidden")]] void __cxa_guard_abort(long long* guard) {
  vernier::ends_making(reinterpret_cast<vernier::Guard*>(guard), false);
}
}
