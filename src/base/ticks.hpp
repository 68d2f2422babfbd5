// A clock for what is too brief for two looks at the system's (20 ns each): the processor's time-stamp counter where it
// counts at one rate whatever the processor does, else nanoseconds.
#pragma once

#include <atomic>
#include <cstdint>

namespace vernier {

enum class TickSource { unknown, counter, clock };
inline constinit std::atomic<TickSource> tick_source{TickSource::unknown};

TickSource find_tick_source();
std::uint64_t clock_nanoseconds();

inline std::uint64_t ticks() {
  TickSource source = tick_source.load(std::memory_order_relaxed);
  if (source == TickSource::unknown) [[unlikely]]
    source = find_tick_source();
#ifdef __x86_64__
  if (source == TickSource::counter) return __builtin_ia32_rdtsc();
#endif
  return clock_nanoseconds();
}

// Processors of several sockets may count a little apart.
inline std::uint64_t ticks_since(std::uint64_t start) {
  const std::uint64_t now = ticks();
  return now > start ? now - start : 0;
}

// Measured once, in 50 us, to a thousandth.
inline constinit std::atomic<double> known_seconds_per_tick{0};
double find_seconds_per_tick();
inline double seconds_per_tick() {
  const double known = known_seconds_per_tick.load(std::memory_order_relaxed);
  return known > 0 ? known : find_seconds_per_tick();
}

}  // namespace vernier
