// The engine by mma.sync: its tiles, which of them a product takes, and one launch with a tile of the caller's choice.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/int8_engine_cuda.hpp"
#include "engine/panel.hpp"

namespace vernier::cuda {

inline constexpr int mma_depth = 64;         // bytes of k in a stage
inline constexpr int mma_warp_columns = 64;  // that a warp accumulates

struct MmaTile {
  std::string_view name;
  int columns, rows;  // of C
  int warp_rows;      // that a warp accumulates: twice as many registers a thread
  int stages;
  int blocks;         // that a multiprocessor runs at once, by registers
  double entry_time;  // relative: bytes of shared memory an operation

  constexpr int threads() const { return 32 * (columns / mma_warp_columns) * (rows / warp_rows); }
  constexpr int stage_bytes() const { return (columns + rows) * mma_depth; }
  constexpr int barriers() const { return stages * stage_bytes(); }  // behind the stages
  constexpr int shared_bytes() const { return barriers() + 16 * stages; }
};

enum MmaVariant { mma_128x256, mma_128x128, mma_256x192 };

// Larger tiles read fewer bytes an operation; two small ones on a multiprocessor leave less of it idle where tiles are
// few.
inline constexpr std::array<MmaTile, 3> mma_tiles = {{
    {"128x256", 128, 256, 64, 4, 1, 1},
    {"128x128", 128, 128, 64, 3, 2, 1.1},
    {"256x192", 256, 192, 96, 3, 1, 0.93},
}};

// What a block may have on GPUs of compute capability 8.6, 8.9 and 12.0, of which each takes 1 KiB for itself.
inline constexpr int least_shared_memory = 100 * 1024;
static_assert(mma_tiles[mma_128x256].shared_bytes() + 1024 <= least_shared_memory);
static_assert(2 * (mma_tiles[mma_128x128].shared_bytes() + 1024) <= least_shared_memory);
static_assert(mma_tiles[mma_256x192].shared_bytes() + 1024 <= least_shared_memory);

constexpr std::int64_t mma_jobs(const MmaTile& tile, std::int64_t m, std::int64_t n, int planes) {
  return divide_up(n, tile.columns) * divide_up(m, tile.rows) * planes;
}

// Rounds of tiles that the device takes, in entries of C that a multiprocessor makes at once.
constexpr std::int64_t mma_rounds(const MmaTile& tile, std::int64_t m, std::int64_t n, int planes,
                                  int multiprocessors) {
  return divide_up(mma_jobs(tile, m, n, planes), std::int64_t{tile.blocks} * multiprocessors) * tile.blocks *
         tile.columns * tile.rows;
}

constexpr MmaVariant choose_mma_tile(std::int64_t m, std::int64_t n, int planes, int multiprocessors) {
  MmaVariant best = mma_128x256;
  double least = 0;
  for (const MmaVariant v : {mma_128x256, mma_128x128, mma_256x192}) {
    const MmaTile& tile = mma_tiles[v];
    const double time = tile.entry_time * static_cast<double>(mma_rounds(tile, m, n, planes, multiprocessors));
    if (least != 0 && time >= least) continue;
    least = time;
    best = v;
  }
  return best;
}

const DeviceInt8Engine& mma_int8_engine();

void multiply_mma(MmaVariant variant, const DeviceInt8Product& product, cudaStream_t stream);

}  // namespace vernier::cuda
