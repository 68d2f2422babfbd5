// The engine by mma.sync: its tiles, which of them a product takes, and one launch with a tile of the caller's choice.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/int8_engine_cuda.hpp"
#include "engine/panel.hpp"

namespace vernier::cuda {

inline constexpr int mma_depth = 64;      // bytes of k in a stage
inline constexpr int mma_warp_side = 64;  // columns and rows that a warp accumulates: 128 registers a thread

struct MmaTile {
  std::string_view name;
  int columns, rows;  // of C
  int stages;
  int blocks;  // that a multiprocessor runs at once, by registers
  int group;   // copies of a thread that follow each other

  constexpr int threads() const { return 32 * (columns / mma_warp_side) * (rows / mma_warp_side); }
  constexpr int stage_bytes() const { return (columns + rows) * mma_depth; }
  constexpr int shared_bytes() const { return stages * stage_bytes(); }
};

enum MmaVariant { mma_128x256, mma_128x128 };

// The large tile reads three quarters of the small one's bytes an operation; two small ones on a multiprocessor leave
// less of it idle where tiles are few.
inline constexpr std::array<MmaTile, 2> mma_tiles = {{
    {"128x256", 128, 256, 4, 1, 6},
    {"128x128", 128, 128, 3, 2, 4},
}};

// What a block may have on GPUs of compute capability 8.6, 8.9 and 12.0, of which each takes 1 KiB for itself.
inline constexpr int least_shared_memory = 100 * 1024;
static_assert(mma_tiles[mma_128x256].shared_bytes() + 1024 <= least_shared_memory);
static_assert(2 * (mma_tiles[mma_128x128].shared_bytes() + 1024) <= least_shared_memory);

constexpr std::int64_t mma_jobs(const MmaTile& tile, std::int64_t m, std::int64_t n, int planes) {
  return divide_up(n, tile.columns) * divide_up(m, tile.rows) * planes;
}

// Rounds of tiles that the device takes, in areas of the large tile.
constexpr std::int64_t mma_rounds(const MmaTile& tile, std::int64_t m, std::int64_t n, int planes,
                                  int multiprocessors) {
  return divide_up(mma_jobs(tile, m, n, planes), std::int64_t{tile.blocks} * multiprocessors);
}

constexpr MmaVariant choose_mma_tile(std::int64_t m, std::int64_t n, int planes, int multiprocessors) {
  constexpr double more_bytes = 1.1;  // what a round of small tiles takes of one of large tiles
  const auto rounds = [&](MmaVariant v) {
    return static_cast<double>(mma_rounds(mma_tiles[v], m, n, planes, multiprocessors));
  };
  return more_bytes * rounds(mma_128x128) < rounds(mma_128x256) ? mma_128x128 : mma_128x256;
}

const DeviceInt8Engine& mma_int8_engine();

void multiply_mma(MmaVariant variant, const DeviceInt8Product& product, cudaStream_t stream);

}  // namespace vernier::cuda
