#include "base/environment.hpp"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>

namespace vernier {
namespace {

std::atomic<bool> in_forked_child{false};

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { in_forked_child = true; });

}  // namespace

int usable_threads(int asked) {
  if (in_forked_child) return 1;
  const int wanted = asked > 0 ? asked : omp_in_parallel() != 0 ? 1 : omp_get_max_threads();
  static const int most = std::min(omp_get_thread_limit(), 4 * omp_get_num_procs());  // asks the kernel: once is enough
  return std::clamp(wanted, 1, most);
}

}  // namespace vernier
