// The product of split operands by mma.sync where a GPU has bulk tensor copies and 228 KiB of shared memory, from
// compute capability 9.0 on: one thread asks for a stage, and the next tile's first stages come while this one is
// stored (docs/decisions.md).
//
// Supports what mma_split.cuh does, with two parts. Bits are the same.
#pragma once

#include "cuda/tensor_map.hpp"
#include "split/product/mma_split.cuh"

namespace vernier::cuda {

template <class Config>
struct BulkSplit {
  static_assert(Config::row == box_row_bytes, "both parts of a vector's step are one line of a box");
  static constexpr int stages = 4;
  static constexpr int behind = 2;  // steps that warps may be behind the one that asks for stages
  // In shared memory, behind the stages: sums on their way to C, exponents, barriers.
  static constexpr int parked = stages * Config::stage_bytes,
                       exponents = parked + Config::warp_tiles * 16 * Config::threads * 4,
                       barriers = exponents + 4 * (Config::columns + Config::rows),
                       shared_bytes = barriers + StageBarriers<stages>::bytes;
  static_assert(shared_bytes + 1024 <= 228 * 1024);
};

// As MmaSplitStages; stages go on from one tile to the next.
template <class Config>
class BulkSplitStages {
 public:
  // By all threads of the block.
  __device__ __forceinline__ BulkSplitStages(std::uint32_t stages, const CUtensorMap& columns, const CUtensorMap& rows)
      : columns_(columns), rows_(rows), stages_(stages) {
    if (threadIdx.x == 0) {
      prefetch_tensor_map(&columns);
      prefetch_tensor_map(&rows);
#pragma unroll
      for (int slot = 0; slot < Bulk::stages; ++slot) {
        barrier_init(barriers().full(slot), 1);
        barrier_init(barriers().read(slot), Config::threads);
      }
      fence_barrier_init();
    }
    __syncthreads();
  }

  // All warps have left the tile before.
  __device__ __forceinline__ void begin_tile(int x, int y, int steps) {
    column_ = x * Config::columns, row_ = y * Config::rows;
    step_ = 0, steps_ = steps;
#pragma unroll 1
    for (int s = 0; s < Bulk::stages - Bulk::behind; ++s) fill();
  }
  __device__ __forceinline__ std::uint32_t x_part() const {
    return stage(used_.stage) + threadIdx.x / 32 % Config::warps_across * (Config::warp_columns * Config::row);
  }
  __device__ __forceinline__ std::uint32_t y_part() const {
    return stage(used_.stage) + Config::x_bytes +
           threadIdx.x / 32 / Config::warps_across * (Config::warp_rows * Config::row);
  }
  __device__ __forceinline__ void fill() {
    if (step_ == steps_) return;
    if (threadIdx.x == 0) {
      const std::uint32_t full = barriers().full(filled_.stage), to = stage(filled_.stage);
      barrier_wait(barriers().read(filled_.stage), filled_.parity);
      barrier_expect(full, Config::stage_bytes);
      load_box(to, &columns_, full, step_ * box_row_bytes, column_, 0);
      load_box(to + Config::x_bytes, &rows_, full, step_ * box_row_bytes, row_, 0);
    }
    __syncwarp();
    filled_.advance();
    ++step_;
  }
  __device__ __forceinline__ void wait() const { barrier_wait(barriers().full(used_.stage), used_.parity); }
  __device__ __forceinline__ void leave() {
    barriers().leave(used_.stage);
    used_.advance();
  }

 private:
  using Bulk = BulkSplit<Config>;

  __device__ __forceinline__ StageBarriers<Bulk::stages> barriers() const { return {stages_ + Bulk::barriers}; }
  __device__ __forceinline__ std::uint32_t stage(int slot) const { return stages_ + slot * Config::stage_bytes; }

  const CUtensorMap &columns_, &rows_;
  std::uint32_t stages_;
  int column_ = 0, row_ = 0, step_ = 0, steps_ = 0;  // the step that is filled next
  RingPlace<Bulk::stages> filled_{0, 1}, used_;      // the parity of a round that ended before the first one
};

}  // namespace vernier::cuda
