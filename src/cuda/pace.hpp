// Whether the blocks of a persistent product on a GPU keep pace along k, and what they need for it (cuda/pace.cuh).
#pragma once

#include <cstdint>

namespace vernier {

// Blocks that multiply neighbouring tiles read the same operands, and the second-level cache gives each of them to all
// who ask at about the same time. Nothing keeps them together: in a long product they drift apart along k, until most
// of what they read comes from memory again (docs/performance.md). So one thread of each counts its steps, and waits
// where it is ahead of the average. Where other kernels hold multiprocessors, so that some blocks begin late, the rest
// wait once, for 0.1 ms, and go as they like from then on.
struct Pace {
  static constexpr int boxes = 16;  // of 128 bytes along k: a step

  std::uint32_t* steps = nullptr;  // of all producers together, from 0; null: each goes as it likes
  int producers = 0;               // threads that feed a block
  int most = 0;                    // steps of one of them, at most
};

// turns: tiles that a block multiplies; boxes: along k. Products shorter than least do not drift far, and waiting costs
// them 1 to 3 % (docs/decisions.md).
constexpr bool pace_pays(std::int64_t turns, std::int64_t boxes, std::int64_t least = 40000) {
  return boxes >= 64 && turns * boxes >= least;
}

}  // namespace vernier
