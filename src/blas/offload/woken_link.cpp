#include <omp.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "blas/offload/device.hpp"
#include "blas/offload/offload.hpp"

namespace vernier {
namespace {

// Of two tries the better, in bytes a second.
double measured_rate(std::int64_t m, std::int64_t n, std::int64_t k, bool up, int threads) {
  std::vector<double> a(static_cast<std::size_t>(m * k), 1), b(static_cast<std::size_t>(k * n), 1),
      c(static_cast<std::size_t>(m * n), 0);
  const offload::ScheduleRequest request{.m = m, .n = n, .k = k, .memory = std::size_t{1} << 30};
  double best = 0;
  for (int turn = 0; turn < 2; ++turn) {
    const auto link = offload::cuda_link(0, [](const offload::BlockOnDevice&) {});
    const offload::Copied copied = offload::copy_packed(*link, request, a.data(), b.data(), c.data(), threads);
    best = std::max(best, static_cast<double>(up ? copied.up : copied.down) / copied.seconds);
  }
  return best;
}

HostLink measure_link() {
  HostLink link;
  link.devices = offload::device_count();
  if (link.devices == 0) {
    link.missing = offload::missing_device();
    return link;
  }
  try {
    const int threads = offload_threads({});
    link.name = offload::device_name(0);
    link.free_bytes = offload::free_memory(0);
    link.up = measured_rate(256, 256, 16384, true, threads);
    link.down = measured_rate(2048, 2048, 16, false, threads);
  } catch (const std::exception& error) {
    link.devices = 0;
    link.missing = error.what();
  }
  return link;
}

std::atomic<bool> awake{false};

// What is slow once a process: the context, staging memory, cuBLAS and kernels. Failures show again where it is used.
void wake() noexcept try {
  if (offload::device_count() == 0) return;
  (void)measured_rate(256, 256, 256, true, 1);
  constexpr std::int64_t n = 512;
  std::vector<double> x(static_cast<std::size_t>(n * n), 1), c(x.size());
  const OffloadTarget<double> target = cuda_target<double>({});
  if (target.devices > 0)
    (void)offloaded_gemm<double>({Op::none, Op::none, n, n, n, 1.0, x.data(), n, x.data(), n, 0.0, c.data(), n},
                                 {.threads = 1}, target);
  (void)measured_link();
} catch (const std::exception&) {
}

// Wakes CUDA in a thread of its own, which a child of this process does not have.
class Waker {
 public:
  static Waker& instance() {
    static auto* waker = new Waker;  // never destroyed: the thread may still be at work
    return *waker;
  }

  void begin() {
    std::call_once(begun_, [this] { start(); });
  }

 private:
  void start() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's handlers are for its own threads
    try {
      process_ = getpid();
      thread_ = std::thread([this] {
        wake();
        awake.store(true, std::memory_order_release);
      });
      std::atexit([] { instance().wait(); });
    } catch (const std::system_error&) {
      awake.store(true, std::memory_order_release);  // whoever comes first wakes it
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void wait() {
    if (process_ == getpid() && thread_.joinable()) thread_.join();
  }

  std::once_flag begun_;
  std::thread thread_;
  pid_t process_ = 0;
};

}  // namespace

const HostLink& measured_link() {
  static const HostLink once = [] {
    HostLink link;
    const auto measure = [&] { link = measure_link(); };
    if (omp_in_parallel() == 0) return measure(), link;
    try {
      std::thread(measure).join();  // OpenMP has one thread in a parallel region
    } catch (const std::system_error&) {
      measure();
    }
    return link;
  }();
  awake.store(true, std::memory_order_release);
  return once;
}

const HostLink* link_if_awake() {
  if (!awake.load(std::memory_order_acquire)) Waker::instance().begin();
  return awake.load(std::memory_order_acquire) ? &measured_link() : nullptr;
}

}  // namespace vernier
