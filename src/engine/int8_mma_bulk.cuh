// The int8 kernel by mma.sync where a GPU has bulk tensor copies, from compute capability 9.0 on: one thread asks for a
// stage, and a copy of a line takes half of the cycles of shared memory that cp.async takes (docs/decisions.md).
//
// A warp waits for stages, and never for other warps: those of the upper half of a tile begin `lag` stages later, so
// that they multiply while the lower half reduces its sums, and the other way round.
#pragma once

#include "engine/int8_mma.cuh"

namespace vernier::cuda {

// Barriers behind the stages in shared memory: a stage is there; all warps have read it; the lower half has begun.
template <class T>
struct BulkBarriers {
  std::uint32_t at;

  __device__ __forceinline__ std::uint32_t full(int slot) const { return at + 8 * slot; }
  __device__ __forceinline__ std::uint32_t read(int slot) const { return at + 8 * (T::stages + slot); }
  __device__ __forceinline__ std::uint32_t begun() const { return at + 8 * (2 * T::stages); }

  // By one thread.
  __device__ __forceinline__ void begin() const {
#pragma unroll
    for (int slot = 0; slot < T::stages; ++slot) {
      barrier_init(full(slot), 1);
      barrier_init(read(slot), T::warps);
    }
    barrier_init(begun(), T::warps / 2);
    fence_barrier_init();
  }
};

// By one thread: stages of one tile after another, and one more, which warps take fragments of behind the last tile.
template <class T>
class BulkFeed {
 public:
  __device__ __forceinline__ BulkFeed(const CUtensorMap& columns, const CUtensorMap& rows, std::uint32_t stages,
                                      const MmaTask& task)
      : columns_(columns), rows_(rows), stages_(stages), task_(task), jobs_(task.grid, blockIdx.x, gridDim.x) {
    job_ = jobs_.job();
  }
  __device__ __forceinline__ bool over() const { return over_; }

  // Waits until all warps have read what was there.
  __device__ __forceinline__ void copy() {
    const BulkBarriers<T> barriers{stages_ + T::stages * T::stage_bytes};
    barrier_wait(barriers.read(slot_), parity_);
    barrier_expect(barriers.full(slot_), T::stage_bytes);
    const std::uint32_t to = stages_ + slot_ * T::stage_bytes;
    load_box(to, &columns_, barriers.full(slot_), step_ * T::depth, job_.x * T::columns, job_.plane);
    load_box(to + T::x_bytes, &rows_, barriers.full(slot_), step_ * T::depth, job_.y * T::rows, job_.plane);
    if (++slot_ == T::stages) slot_ = 0, parity_ ^= 1;
    over_ = jobs_.done();
    if (++step_ < task_.steps || over_) return;
    step_ = 0;
    jobs_.advance();
    if (!jobs_.done()) job_ = jobs_.job();
  }

 private:
  const CUtensorMap &columns_, &rows_;
  std::uint32_t stages_;
  const MmaTask& task_;
  typename T::Jobs jobs_;
  TileJob job_;
  int slot_ = 0, step_ = 0;
  std::uint32_t parity_ = 1;  // of a round that ended before the first one
  bool over_ = false;
};

// Fragments of 32 bytes of k: those of columns are replaced behind their last use, of rows there are two sets.
template <class T>
class RollingFragments {
 public:
  __device__ __forceinline__ void begin(const MmaPlace<T>& at) {
    at.load_y(y_[0], 0, 0);
#pragma unroll
    for (int c = 0; c < 4; ++c) at.load_x(x_[c], 0, c);
  }
  // A stage, and the first fragments of the next one, to which next_stage() goes on.
  template <class NextStage>
  __device__ __forceinline__ void multiply(MmaPlace<T>& at, MmaSums<T::tile.warp_rows>& sums, NextStage next_stage) {
    constexpr int rows = T::tile.warp_rows / 16, parts = T::depth / 32;
    static_assert(rows % 2 == 0);
#pragma unroll
    for (int part = 0; part < parts; ++part)
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const bool last = r == rows - 1;
        const int next = (part + (last ? 1 : 0)) % parts;
        if (last && next == 0) next_stage();
        at.load_y(y_[(r + 1) % 2], next, last ? 0 : r + 1);
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          mma_unsigned_bytes(sums.of[c][2 * r], x_[c], y_[r % 2][0], y_[r % 2][1]);
          mma_unsigned_bytes(sums.of[c][2 * r + 1], x_[c], y_[r % 2][2], y_[r % 2][3]);
          if (last) at.load_x(x_[c], next, c);
        }
      }
  }

 private:
  std::uint32_t x_[4][4], y_[2][4];  // [16 columns or rows][matrix]
};

// A warp's part of the block's tiles; after_stage() is called behind each stage.
template <class T, class AfterStage>
__device__ __forceinline__ void multiply_stages(int warp, std::uint32_t stages, const MmaReductions& reductions,
                                                const MmaTask& task, AfterStage after_stage) {
  const BulkBarriers<T> barriers{stages + T::stages * T::stage_bytes};
  const int x = warp % T::warps_across, y = warp / T::warps_across, lag = min(T::tile.lag, task.steps);
  const bool first = threadIdx.x % 32 == 0;
  if (T::tile.lag > 0 && warp >= T::warps / 2) barrier_wait(barriers.begun(), 0);
  bool tells = T::tile.lag > 0 && warp < T::warps / 2;
  MmaPlace<T> at(stages, warp);
  std::uint32_t parity = 0;
  barrier_wait(barriers.full(0), parity);
  RollingFragments<T> fragments;
  fragments.begin(at);
  for (typename T::Jobs jobs(task.grid, blockIdx.x, gridDim.x); !jobs.done(); jobs.advance()) {
    MmaSums<T::tile.warp_rows> sums;
    sums.clear();
#pragma unroll 1
    for (int left = task.steps; left > 0; --left) {
      fragments.multiply(at, sums, [&] {
        __syncwarp();  // the warp's fragments of this stage are in registers
        if (first) barrier_arrive(barriers.read(at.slot()));
        at.advance();
        if (at.is_first()) parity ^= 1;
        barrier_wait(barriers.full(at.slot()), parity);
      });
      after_stage();
      if (tells && task.steps - left + 1 == lag) {
        if (first) barrier_arrive(barriers.begun());
        tells = false;
      }
    }
    const TileJob job = jobs.job();
    sums.store(task, reductions.of[job.plane / task.products], job.plane, job.x * T::columns / unit_columns + x,
               (job.y * T::rows + y * T::tile.warp_rows) / unit_rows);
  }
}

// A block: its warps, and one more that has the copies made, or the first of those that are behind.
template <class T>
__device__ __forceinline__ void multiply_bulk_tiles(const CUtensorMap& columns, const CUtensorMap& rows,
                                                    std::uint32_t stages, const MmaReductions& reductions,
                                                    const MmaTask& task) {
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
  if (typename T::Jobs(task.grid, blockIdx.x, gridDim.x).done()) return;
  if (threadIdx.x == 0) BulkBarriers<T>{stages + T::stages * T::stage_bytes}.begin();
  __syncthreads();
  constexpr int feeder = T::tile.has_feeder() ? T::warps : T::tile.lag > 0 ? T::warps / 2 : 0;
  constexpr int behind = 1;  // steps that warps may be behind a feeder that multiplies, before it waits for them
  const bool feeds = warp == feeder && threadIdx.x % 32 == 0;
  if constexpr (T::tile.has_feeder()) {
    if (warp < T::warps) return multiply_stages<T>(warp, stages, reductions, task, [] {});
    if (!feeds) return;
    BulkFeed<T> feed(columns, rows, stages, task);
    while (!feed.over()) feed.copy();
  } else {
    BulkFeed<T> feed(columns, rows, stages, task);
    if (feeds)
      for (int stage = 0; stage < T::stages - behind && !feed.over(); ++stage) feed.copy();
    multiply_stages<T>(warp, stages, reductions, task, [&] {
      if (feeds && !feed.over()) feed.copy();
      __syncwarp();
    });
  }
}

}  // namespace vernier::cuda
