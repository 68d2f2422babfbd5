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

// For one set of instructions.
struct DdLoops {
  void (*round_tile)(const LeadingTile& tile, const DdTask& task, DdTile& out);
  // Elements side by side to hi and lo apart, lo of an infinity or NaN as 0; and back.
  void (*split)(const dd* x, std::int64_t count, double* hi, double* lo);
  void (*join)(const double* hi, const double* lo, std::int64_t count, dd* to);
};
extern const DdLoops dd_loops_portable, dd_loops_avx2, dd_loops_avx512;

}  // namespace vernier
