// How the split operands of a tile come to shared memory for mma.sync (mma_split.cuh).
#pragma once

#include <cstdint>

#include "cuda/matrix_fragments.cuh"
#include "cuda/ptx.cuh"
#include "cuda/staged_rows.cuh"

namespace vernier::cuda {

// Stages in shared memory that all threads of a block fill by cp.async and all warps read, without a barrier at which
// all of them meet: a warp waits for what it reads, and before it fills a stage, for those that still read it.
//
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

// RunHalves: halves of a step that a run has.
template <FloatWord Word_, int RunHalves_ = 2>
struct MmaSplitConfig {
  static constexpr FloatWord Word = Word_;
  static constexpr int parts = Word == FloatWord::bf16 ? 3 : 2, RunHalves = RunHalves_;
  static constexpr int warps_across = 2, warps_down = 4, threads = 32 * warps_across * warps_down;
  static constexpr int warp_tiles = parts == 3 ? 2 : 4;  // of 16 columns
  static constexpr int warp_columns = 16 * warp_tiles, warp_rows = 32;
  static constexpr int columns = warps_across * warp_columns, rows = warps_down * warp_rows;
  // Two parts of a vector's step are one line, in memory and in a stage; three lie apart.
  static constexpr int row = parts == 2 ? 128 : staged_row, vector_bytes = parts * staged_row;
  static constexpr int x_bytes = columns * vector_bytes, y_bytes = rows * vector_bytes;
  static constexpr int stage_bytes = x_bytes + y_bytes, stages = parts == 3 ? 2 : 3;
  static constexpr int barriers = stages * stage_bytes, shared_bytes = barriers + StageBarriers<stages>::bytes;
  static_assert(shared_bytes + 4 * (columns + rows) + 1024 <= 100 * 1024);  // of GPUs of 8.6, 8.9 and 12.0
};

// The lines of one operand.
struct MmaSplitVectors {
  const std::byte* lines;
  int count, pitch;  // vectors; bytes of each
};

// One thread's share of the copies of a step of a tile's vectors, from vector `first` on. Those beyond the matrix are
// its last one: what becomes of them nobody stores. All addresses are computed anew: registers are for sums.
template <class Config, int Vectors>
__device__ __forceinline__ void copy_step(const MmaSplitVectors& x, int first, int step, std::uint32_t to) {
  constexpr int chunks = Config::parts * staged_row / 16, copies = Vectors * chunks / Config::threads;
  static_assert(Vectors * chunks % Config::threads == 0);
#pragma unroll
  for (int i = 0; i < copies; ++i) {
    const int at = threadIdx.x + i * Config::threads, vector = at / chunks, chunk = at % chunks;
    const int place = Config::parts == 2 ? staged_byte<128>(vector, chunk)
                                         : chunk / 4 * (Vectors * staged_row) + staged_byte(vector, chunk % 4);
    copy_16_bytes(to + place, x.lines + static_cast<std::int64_t>(min(first + vector, x.count - 1)) * x.pitch +
                                  step * (Config::parts * staged_row) + chunk * 16);
  }
}

// The operands of tile (x, y) on their way through the stages, and where a warp finds its own. A stage is filled as
// many steps ahead as there are others.
template <class Config>
class MmaSplitStages {
 public:
  __device__ __forceinline__ MmaSplitStages(std::uint32_t stages, const MmaSplitVectors& columns, int x,
                                            const MmaSplitVectors& rows, int y, int steps)
      : columns_(columns), rows_(rows), x_(x), y_(y), steps_(steps), stages_(stages) {
    barriers().begin(Config::threads);
#pragma unroll 1
    for (int s = 0; s + 1 < Config::stages; ++s) fill();
  }

  __device__ __forceinline__ std::uint32_t x_part() const {
    const int across = threadIdx.x / 32 % Config::warps_across;
    return stage(used_.stage) + across * Config::warp_columns * Config::row;
  }
  __device__ __forceinline__ std::uint32_t y_part() const {
    const int down = threadIdx.x / 32 / Config::warps_across;
    return stage(used_.stage) + Config::x_bytes + down * Config::warp_rows * Config::row;
  }

  __device__ __forceinline__ void fill() {
    if (step_ == steps_) return;
    wait_at(barriers().read(filled_.stage), filled_.parity ^ 1);
    const std::uint32_t to = stage(filled_.stage);
    copy_step<Config, Config::columns>(columns_, x_ * Config::columns, step_, to);
    copy_step<Config, Config::rows>(rows_, y_ * Config::rows, step_, to + Config::x_bytes);
    arrive_with_copies(barriers().full(filled_.stage));
    filled_.advance();
    ++step_;
  }
  __device__ __forceinline__ void wait() const { wait_at(barriers().full(used_.stage), used_.parity); }
  __device__ __forceinline__ void leave() {
    barriers().leave(used_.stage);
    used_.advance();
  }
  // By all threads: nobody reads a stage any more.
  __device__ __forceinline__ void end() const {
    __syncthreads();
    barriers().end();
  }

 private:
  using Barriers = StageBarriers<Config::stages>;

  __device__ __forceinline__ Barriers barriers() const { return {stages_ + Config::barriers}; }
  __device__ __forceinline__ std::uint32_t stage(int slot) const { return stages_ + slot * Config::stage_bytes; }

  const MmaSplitVectors &columns_, &rows_;
  int x_, y_, steps_, step_ = 0;  // the step that is filled next
  std::uint32_t stages_;
  RingPlace<Config::stages> filled_, used_;
};

}  // namespace vernier::cuda
