// Products of residues by mma.sync, on every GPU from compute capability 8.0 on: one persistent launch over (plane,
// tile of C); a plane is a modulus, or one of several products modulo p.
//
// A warp takes 64 columns of B ("x", the M side, so that a thread's accumulators are neighbours in a column of C) by 64
// rows of A ("y"), as 4 x 8 instructions of 16 x 8. A stage in shared memory holds 64 bytes of k of the block's
// vectors; stages of the next tile are on their way while sums of this one are reduced modulo p in registers.
//
// Fragments and copies come one by one between multiplications: a row of them in one place keeps the multiplier waiting
// while shared memory works, and shared memory while the multiplier does.
//
// k <= 65536: sums of 255 * 255 stay below 2^32, and the 32-bit sums are read as unsigned.
#pragma once

#include <bit>

#include "engine/int8_mma_feed.cuh"

namespace vernier::cuda {

template <int Rows = mma_warp_side>
struct MmaSums {
  int of[4][Rows / 8][4];  // [16 columns][8 rows][as mma_unsigned_bytes() leaves them]

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int c = 0; c < 4; ++c)
#pragma unroll
      for (int r = 0; r < Rows / 8; ++r)
#pragma unroll
        for (int e = 0; e < 4; ++e) of[c][r][e] = 0;
  }

  // A warp has one unit of C across and some down, in the order in which its lanes hold them.
  __device__ __forceinline__ void store(const MmaTask& task, const ByteReduction<1>& r, int plane, int across,
                                        int down) const {
    if (task.accumulate)
      store_units<true>(task, r, plane, across, down);
    else
      store_units<false>(task, r, plane, across, down);
  }

 private:
  template <bool Accumulate>
  __device__ __forceinline__ void store_units(const MmaTask& task, const ByteReduction<1>& r, int plane, int across,
                                              int down) const {
    if (across >= task.units_across) return;
    const std::int64_t column = static_cast<std::int64_t>(plane) * task.units_across + across;
#pragma unroll
    for (int unit = 0; unit < Rows / unit_rows; ++unit) {
      if (down + unit >= task.units_down) return;
      uint4* to =
          reinterpret_cast<uint4*>(task.out + (column * task.units_down + down + unit) * unit_bytes) + threadIdx.x % 32;
#pragma unroll
      for (int c = 0; c < 4; ++c) store_residues<Accumulate>(&of[c][4 * unit][0], r, to + 32 * c);
    }
  }
};

// Where a warp's vectors lie in a stage, for this lane; which stage.
template <class T>
class MmaPlace {
 public:
  __device__ __forceinline__ explicit MmaPlace(std::uint32_t stages, int warp = threadIdx.x / 32) {
    const int across = warp % T::warps_across, down = warp / T::warps_across;
    x_ = stages + across * mma_warp_side * T::depth + staged_x<T::depth>(0);
    y_ = stages + T::x_bytes + down * T::tile.warp_rows * T::depth + staged_y<T::depth>(0);
  }
  // 32 bytes of k of 16 vectors, the part-th of a row: parts lie in other banks than their neighbours.
  __device__ __forceinline__ void load_x(std::uint32_t (&to)[4], int part, int block) const {
    load_matrices(to, (x_ ^ part * 32) + block * 16 * T::depth);
  }
  __device__ __forceinline__ void load_y(std::uint32_t (&to)[4], int part, int block) const {
    load_matrices(to, (y_ ^ part * 32) + block * 16 * T::depth);
  }
  __device__ __forceinline__ int slot() const { return one_number ? turn_ % T::stages : turn_; }
  __device__ __forceinline__ std::uint32_t parity() const { return one_number ? turn_ / T::stages : parity_; }
  __device__ __forceinline__ bool is_first() const { return slot() == 0; }
  __device__ __forceinline__ void advance() {
    if (one_number)
      turn_ = (turn_ + 1) % (2 * T::stages);
    else if (++turn_ == T::stages)
      turn_ = 0, parity_ ^= 1;
    const int on = T::stage_bytes - (is_first() ? T::stages * T::stage_bytes : 0);
    x_ += on;
    y_ += on;
  }

 private:
  // The slot and its round's parity are one number where registers are short.
  static constexpr bool one_number = T::tile.has_feeder() && std::has_single_bit(unsigned{T::stages});

  std::uint32_t x_, y_;
  std::uint32_t turn_ = 0, parity_ = 0;
};

// Fragments of 32 bytes of k, a part of a step, and those of the next part: they come one by one beside the
// multiplications.
class MmaFragments {
 public:
  static constexpr int turns = 16;  // of a part: 16 columns by 16 rows each

  template <class T>
  __device__ __forceinline__ void begin(const MmaPlace<T>& at) {
#pragma unroll
    for (int i = 0; i < 8; ++i) load(at, 0, i);
  }
  // What comes beside a turn of the part before.
  template <class T>
  __device__ __forceinline__ void load_in_turn(const MmaPlace<T>& at, int part, int turn) {
    if (turn % 2 == 0) load(at, part, turn / 2);
  }
  __device__ __forceinline__ void multiply(MmaSums<>& sums, int part, int turn) const {
    const int row = turn / 4, column = row % 2 == 0 ? turn % 4 : 3 - turn % 4;  // the one before is at hand
    const std::uint32_t(&x)[4] = x_[part % 2][column], (&y)[4] = y_[part % 2][row];
    mma_unsigned_bytes(sums.of[column][2 * row], x, y[0], y[1]);
    mma_unsigned_bytes(sums.of[column][2 * row + 1], x, y[2], y[3]);
  }

 private:
  // In the order of their use.
  template <class T>
  __device__ __forceinline__ void load(const MmaPlace<T>& at, int part, int i) {
    if (i == 0)
      at.load_y(y_[part % 2][0], part, 0);
    else if (i <= 4)
      at.load_x(x_[part % 2][i - 1], part, i - 1);
    else
      at.load_y(y_[part % 2][i - 4], part, i - 4);
  }

  std::uint32_t x_[2][4][4], y_[2][4][4];  // [part modulo 2][16 columns or rows][matrix]
};

// Copies in a turn of those before the last part: all of a stage, in groups, since each group costs three instructions
// more.
template <class T>
__device__ __forceinline__ void copy_in_turn(MmaFeed<T>& feed, int turn) {
  constexpr int turns = (T::depth / 32 - 1) * MmaFragments::turns, group = T::tile.group;
#pragma unroll
  for (int first = 0; first < T::copies; first += group)
    if (first * turns / T::copies == turn)
#pragma unroll
      for (int i = first; i < first + group && i < T::copies; ++i) feed.copy(i);
}

// A stage. All threads meet once: behind it the next stage's copies have arrived, and nobody reads this one any more.
template <class T>
__device__ __forceinline__ void multiply_step(MmaFragments& fragments, MmaPlace<T>& at, MmaFeed<T>& feed,
                                              MmaSums<>& sums) {
  constexpr int parts = T::depth / 32;
  static_assert(parts % 2 == 0);
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    const bool last = part == parts - 1;
    if (last) {
      feed.close(at.is_first());  // of the stage before this one
      wait_for_copies_but<T::stages - 2>();
      __syncthreads();
      at.advance();
    }
#pragma unroll
    for (int turn = 0; turn < MmaFragments::turns; ++turn) {
      fragments.load_in_turn(at, last ? 0 : part + 1, turn);
      fragments.multiply(sums, part, turn);
      if (!last) copy_in_turn(feed, part * MmaFragments::turns + turn);
    }
  }
}

// The tiles of one block. stages: in shared memory, T::tile.shared_bytes().
template <class T>
__device__ __forceinline__ void multiply_tiles(std::uint32_t stages, const MmaReductions& reductions,
                                               const MmaTask& task) {
  const int warp = threadIdx.x / 32, x = warp % T::warps_across, y = warp / T::warps_across;
  typename T::Jobs jobs(task.grid, blockIdx.x, gridDim.x);
  if (jobs.done()) return;
  MmaFeed<T> feed(task, stages);
#pragma unroll 1
  for (int stage = 0; stage < T::stages - 1; ++stage) {
#pragma unroll
    for (int i = 0; i < T::copies; ++i) feed.copy(i);
    feed.close(false);
  }
  wait_for_copies_but<T::stages - 2>();
  __syncthreads();

  MmaPlace<T> at(stages);
  MmaFragments fragments;
  fragments.begin(at);
  for (; !jobs.done(); jobs.advance()) {
    MmaSums<> sums;
    sums.clear();
#pragma unroll 1
    for (int step = 0; step < task.steps; ++step) multiply_step(fragments, at, feed, sums);
    const TileJob job = jobs.job();
    sums.store(task, reductions.of[job.plane / task.products], job.plane, job.x * T::columns / unit_columns + x,
               (job.y * T::rows + y * mma_warp_side) / unit_rows);
  }
  wait_for_copies();
}

}  // namespace vernier::cuda
