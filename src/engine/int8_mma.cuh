// Products of residues by mma.sync, on every GPU from compute capability 8.0 on: one persistent launch over (plane,
// tile of C); a plane is a modulus, or one of several products modulo p.
//
// A warp takes 64 columns of B ("x", the M side, so that a thread's accumulators are neighbours in a column of C) by 64
// rows of A ("y"), as 4 x 8 instructions of 16 x 8. A stage in shared memory holds 64 bytes of k of the block's
// vectors; stages of the next tile are on their way while sums of this one are reduced modulo p in registers.
//
// k <= 65536: sums of 255 * 255 stay below 2^32, and the 32-bit sums are read as unsigned.
#pragma once

#include "cuda/matrix_fragments.cuh"
#include "cuda/ptx.cuh"
#include "cuda/staged_rows.cuh"
#include "engine/int8_mma.hpp"
#include "engine/store_residues.cuh"
#include "engine/tile_jobs.cuh"

namespace vernier::cuda {

template <MmaVariant Variant>
struct MmaTileOf {
  static constexpr MmaTile tile = mma_tiles[Variant];
  static constexpr int columns = tile.columns, rows = tile.rows, stages = tile.stages, threads = tile.threads();
  static constexpr int warps_across = columns / mma_warp_side;
  static constexpr int x_bytes = columns * mma_depth, stage_bytes = tile.stage_bytes();
  using Jobs = TileJobs<columns, rows>;
};

struct MmaTask {
  TileGrid grid;
  const std::uint8_t *rows, *columns;
  std::int64_t pitch;
  int steps;                     // of mma_depth bytes of k
  int units_across, units_down;  // product_units
  int products;                  // planes of one modulus
  bool accumulate;
  std::int8_t* out;
  Gate gate;
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
          .steps = static_cast<int>(p.pitch / mma_depth),
          .units_across = static_cast<int>(units.across),
          .units_down = static_cast<int>(units.down),
          .products = p.products,
          .accumulate = p.accumulate,
          .out = p.out,
          .gate = p.gate};
}

struct MmaReductions {
  ByteReduction<1> of[max_moduli];
};

// One thread's share of an operand's part of a tile: 16 bytes of every few vectors.
template <class T, int Vectors>
struct MmaSource {
  static constexpr int chunks = mma_depth / 16, together = T::threads / chunks;

  const std::uint8_t* from = nullptr;  // of the tile's first vector
  int last = 0;                        // of the tile's vectors that the matrix has

  // Vectors beyond the matrix are its last one: what becomes of them nobody reads.
  __device__ __forceinline__ void begin(const std::uint8_t* planes, std::int64_t count, std::int64_t pitch, int plane,
                                        int tile) {
    const std::int64_t first = static_cast<std::int64_t>(tile) * Vectors;
    from = planes + (plane * count + first) * pitch + threadIdx.x % chunks * 16;
    last = static_cast<int>(min(count - first, std::int64_t{Vectors})) - 1;
  }

  __device__ __forceinline__ void copy_step(int pitch, std::uint32_t to) {
    const int chunk = threadIdx.x % chunks, vector = threadIdx.x / chunks;
#pragma unroll
    for (int v = 0; v < Vectors; v += together)
      copy_16_bytes(to + staged_byte(v + vector, chunk),
                    from + static_cast<std::int64_t>(min(v + vector, last)) * pitch);
    from += mma_depth;
  }
};

// Fills stages, one after another, with the parts of one tile after another. All threads of the block take part.
template <class T>
class MmaFeed {
 public:
  __device__ __forceinline__ MmaFeed(const MmaTask& task, std::uint32_t stages)
      : task_(task), stages_(stages), jobs_(task.grid, blockIdx.x, gridDim.x) {
    begin_tile();
  }

  __device__ __forceinline__ void next() {
    if (step_ > 0) {
      const std::uint32_t stage = stages_ + slot_ * T::stage_bytes;
      x_.copy_step(static_cast<int>(task_.pitch), stage);
      y_.copy_step(static_cast<int>(task_.pitch), stage + T::x_bytes);
      if (++slot_ == T::stages) slot_ = 0;
      if (--step_ == 0) {
        jobs_.advance();
        begin_tile();
      }
    }
    close_copies();
  }

 private:
  __device__ __forceinline__ void begin_tile() {
    if (jobs_.done()) return;
    const TileJob job = jobs_.job();
    x_.begin(task_.columns, task_.grid.n, task_.pitch, job.plane, job.x);
    y_.begin(task_.rows, task_.grid.m, task_.pitch, job.plane, job.y);
    step_ = task_.steps;
  }

  const MmaTask& task_;
  std::uint32_t stages_;
  typename T::Jobs jobs_;
  MmaSource<T, T::columns> x_;
  MmaSource<T, T::rows> y_;
  int step_ = 0, slot_ = 0;  // steps that are left of the tile; the stage that is filled next
};

// 32 bytes of k of a warp's vectors.
struct MmaFragments {
  std::uint32_t x[4][4], y[4][4];  // [16 columns][matrix], [16 rows][matrix]

  __device__ __forceinline__ void load(std::uint32_t x_part, std::uint32_t y_part, int half) {
    static_assert(mma_depth == staged_row);
    const int x_byte = staged_x(half), y_byte = staged_y(half);
#pragma unroll
    for (int t = 0; t < 4; ++t) load_matrices(x[t], x_part + x_byte + t * 16 * mma_depth);
#pragma unroll
    for (int t = 0; t < 4; ++t) load_matrices(y[t], y_part + y_byte + t * 16 * mma_depth);
  }
};

struct MmaSums {
  int of[4][8][4];  // [16 columns][8 rows][as mma_unsigned_bytes() leaves them]

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int c = 0; c < 4; ++c)
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int e = 0; e < 4; ++e) of[c][r][e] = 0;
  }

  __device__ __forceinline__ void add(const MmaFragments& f) {
#pragma unroll
    for (int c = 0; c < 4; ++c)
#pragma unroll
      for (int r = 0; r < 8; ++r)
        mma_unsigned_bytes(of[c][r], f.x[c], f.y[r / 2][r % 2 * 2], f.y[r / 2][r % 2 * 2 + 1]);
  }

  // A warp has one unit of C across and two down, in the order in which its lanes hold them.
  __device__ __forceinline__ void store(const MmaTask& task, const ByteReduction<1>& r, int plane, int across,
                                        int down) const {
    if (across >= task.units_across) return;
    const std::int64_t column = static_cast<std::int64_t>(plane) * task.units_across + across;
#pragma unroll
    for (int unit = 0; unit < 2; ++unit) {
      if (down + unit >= task.units_down) return;
      uint4* to =
          reinterpret_cast<uint4*>(task.out + (column * task.units_down + down + unit) * unit_bytes) + threadIdx.x % 32;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int* sums = &of[c][4 * unit][0];
        if (task.accumulate)
          store_residues<true>(sums, r, to + 32 * c);
        else
          store_residues<false>(sums, r, to + 32 * c);
      }
    }
  }
};

// The tiles of one block. stages: in shared memory, T::tile.shared_bytes().
template <class T>
__device__ __forceinline__ void multiply_tiles(std::uint32_t stages, const MmaReductions& reductions,
                                               const MmaTask& task) {
  const int warp = threadIdx.x / 32, x = warp % T::warps_across, y = warp / T::warps_across;
  const std::uint32_t x_part = stages + x * mma_warp_side * mma_depth,
                      y_part = stages + T::x_bytes + y * mma_warp_side * mma_depth;
  MmaFeed<T> feed(task, stages);
#pragma unroll 1
  for (int stage = 0; stage < T::stages - 1; ++stage) feed.next();
  wait_for_copies_but<T::stages - 2>();
  __syncthreads();

  MmaFragments first, second;
  first.load(x_part, y_part, 0);
  int slot = 0;
  for (typename T::Jobs jobs(task.grid, blockIdx.x, gridDim.x); !jobs.done(); jobs.advance()) {
    MmaSums sums;
    sums.clear();
    for (int step = 0; step < task.steps; ++step) {
      second.load(x_part + slot * T::stage_bytes, y_part + slot * T::stage_bytes, 1);
      feed.next();  // into the stage that all have left behind the last barrier
      sums.add(first);
      wait_for_copies_but<T::stages - 2>();
      __syncthreads();
      if (++slot == T::stages) slot = 0;
      first.load(x_part + slot * T::stage_bytes, y_part + slot * T::stage_bytes, 0);
      sums.add(second);
    }
    const TileJob job = jobs.job();
    sums.store(task, reductions.of[job.plane / task.products], job.plane, job.x * T::columns / unit_columns + x,
               (job.y * T::rows + y * mma_warp_side) / unit_rows);
  }
}

}  // namespace vernier::cuda
