// The minima and bytes of a block of S, compiled for each instruction set; and S on tiles.
#pragma once

#include <algorithm>
#include <cstring>

#include "engine/bound/bound_engine.hpp"
#include "number/bound_byte.hpp"

namespace vernier {
namespace {

// Parts of a block, from the i-th row and the j-th column on.
inline BoundSide bound_side_from(const BoundSide& side, std::int64_t by) {
  return {side.inverse_weights + by, side.inverse_norms + by, side.zeros + by, side.minima + by};
}
inline BoundBlock bound_block_from(const BoundBlock& block, std::int64_t i, std::int64_t j) {
  BoundBlock part = block;
  part.row = bound_side_from(block.row, i), part.column = bound_side_from(block.column, j);
  if (block.codes != nullptr) part.codes = block.codes + i + j * block.codes_ld;
  return part;
}

inline constexpr int bound_side = bf16_tile_vectors;

// Up to 16 columns' minima, by row of a tile.
using BoundColumnMinima = float[bound_side][bound_side];

// Up to 16 x 16 entries, as bound_ratio and bound_code, in a form that compilers turn into vectors; Whole: 16 rows.
template <bool Whole>
void take_bound_tile(const BoundBlock& b, BoundColumnMinima& least) {
  const int rows = Whole ? bound_side : static_cast<int>(b.rows);
  alignas(64) float minima[bound_side], weights[bound_side], norms[bound_side], zeros[bound_side];
  for (int i = 0; i < rows; ++i) {
    minima[i] = b.row.minima[i], weights[i] = b.row.inverse_weights[i];
    norms[i] = b.row.inverse_norms[i], zeros[i] = b.row.zeros[i];
  }
  for (std::int64_t j = 0; j < b.columns; ++j) {
    const float* s = b.s + j * b.ld;
    float* column = least[j];
    const float weight = b.column.inverse_weights[j], norm = b.column.inverse_norms[j], zero = b.column.zeros[j];
    for (int i = 0; i < rows; ++i) {
      const float of_zero = std::min(zeros[i], zero);
      minima[i] = std::min(minima[i], s[i] == 0 ? of_zero : s[i] * weight);
      column[i] = std::min(column[i], s[i] == 0 ? of_zero : s[i] * weights[i]);
    }
    if (b.codes == nullptr) continue;
    alignas(16) std::uint8_t codes[bound_side];  // apart from all that bytes in memory might be part of
    for (int i = 0; i < rows; ++i) codes[i] = bound_code(s[i] * norms[i] * norm);
    std::memcpy(b.codes + j * b.codes_ld, codes, static_cast<std::size_t>(rows));
  }
  std::copy_n(minima, rows, b.row.minima);
}

// Up to 16 columns of a block, whose rows t * 16, ... lie from tile(t) on.
template <class Tile>
void take_bound_columns(const BoundBlock& b, const Tile& tile) {
  alignas(64) BoundColumnMinima least;
  std::fill_n(&least[0][0], bound_side * bound_side, bound_no_partner);
  for (std::int64_t t = 0; t * bound_side < b.rows; ++t) {
    BoundBlock part = bound_block_from(b, t * bound_side, 0);
    part.s = tile(t);
    part.rows = std::min<std::int64_t>(bound_side, b.rows - t * bound_side);
    part.rows == bound_side ? take_bound_tile<true>(part, least) : take_bound_tile<false>(part, least);
  }
  for (std::int64_t j = 0; j < b.columns; ++j)
    for (const float x : least[j]) b.column.minima[j] = std::min(b.column.minima[j], x);
}

// 32 columns against 16 rows, added to the sums of the steps before: tmm0, tmm1 sums, tmm4 rows, tmm5 columns. Few
// tiles are live, and some lines are fetched into the second level meanwhile, as in engine/amx_kernel.hpp.
template <class Tile>
void multiply_bound_half(const std::byte* columns, const std::byte* rows, std::int64_t steps, bool first, float* s,
                         const std::byte* next, int next_lines) {
  constexpr int line = 64, second = 2 * bf16_tile_bytes / static_cast<int>(sizeof(float));
  if (first) {
    Tile::template zero<0>();
    Tile::template zero<1>();
  } else {
    Tile::template load<0>(s);
    Tile::template load<1>(s + second);
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::byte* column = columns + step * bound_step_bytes;
    Tile::template load_streamed<4>(rows + step * bound_step_bytes);
    Tile::template load<5>(column);
    Tile::template dot_bf16<0, 5, 4>();
    Tile::template zero<5>();
    Tile::template load<5>(column + bf16_tile_bytes);
    Tile::template dot_bf16<1, 5, 4>();
    Tile::template zero<5>();
    Tile::template zero<4>();
    for (int i = 0; i < next_lines; ++i, next += line) __builtin_prefetch(next, 0, 2);
  }
  Tile::template store<0>(s);
  Tile::template store<1>(s + second);
}

// The steps of columns that stay in the first-level cache while all strips of rows pass by.
inline constexpr std::int64_t bound_slice_steps = 16;

template <class Tile>
void multiply_bound_slices(const BoundStrips& p, float* s) {
  constexpr int tile = bf16_tile_bytes / static_cast<int>(sizeof(float));
  const std::int64_t halves = 2 * p.row_strips;
  const auto next_lines = static_cast<int>(divide_up(bound_step_bytes / 64, halves));
  for (std::int64_t step = 0; step < p.steps; step += bound_slice_steps) {
    const std::int64_t count = std::min(bound_slice_steps, p.steps - step);
    const FilledSteps slice = p.filled_columns.within({step, step + count});
    const std::byte* next = p.columns + (step + count) * bound_step_bytes;
    for (std::int64_t h = 0; h < halves; ++h, next += count * next_lines * 64) {
      const FilledSteps filled = slice.within(p.filled_rows[h / 2]);
      if (filled.begin == filled.end && step > 0) continue;
      multiply_bound_half<Tile>(p.columns + filled.begin * bound_step_bytes,
                                p.rows + (h / 2 * p.steps + filled.begin) * bound_step_bytes + h % 2 * bf16_tile_bytes,
                                filled.end - filled.begin, step == 0,
                                s + h / 2 * bf16_strip * bf16_strip + h % 2 * tile, next, next_lines);
    }
  }
}

template <class Tile>
void multiply_bound_strips(const BoundStrips& p) {
  float* s = const_cast<float*>(p.block.s);
  multiply_bound_slices<Tile>(p, s);
  for (std::int64_t j = 0; j < p.block.columns; j += bound_side) {
    BoundBlock part = bound_block_from(p.block, 0, j);
    part.ld = bound_side;
    part.columns = std::min<std::int64_t>(bound_side, p.block.columns - j);
    take_bound_columns(
        part, [&](std::int64_t t) { return s + (t / 2 * 4 + t % 2 + j / bound_side * 2) * bound_side * bound_side; });
  }
}

}  // namespace
}  // namespace vernier
