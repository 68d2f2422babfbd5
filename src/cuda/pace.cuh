// Keeps the producers of a persistent product near each other along k (cuda/pace.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/pace.hpp"
#include "cuda/status.hpp"

namespace vernier::cuda {

// steps: a word in device memory, which is cleared; or null.
inline Pace start_pace(std::uint32_t* steps, int producers, std::int64_t turns, std::int64_t boxes,
                       cudaStream_t stream) {
  if (steps == nullptr) return {};
  check(cudaMemsetAsync(steps, 0, sizeof *steps, stream), "steps");
  return {steps, producers, static_cast<int>(turns * ((boxes + Pace::boxes - 1) / Pace::boxes))};
}

// Of one producer. What it computes does not depend on it: a producer that has waited too long, for others that do not
// run yet, counts on but waits no more.
class Pacer {
 public:
  explicit __device__ __forceinline__ Pacer(const Pace& pace) : pace_(pace) {}

  // Before a tile's box i along k.
  __device__ __forceinline__ void before(int i) {
    if (pace_.steps == nullptr || i % Pace::boxes != 0) return;
    const std::uint32_t others = static_cast<std::uint32_t>(taken_) * static_cast<std::uint32_t>(pace_.producers);
    atomicAdd(pace_.steps, 1u);
    ++taken_;
    if (alone_) return;
    const std::uint64_t start = nanoseconds();
    while (static_cast<int>(*static_cast<const volatile std::uint32_t*>(pace_.steps) - others) < 0 && !alone_)
      alone_ = nanoseconds() - start > patience;
  }

  // After the last tile: nobody waits for who has ended.
  __device__ __forceinline__ void end() const {
    if (pace_.steps != nullptr) atomicAdd(pace_.steps, static_cast<std::uint32_t>(pace_.most - taken_));
  }

 private:
  static constexpr std::uint64_t patience = 100000;  // nanoseconds: several steps

  static __device__ __forceinline__ std::uint64_t nanoseconds() {
    std::uint64_t t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
  }

  const Pace& pace_;
  int taken_ = 0;
  bool alone_ = false;
};

}  // namespace vernier::cuda
