// What becomes of a block of S, the low-precision product of |A| and |B| (residue/bound/bound_scales.hpp): minima of
// its rows and columns, and a byte for each entry. On tiles of bf16 the product is made here too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/panel.hpp"

namespace vernier {

// Of the vectors of one side, in the order of the block.
struct BoundSide {
  const float* inverse_weights = nullptr;
  const float* inverse_norms = nullptr;  // in the units of S: both sides together give at most 1.5
  const float* zeros = nullptr;          // bound_no_partner if all elements of the vector are in S, else 0
  float* minima = nullptr;               // lowered
};

struct BoundBlock {
  const float* s = nullptr;  // entry (i, j) at i + j ld
  std::int64_t ld = 0, rows = 0, columns = 0;
  BoundSide row, column;
  std::uint8_t* codes = nullptr;  // entry (i, j) at i + j codes_ld; null: not wanted
  std::int64_t codes_ld = 0;
};

void take_bound_block_portable(const BoundBlock& block);

// Tiles of 16 vectors and 32 k, as engine/panel.hpp has them; a strip is [step][2 tiles].
inline constexpr int bound_step_bytes = 2 * bf16_tile_bytes;

inline constexpr int most_bound_strips = 16;

// One strip of columns against up to 16 strips of rows: S of each, 32 x 32, then what take_bound_block_portable does.
// Sides and codes are those of the first row and column; strips are whole in memory, and entries beyond rows and
// columns of no account.
struct BoundStrips {
  const std::byte *columns = nullptr, *rows = nullptr;
  std::int64_t steps = 0, row_strips = 0;
  FilledSteps filled_columns;
  const FilledSteps* filled_rows = nullptr;  // of each strip
  BoundBlock block;                          // s: room for 32 x 32 a strip of rows, on a boundary of 64 bytes
};

struct BoundTiles {
  void (*enter_thread)();
  void (*leave_thread)();
  void (*multiply)(const BoundStrips&);
};

// AMX tiles (TDPBF16PS); null where this machine has none.
const BoundTiles* bound_tiles();

}  // namespace vernier
