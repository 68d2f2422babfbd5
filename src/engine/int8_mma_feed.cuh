// Where the int8 kernel by mma.sync (int8_mma.cuh) takes its operands from, and how they come to shared memory.
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

}  // namespace vernier::cuda
