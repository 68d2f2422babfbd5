// How the blocks of a strip learn what the others found on GPUs without clusters: through device memory.
//
// A block waits for others of its strip, which need not run yet. So places are given out in the order in which blocks
// begin: whoever has an earlier place runs, and only the last strip that has begun may wait for blocks that have not.
// They come as soon as an earlier strip, of which all blocks run, has ended.
#pragma once

#include <cstdint>

#include "engine/panel.hpp"
#include "residue/convert/strip.cuh"

namespace vernier::cuda {

template <class Findings>
class MemoryMeeting {
 public:
  static constexpr bool in_cluster = false;
  static constexpr int rounds = 2;
  static_assert(alignof(Findings) == 16);
  struct Shared {
    Findings of[most_strip_blocks];
    int block;
  };

  // Counters, which are zero before the kernel: of blocks that have begun, and of each strip. Findings lie behind them.
  static constexpr std::int64_t counter_bytes(std::int64_t strips) { return round_up((1 + strips) * 4, 16); }
  static constexpr std::int64_t bytes(std::int64_t strips, int blocks) {
    return counter_bytes(strips) + strips * blocks * rounds * std::int64_t{sizeof(Findings)};
  }

  static void prepare(std::int64_t strips, const MeetingPlace& place, cudaStream_t stream) {
    const auto bytes = static_cast<std::size_t>(counter_bytes(strips));
    check(cudaMemsetAsync(place.data, 0, bytes, stream), "counters of strips");
  }

  template <class Task>
  __device__ MemoryMeeting(Findings& mine, Shared& shared, const Task& task)
      : mine_(mine), shared_(shared), blocks_(task.parts) {
    unsigned* counters = reinterpret_cast<unsigned*>(task.meeting);
    if (threadIdx.x == 0) shared.block = static_cast<int>(atomicAdd(counters, 1u));
    __syncthreads();
    const int strips = task.strips[0] + task.strips[1], strip = shared.block / blocks_;
    counter_ = counters + 1 + strip;
    findings_ = reinterpret_cast<Findings*>(task.meeting + counter_bytes(strips)) + strip * blocks_ * rounds;
  }

  __device__ int block() const { return shared_.block; }
  __device__ int blocks() const { return blocks_; }

  // From here on all blocks know what each has found.
  __device__ void share() {
    const int rank = shared_.block % blocks_;
    Findings* const round = findings_ + round_++ * blocks_;
    __syncthreads();
    copy(&round[rank], &mine_, 1, [](uint4* to, const uint4* from) { *to = *from; });
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(counter_, 1u);
      while (*static_cast<const volatile unsigned*>(counter_) < static_cast<unsigned>(round_ * blocks_)) {
      }
      __threadfence();
    }
    __syncthreads();
    copy(shared_.of, round, blocks_, [](uint4* to, const uint4* from) { *to = __ldcg(from); });
    __syncthreads();
  }
  __device__ const Findings& of(int rank) const { return shared_.of[rank]; }
  __device__ void leave() const {}
  __device__ void end() const {}

 private:
  template <class Copy>
  static __device__ void copy(Findings* to, const Findings* from, int count, Copy one) {
    const int quads = count * static_cast<int>(sizeof(Findings) / sizeof(uint4));
    for (int i = static_cast<int>(threadIdx.x); i < quads; i += static_cast<int>(blockDim.x))
      one(reinterpret_cast<uint4*>(to) + i, reinterpret_cast<const uint4*>(from) + i);
  }

  Findings& mine_;
  Shared& shared_;
  int blocks_, round_ = 0;
  unsigned* counter_;
  Findings* findings_;
};

}  // namespace vernier::cuda
