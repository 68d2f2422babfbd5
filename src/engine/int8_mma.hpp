// The engine by mma.sync: its tiles, which of them a product takes, and one launch with a tile of the caller's choice.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/int8_engine_cuda.hpp"
#include "engine/panel.hpp"

namespace vernier::cuda {

inline constexpr int mma_warp_side = 64;  // columns and rows that a warp accumulates: 128 registers a thread

struct MmaTile {
  std::string_view name;
  int columns, rows;  // of C
  int depth;          // bytes of k in a stage
  int stages;
  int blocks;  // that a multiprocessor runs at once, by registers
  int group;   // copies of a thread that follow each other; 0: bulk copies
  int lag;     // stages that a half of the warps is behind the other, so that not all make residues at once

  constexpr bool bulk() const { return group == 0; }
  constexpr int warps() const { return (columns / mma_warp_side) * (rows / mma_warp_side); }
  // Bulk copies are asked for by a warp of its own, which leaves 168 registers to a thread.
  constexpr int threads() const { return 32 * (warps() + (bulk() ? 1 : 0)); }
  constexpr int stage_bytes() const { return (columns + rows) * depth; }
  constexpr int barriers() const { return bulk() ? 2 * stages + 1 : 0; }
  constexpr int jobs() const { return bulk() ? 8 : 0; }  // that warps are told of, more than stages
  constexpr int shared_bytes() const { return stages * stage_bytes() + 32 * jobs() + 8 * barriers(); }
  // Has registers for blocks that keep pace in long products.
  constexpr bool keeps_pace() const { return bulk() && blocks == 1; }
  // A half of the warps is on all four parts of a multiprocessor.
  constexpr bool halves() const { return bulk() && blocks == 1 && warps() >= 8; }
};

enum MmaVariant { mma_128x256, mma_128x128, bulk_128x256, bulk_128x128 };

// The large tile reads three quarters of the small one's bytes an operation; two small ones on a multiprocessor leave
// less of it idle where tiles are few. Bulk copies: from compute capability 9.0 on, where there is room for stages of
// 128 k; with stages of 64 k they are slower than cp.async (docs/decisions.md).
inline constexpr std::array<MmaTile, 4> mma_tiles = {{
    {"128x256", 128, 256, 64, 4, 1, 6, 0},
    {"128x128", 128, 128, 64, 3, 2, 4, 0},
    {"bulk 128x256", 128, 256, 128, 4, 1, 0, 1},
    {"bulk 128x128", 128, 128, 128, 3, 2, 0, 1},
}};

// What a multiprocessor has for its blocks on GPUs of compute capability 8.6, 8.9 and 12.0; on Hopper, and on 10.0.
// Each block takes 1 KiB for itself.
inline constexpr int least_shared_memory = 100 * 1024, hopper_shared_memory = 228 * 1024;
constexpr bool holds(int shared_memory, const MmaTile& tile) {
  return tile.blocks * (tile.shared_bytes() + 1024) <= shared_memory;
}
static_assert(holds(least_shared_memory, mma_tiles[mma_128x256]) && holds(least_shared_memory, mma_tiles[mma_128x128]));
static_assert(holds(hopper_shared_memory, mma_tiles[bulk_128x256]) &&
              holds(hopper_shared_memory, mma_tiles[bulk_128x128]));

constexpr std::int64_t mma_jobs(const MmaTile& tile, std::int64_t m, std::int64_t n, int planes) {
  return divide_up(n, tile.columns) * divide_up(m, tile.rows) * planes;
}

// What of a GPU decides on the tile.
struct MmaDevice {
  int multiprocessors = 132;
  bool bulk_copies = true;  // and hopper_shared_memory
};

// Cycles of a round: of 128 bytes of k, and of the sums' reduction as far as nothing hides it; an H100
// (bench/results/any_gpu_bulk.json).
struct MmaRound {
  MmaVariant variant;
  int line, end;
};
inline constexpr MmaRound bulk_rounds[] = {{bulk_128x256, 1640, 1300}, {bulk_128x128, 1730, 1300}};

// Jobs of the last round, where it has so few that each of these may be divided among two blocks.
constexpr std::int64_t halved_jobs(const MmaTile& tile, std::int64_t jobs, std::int64_t blocks) {
  const std::int64_t rest = jobs % blocks;
  return tile.halves() && 2 * rest <= blocks ? rest : 0;
}

constexpr MmaVariant choose_bulk_tile(std::int64_t m, std::int64_t n, std::int64_t k, int planes, int multiprocessors) {
  MmaVariant best = bulk_128x256;
  std::int64_t least = 0;
  for (const MmaRound& round : bulk_rounds) {
    const MmaTile& tile = mma_tiles[round.variant];
    const std::int64_t blocks = std::int64_t{tile.blocks} * multiprocessors, jobs = mma_jobs(tile, m, n, planes),
                       halved = halved_jobs(tile, jobs, blocks);
    const std::int64_t cycles =
        (2 * divide_up(jobs - halved, blocks) + (halved > 0 ? 1 : 0)) * (divide_up(k, 128) * round.line + round.end);
    if (least != 0 && cycles >= least) continue;
    least = cycles;
    best = round.variant;
  }
  return best;
}

constexpr MmaVariant choose_mma_tile(std::int64_t m, std::int64_t n, std::int64_t k, int planes,
                                     const MmaDevice& device) {
  if (device.bulk_copies) return choose_bulk_tile(m, n, k, planes, device.multiprocessors);
  constexpr double more_bytes = 1.1;  // what a round of small tiles takes of one of large tiles
  const auto rounds = [&](MmaVariant v) {
    const MmaTile& tile = mma_tiles[v];
    return static_cast<double>(
        divide_up(mma_jobs(tile, m, n, planes), std::int64_t{tile.blocks} * device.multiprocessors));
  };
  return more_bytes * rounds(mma_128x128) < rounds(mma_128x256) ? mma_128x128 : mma_128x256;
}

const DeviceInt8Engine& mma_int8_engine();

void multiply_mma(MmaVariant variant, const DeviceInt8Product& product, cudaStream_t stream);

}  // namespace vernier::cuda
