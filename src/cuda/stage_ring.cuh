// Stages in shared memory that all threads of a block fill by cp.async and all warps read, without a barrier at which
// all of them meet: a warp waits for what it reads, and before it fills a stage, for those that still read it.
#pragma once

#include <cstdint>

#include "cuda/matrix_fragments.cuh"

namespace vernier::cuda {

// Two barriers a stage: all threads' copies are there; all threads have read them.
template <int Stages>
struct StageBarriers {
  static constexpr int bytes = 16 * Stages;
  std::uint32_t at;  // in shared memory

  __device__ __forceinline__ std::uint32_t full(int slot) const { return at + 8 * slot; }
  __device__ __forceinline__ std::uint32_t read(int slot) const { return at + 8 * (Stages + slot); }

  // By all threads; before any is used.
  __device__ __forceinline__ void begin(int threads) const {
    if (threadIdx.x == 0)
#pragma unroll
      for (int barrier = 0; barrier < 2 * Stages; ++barrier) begin_barrier(full(barrier), threads);
    __syncthreads();
  }
  // Behind a __syncthreads() after the last use.
  __device__ __forceinline__ void end() const {
    if (threadIdx.x == 0)
#pragma unroll
      for (int barrier = 0; barrier < 2 * Stages; ++barrier) end_barrier(full(barrier));
  }
  // Each thread for itself: one lane behind a __syncwarp() is no faster (docs/decisions.md).
  __device__ __forceinline__ void leave(int slot) const { arrive_at(read(slot)); }
};

// A place in the ring of stages, and the parity of the round.
template <int Stages>
struct StagePlace {
  int slot = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++slot < Stages) return;
    slot = 0;
    parity ^= 1;
  }
};

}  // namespace vernier::cuda
