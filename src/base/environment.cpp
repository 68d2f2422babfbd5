#include "base/environment.hpp"

#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>

namespace vernier {
namespace {

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { in_forked_child = true; });

}  // namespace

[[gnu::hot]] int usable_threads(int asked) {
  if (asked == 1 || in_forked_child) return 1;
  const int wanted = asked > 0 ? asked : omp_in_parallel() != 0 ? 1 : omp_get_max_threads();
  // Of the machine, not of the calling thread, which may be pinned. It asks the kernel: once is enough.
  static const int most = std::max(1, 4 * static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)));
  return std::clamp(wanted, 1, std::min(omp_get_thread_limit(), most));
}

}  // namespace vernier
