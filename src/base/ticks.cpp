#include "base/ticks.hpp"

#include <time.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace vernier {
namespace {

bool counts_at_one_rate() {
#ifdef __x86_64__
  constexpr unsigned power_management = 0x80000007, invariant_counter = 1U << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(power_management, &a, &b, &c, &d) != 0 && (d & invariant_counter) != 0;
#else
  return false;
#endif
}

struct Moment {
  std::uint64_t ticks, nanoseconds;
};

// Of a few looks at both the one that nothing came between.
Moment look_at_both() {
  Moment best{};
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = ticks(), nanoseconds = clock_nanoseconds(), between = ticks_since(before);
    if (between >= least) continue;
    least = between;
    best = {before + between / 2, nanoseconds};
  }
  return best;
}

double measured_seconds_per_tick() {
  constexpr std::uint64_t long_enough = 50'000;
  const Moment start = look_at_both();
  while (clock_nanoseconds() - start.nanoseconds < long_enough) {
  }
  const Moment end = look_at_both();
  if (end.ticks <= start.ticks) return 0;  // as no counter does
  return 1e-9 * static_cast<double>(end.nanoseconds - start.nanoseconds) / static_cast<double>(end.ticks - start.ticks);
}

}  // namespace

TickSource find_tick_source() {
  const TickSource found = counts_at_one_rate() ? TickSource::counter : TickSource::clock;
  tick_source.store(found, std::memory_order_relaxed);
  return found;
}

std::uint64_t clock_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

double find_seconds_per_tick() {
  if (ticks(); tick_source.load(std::memory_order_relaxed) == TickSource::clock) return 1e-9;
  static const double once = measured_seconds_per_tick();
  known_seconds_per_tick.store(once, std::memory_order_relaxed);
  return once;
}

}  // namespace vernier
