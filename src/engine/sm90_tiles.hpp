// Which tile the int8 kernel of Hopper takes for a product: a table of measured rates and a pure function of the shape.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "cuda/pace.hpp"
#include "engine/panel.hpp"

namespace vernier::cuda {

// Columns x rows of C; two blocks side by side are a cluster. Alternating: two warpgroups take every other tile each,
// one reduces while the other multiplies. Cooperative: both work on one tile, which takes fewer bytes, and so less
// power, an operation.
struct Sm90Tile {
  std::string_view name;
  int columns, rows;
  bool cooperative;
  // Measured on an H200 (bench/results/int8_h200.json); the clock of 128 x 256 for k up to 4096 on an H100, where it
  // took as long as 128 x 192 for dense bytes of 14 planes, 3 to 5 % less for 15 and 17, and 10 % less where most are
  // zeros.
  double cycles;             // of one 128-byte block of k
  double long_cycles;        // the same where k is long and the operands no longer stay in the second-level cache
  double epilogue_cycles;    // of one tile that nothing hides
  double capped_ghz;         // clock that the power limit leaves in products of more than about half a millisecond
  double paced_ghz;          // the same where blocks keep pace
  std::int64_t paced_boxes;  // of a block, from which on they do
};

enum Sm90Variant { alternating_128x128, alternating_128x192, cooperative_128x256 };

inline constexpr std::array<Sm90Tile, 3> sm90_tiles = {{
    {"alternating 128x128", 128, 128, false, 528, 750, 0, 1.36, 1.36, 40000},
    {"alternating 128x192", 128, 192, false, 775, 775, 0, 1.427, 1.427, 40000},
    {"cooperative 128x256", 128, 256, true, 1045, 1045, 2000, 1.51, 1.49, 13000},
}};

inline constexpr double sm90_rested_ghz = 1.75;
inline constexpr double sm90_rested_seconds = 0.5e-3;  // products shorter than this end before the power limit acts
inline constexpr std::int64_t sm90_long_k = 4096;

struct Sm90Grid {
  std::int64_t across, down;  // clusters that cover C
  std::int64_t jobs;          // clusters' tiles of all planes
};

constexpr Sm90Grid sm90_grid(const Sm90Tile& tile, std::int64_t m, std::int64_t n, int planes) {
  const std::int64_t across = divide_up(n, 2 * tile.columns), down = divide_up(m, tile.rows);
  return {across, down, across * down * planes};
}

// Do the blocks of a product keep pace? clusters: how many pairs of blocks the device runs at once, here and below.
constexpr bool sm90_keeps_pace(const Sm90Tile& tile, std::int64_t m, std::int64_t n, std::int64_t k, int planes,
                               int clusters) {
  return pace_pays(divide_up(sm90_grid(tile, m, n, planes).jobs, clusters), divide_up(k, 128), tile.paced_boxes);
}

inline double sm90_seconds(const Sm90Tile& tile, std::int64_t m, std::int64_t n, std::int64_t k, int planes,
                           int clusters) {
  const auto blocks = static_cast<double>(divide_up(k, 128));
  const auto waves = static_cast<double>(divide_up(sm90_grid(tile, m, n, planes).jobs, clusters));
  const double cycles = waves * (blocks * (k > sm90_long_k ? tile.long_cycles : tile.cycles) + tile.epilogue_cycles);
  const double rested = cycles / (sm90_rested_ghz * 1e9);
  if (rested < sm90_rested_seconds) return rested;
  return cycles / (1e9 * (sm90_keeps_pace(tile, m, n, k, planes, clusters) ? tile.paced_ghz : tile.capped_ghz));
}

inline Sm90Variant choose_sm90_tile(std::int64_t m, std::int64_t n, std::int64_t k, int planes, int clusters) {
  const auto seconds = [&](const Sm90Tile& tile) { return sm90_seconds(tile, m, n, k, planes, clusters); };
  const auto* best = std::min_element(sm90_tiles.begin(), sm90_tiles.end(),
                                      [&](const Sm90Tile& x, const Sm90Tile& y) { return seconds(x) < seconds(y); });
  return static_cast<Sm90Variant>(best - sm90_tiles.begin());
}

}  // namespace vernier::cuda
