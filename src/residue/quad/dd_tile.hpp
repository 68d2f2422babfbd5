// Blocks of 32 x 32 integers -> T in dd, rounded once to nearest, where that is decided: row after row of entries by
// vector instructions. What is left open takes the one entry at a time of quad_writer.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "residue/recombine/recombine.hpp"
#include "vernier/quad.hpp"

namespace vernier {

// What the entries of a block need of its 32 rows, or columns.
struct TileVectors {
  alignas(64) std::array<int, strip_size> exponent{};  // of one unit of the scaled elements
  // QuadError; infinite where the vector has a NaN or an infinity, so that its entries stay open.
  alignas(64) std::array<double, strip_size> rounded{}, half_norm{}, floor{};
};

struct DdTask {
  const TileVectors &rows, &columns;
  double share = 0;  // an entry stands if its error is at most this share of |A||B| (docs/accuracy.md, theorem 13)
  int exponent = 0;  // T is multiplied by 2^exponent,
  double sign = 1;   // and by this: 1 or -1
};

// Element [column * 32 + row]; bit `row` of open[column]: T is not known.
struct DdTile {
  alignas(64) std::array<double, block_elements> hi, lo;
  std::array<std::uint32_t, strip_size> open;
};

// Elements side by side to hi and lo apart, lo of an infinity or NaN as 0; and back.
void split_dd_portable(const dd* x, std::int64_t count, double* hi, double* lo);
void join_dd_portable(const double* hi, const double* lo, std::int64_t count, dd* to);

void round_dd_tile_portable(const LeadingTile& tile, const DdTask& task, DdTile& out);

#define VERNIER_DECLARE(set)                            \
  decltype(round_dd_tile_portable) round_dd_tile_##set; \
  decltype(split_dd_portable) split_dd_##set;           \
  decltype(join_dd_portable) join_dd_##set;
VERNIER_DECLARE(avx2)
VERNIER_DECLARE(avx512)
#undef VERNIER_DECLARE

}  // namespace vernier
