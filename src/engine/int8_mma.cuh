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

#include "cuda/matrix_fragments.cuh"
#include "cuda/pace.cuh"
#include "cuda/ptx.cuh"
#include "cuda/staged_rows.cuh"
#include "engine/int8_mma.hpp"
#include "engine/store_residues.cuh"
#include "engine/tile_jobs.cuh"

namespace vernier::cuda {

// ---- where operands come from, and how they come to shared memory ---------------------------------------------------

template <MmaVariant Variant>
struct MmaTileOf {
  static constexpr MmaTile tile = mma_tiles[Variant];
  static constexpr int columns = tile.columns, rows = tile.rows, stages = tile.stages, threads = tile.threads();
  static constexpr int depth = tile.depth, warps = tile.warps(), warps_across = columns / mma_warp_side;
  static constexpr int x_bytes = columns * depth, stage_bytes = tile.stage_bytes();
  static constexpr int chunks = depth / 16, vectors_at_once = threads / chunks;
  static constexpr int x_copies = columns / vectors_at_once, copies = x_copies + rows / vectors_at_once;
  using Jobs = TileJobs<columns, rows>;
};

struct MmaTask {
  TileGrid grid;
  const std::uint8_t *rows, *columns;
  std::int64_t pitch;
  int steps;                     // of the tile's depth of k
  int units_across, units_down;  // product_units
  int products;                  // planes of one modulus
  bool accumulate;
  std::int8_t* out;
  Gate gate;
  int whole = 0;  // jobs that are a tile; two of those behind them are the halves of one
  Pace pace = {};
};

inline MmaTask mma_task(const MmaTile& tile, const DeviceInt8Product& p) {
  constexpr int band = 8;  // tiles on top of each other whose columns the second-level cache keeps
  const ProductUnits units = product_units(p.m, p.n);
  return {.grid = {.jobs = static_cast<int>(mma_jobs(tile, p.m, p.n, p.moduli * p.products)),
                   .across = static_cast<int>(divide_up(p.n, tile.columns)),
                   .down = static_cast<int>(divide_up(p.m, tile.rows)),
                   .band = band,
                   .m = p.m,
                   .n = p.n,
                   .wanted = p.wanted},
          .rows = p.rows,
          .columns = p.columns,
          .pitch = p.pitch,
          .steps = static_cast<int>(p.pitch / tile.depth),
          .units_across = static_cast<int>(units.across),
          .units_down = static_cast<int>(units.down),
          .products = p.products,
          .accumulate = p.accumulate,
          .out = p.out,
          .gate = p.gate,
          .whole = static_cast<int>(mma_jobs(tile, p.m, p.n, p.moduli * p.products))};
}

// Are residues made between multiplications? Not of small tiles, which lack registers, nor of those of one stage.
inline bool residues_between(const MmaTile& tile, const MmaTask& task) {
  return tile.blocks == 1 && !task.accumulate && task.steps >= 2;
}

inline void halve_last_round(MmaTask& task, const MmaTile& tile, std::int64_t blocks) {
  if (task.grid.wanted.any()) return;
  const auto halved = static_cast<int>(halved_jobs(tile, task.whole, blocks));
  task.whole -= halved;
  task.grid.jobs += halved;
}

struct MmaReductions {
  ByteReduction<1> of[max_moduli];
};

// One thread's share of an operand's part of a tile: 16 bytes of every few vectors. Those beyond the matrix are its
// last one: what becomes of them nobody reads.
template <class T>
struct MmaSource {
  const std::uint8_t* first = nullptr;  // of the step
  int more = 0;                         // vectors of this thread that the matrix has beyond the first

  __device__ __forceinline__ void begin(const std::uint8_t* planes, std::int64_t count, std::int64_t pitch, int plane,
                                        std::int64_t vector) {
    const std::int64_t own = vector + threadIdx.x / T::chunks, last = count - 1;
    first = planes + (plane * count + min(own, last)) * pitch + threadIdx.x % T::chunks * 16;
    more = static_cast<int>(max(last - own, std::int64_t{0}) / T::vectors_at_once);
  }
};

// Fills stages, one after another, with the parts of one tile after another. All threads of the block take part; each
// calls copy() for all of its copies of a stage, then close().
template <class T>
class MmaFeed {
 public:
  __device__ __forceinline__ MmaFeed(const MmaTask& task, std::uint32_t stages)
      : task_(task), jobs_(task.grid, blockIdx.x, gridDim.x) {
    static_assert(T::vectors_at_once % 8 == 0, "vectors of a thread have the same place in their rows of banks");
    to_ = stages + staged_byte<T::depth>(threadIdx.x / T::chunks, threadIdx.x % T::chunks);
    begin_tile();
  }

  __device__ __forceinline__ void copy(int i) {
    const bool of_x = i < T::x_copies;
    const int vector = of_x ? i : i - T::x_copies;
    const MmaSource<T>& source = of_x ? x_ : y_;
    if (vector == 0)
      from_ = source.first;
    else if (vector <= source.more)
      from_ += T::vectors_at_once * task_.pitch;
    copy_16_bytes(to_ + (of_x ? 0 : T::x_bytes) + vector * T::vectors_at_once * T::depth, from_);
  }
  // last: that stage was the last one in memory.
  __device__ __forceinline__ void close(bool last) {
    close_copies();
    x_.first += T::depth;
    y_.first += T::depth;
    to_ += T::stage_bytes - (last ? T::stages * T::stage_bytes : 0);
    keep(to_);  // no address is computed anew
    if (--step_ > 0) return;
    jobs_.advance();
    begin_tile();
  }

 private:
  // Beyond the last tile its parts are copied again, so that no copy depends on anything.
  __device__ __forceinline__ void begin_tile() {
    step_ = task_.steps;
    if (jobs_.done()) {
      x_.first -= task_.pitch;
      y_.first -= task_.pitch;
      return;
    }
    const TileJob job = jobs_.job();
    x_.begin(task_.columns, task_.grid.n, task_.pitch, job.plane, std::int64_t{job.x} * T::columns);
    y_.begin(task_.rows, task_.grid.m, task_.pitch, job.plane, std::int64_t{job.y} * T::rows);
  }

  const MmaTask& task_;
  typename T::Jobs jobs_;
  MmaSource<T> x_, y_;
  const std::uint8_t* from_ = nullptr;  // of the copy before
  std::uint32_t to_;                    // this thread's first place in the stage that is filled next
  int step_ = 0;                        // steps that are left of the tile
};

// ---- the product ---------------------------------------------------------------------------------------------------

struct MmaSums {
  int of[4][mma_warp_side / 8][4];  // [16 columns][8 rows][as mma_unsigned_bytes() leaves them]

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int c = 0; c < 4; ++c)
#pragma unroll
      for (int r = 0; r < mma_warp_side / 8; ++r)
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
    for (int unit = 0; unit < mma_warp_side / unit_rows; ++unit) {
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
    y_ = stages + T::x_bytes + down * mma_warp_side * T::depth + staged_y<T::depth>(0);
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
  static constexpr bool one_number = T::tile.bulk() && std::has_single_bit(unsigned{T::stages});

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
  __device__ __forceinline__ void multiply(MmaSums& sums, int part, int turn) const {
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
                                              MmaSums& sums) {
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
    MmaSums sums;
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
