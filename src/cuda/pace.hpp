// Whether the blocks of a persistent product keep pace along k, and what they need for it (pace.cuh).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/status.hpp"

namespace vernier::cuda {

// Blocks that multiply neighbouring tiles read the same operands, and the second-level cache gives each of them to all
// who ask at about the same time. Nothing keeps them together: in a long product they drift apart along k, until most
// of what they read comes from memory again (docs/performance.md). So one thread of each counts its steps, and waits
// where it is ahead of the average.
struct Pace {
  static constexpr int boxes = 16;  // of 128 bytes along k: a step

  std::uint32_t* steps = nullptr;  // of all producers together, from 0; null: each goes as it likes
  int producers = 0;               // threads that feed a block
  int most = 0;                    // steps of one of them, at most
};

// turns: tiles that a block multiplies; boxes: along k. Shorter products do not drift far, and waiting costs them 1 to
// 3 % (docs/decisions.md).
constexpr bool pace_pays(std::int64_t turns, std::int64_t boxes) { return boxes >= 64 && turns * boxes >= 40000; }

// steps: a word in device memory, which is cleared; or null.
inline Pace start_pace(std::uint32_t* steps, int producers, std::int64_t turns, std::int64_t boxes,
                       cudaStream_t stream) {
  if (steps == nullptr) return {};
  check(cudaMemsetAsync(steps, 0, sizeof *steps, stream), "steps");
  return {steps, producers, static_cast<int>(turns * ((boxes + Pace::boxes - 1) / Pace::boxes))};
}

}  // namespace vernier::cuda
