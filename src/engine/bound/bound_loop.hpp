// The minima and bytes of a block of S, compiled for each instruction set; and S on tiles.
#pragma once

#include <algorithm>
#include <cstring>

#include "engine/bound/bound_engine.hpp"
#include "number/bound_byte.hpp"

namespace vernier {
namespace {

// As bound_ratio and bound_code, in a form that compilers turn into vectors.
inline void take_bound_column(const BoundBlock& b, std::int64_t j) {
  const float* s = b.s + j * b.ld;
  const float *weights = b.row.inverse_weights, *norms = b.row.inverse_norms, *zeros = b.row.zeros;
  float* minima = b.row.minima;
  const float weight = b.column.inverse_weights[j], norm = b.column.inverse_norms[j], zero = b.column.zeros[j];
  float least = b.column.minima[j];
  for (std::int64_t i = 0; i < b.rows; ++i) {
    const float of_zero = std::min(zeros[i], zero);
    const float of_row = s[i] == 0 ? of_zero : s[i] * weight, of_column = s[i] == 0 ? of_zero : s[i] * weights[i];
    minima[i] = std::min(minima[i], of_row);
    least = std::min(least, of_column);
  }
  b.column.minima[j] = least;
  if (b.codes == nullptr) return;
  std::uint8_t* codes = b.codes + j * b.codes_ld;
  for (std::int64_t i = 0; i < b.rows; ++i) codes[i] = bound_code(s[i] * norms[i] * norm);
}

inline void take_bound_block(const BoundBlock& b) {
  for (std::int64_t j = 0; j < b.columns; ++j) take_bound_column(b, j);
}

// 32 columns against 32 rows, added to the sums of the steps before: tmm0 .. tmm3 sums (column tile * 2 + row tile),
// tmm4, tmm5 columns, tmm6, tmm7 rows.
template <class Tile>
void multiply_bound_block(const std::byte* columns, const std::byte* rows, std::int64_t steps, bool first, float* s) {
  constexpr int tile_floats = bf16_tile_bytes / static_cast<int>(sizeof(float));
  if (first) {
    Tile::template zero<0>();
    Tile::template zero<1>();
    Tile::template zero<2>();
    Tile::template zero<3>();
  } else {
    Tile::template load<0>(s);
    Tile::template load<1>(s + tile_floats);
    Tile::template load<2>(s + 2 * tile_floats);
    Tile::template load<3>(s + 3 * tile_floats);
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::byte *column = columns + step * bound_step_bytes, *row = rows + step * bound_step_bytes;
    Tile::template load<4>(column);
    Tile::template load_streamed<6>(row);
    Tile::template dot_bf16<0, 4, 6>();
    Tile::template load_streamed<7>(row + bf16_tile_bytes);
    Tile::template dot_bf16<1, 4, 7>();
    Tile::template load<5>(column + bf16_tile_bytes);
    Tile::template dot_bf16<2, 5, 6>();
    Tile::template dot_bf16<3, 5, 7>();
  }
  Tile::template store<0>(s);
  Tile::template store<1>(s + tile_floats);
  Tile::template store<2>(s + 2 * tile_floats);
  Tile::template store<3>(s + 3 * tile_floats);
}

// The steps of columns that stay in the first-level cache while all strips of rows pass by.
inline constexpr std::int64_t bound_slice_steps = 12;

template <class Tile>
void multiply_bound_slices(const BoundStrips& p, float* s) {
  for (std::int64_t step = 0; step < p.steps; step += bound_slice_steps)
    for (std::int64_t strip = 0; strip < p.row_strips; ++strip)
      multiply_bound_block<Tile>(
          p.columns + step * bound_step_bytes, p.rows + (strip * p.steps + step) * bound_step_bytes,
          std::min(bound_slice_steps, p.steps - step), step == 0, s + strip * bf16_strip * bf16_strip);
}

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

// A tile of sums, 16 columns of 16 rows, in loops whose length the compiler knows: 16 columns' minima stay apart by row
// until all tiles of rows have passed.
using BoundColumnMinima = float[bf16_tile_vectors][bf16_tile_vectors];

inline void take_bound_tile(const BoundBlock& b, std::int64_t columns, BoundColumnMinima& least) {
  constexpr int side = bf16_tile_vectors;
  alignas(64) float minima[side], weights[side], norms[side], zeros[side];
  for (int i = 0; i < side; ++i) {
    minima[i] = b.row.minima[i], weights[i] = b.row.inverse_weights[i];
    norms[i] = b.row.inverse_norms[i], zeros[i] = b.row.zeros[i];
  }
  for (std::int64_t j = 0; j < columns; ++j) {
    const float* s = b.s + j * side;
    float* column = least[j];
    const float weight = b.column.inverse_weights[j], norm = b.column.inverse_norms[j], zero = b.column.zeros[j];
    for (int i = 0; i < side; ++i) {
      const float of_zero = std::min(zeros[i], zero);
      minima[i] = std::min(minima[i], s[i] == 0 ? of_zero : s[i] * weight);
      column[i] = std::min(column[i], s[i] == 0 ? of_zero : s[i] * weights[i]);
    }
    if (b.codes == nullptr) continue;
    alignas(16) std::uint8_t codes[side];  // apart from all that bytes in memory might be part of
    for (int i = 0; i < side; ++i) codes[i] = bound_code(s[i] * norms[i] * norm);
    std::memcpy(b.codes + j * b.codes_ld, codes, side);
  }
  for (int i = 0; i < side; ++i) b.row.minima[i] = minima[i];
}

// All tiles of rows against 16 columns, from the j-th on.
inline void take_bound_tiles(const BoundStrips& p, const float* s, std::int64_t j) {
  constexpr int side = bf16_tile_vectors;
  const std::int64_t columns = std::clamp<std::int64_t>(p.block.columns - j, 0, side);
  alignas(64) BoundColumnMinima least;
  for (auto& column : least)
    for (float& x : column) x = bound_no_partner;
  for (std::int64_t tile = 0; tile * side < p.block.rows; ++tile) {
    BoundBlock part = bound_block_from(p.block, tile * side, j);
    part.s = s + (tile / 2 * 4 + tile % 2 + j / side * 2) * side * side;
    part.ld = side;
    part.rows = std::clamp<std::int64_t>(p.block.rows - tile * side, 0, side);
    part.columns = columns;
    part.rows == side ? take_bound_tile(part, columns, least) : take_bound_block(part);
  }
  for (std::int64_t i = 0; i < columns; ++i)
    for (const float x : least[i]) p.block.column.minima[j + i] = std::min(p.block.column.minima[j + i], x);
}

template <class Tile>
void multiply_bound_strips(const BoundStrips& p) {
  float* s = const_cast<float*>(p.block.s);
  multiply_bound_slices<Tile>(p, s);
  for (std::int64_t j = 0; j < bf16_strip; j += bf16_tile_vectors) take_bound_tiles(p, s, j);
}

}  // namespace
}  // namespace vernier
