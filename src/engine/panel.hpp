// The memory format of int8 operand planes and of residue planes of C: schemes write it, engines read it.
//
// One plane holds one operand modulo one modulus. 32 rows of A (or columns of B) make a strip, 64 values of k a step;
// one strip x step is 2048 bytes, two AMX tiles. The order of k inside a step is the same fixed permutation for both
// operands.
//   columns (of B): [2 tiles][16 columns][64 k]            a tile row is 64 bytes of one column
//   rows (of A):    [2 tiles][16 groups][16 rows][4 k]     groups of four k, as AMX and VNNI read their second operand
// Steps are grouped in slices of about 1024 k, and a plane is [slice][strip][step of the slice][2048 bytes]: what an
// engine reads in one product is contiguous, and a strip's slice of B (32 KiB) stays in a first-level cache.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vernier {

inline constexpr int strip_size = 32;
inline constexpr int step_size = 64;
inline constexpr int step_bytes = strip_size * step_size;

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return divide_up(a, b) * b; }

// The k, within its step, of byte b of a column's 64 bytes. It saves shuffles in the writers of both operands.
constexpr int k_of_byte(int b) { return 16 * ((b >> 2) & 3) + 2 * (b >> 4) + (b & 1) + 8 * ((b >> 1) & 1); }

constexpr int column_byte(int column, int b) { return (column >> 4) * 1024 + (column & 15) * 64 + b; }
constexpr int row_byte(int row, int b) { return (row >> 4) * 1024 + (b >> 2) * 64 + (row & 15) * 4 + (b & 3); }

struct PanelLayout {
  std::int64_t strips = 0;       // of 32 rows or columns
  std::int64_t steps = 0;        // of 64 k
  std::int64_t slice_steps = 1;  // steps a slice; the last slice may hold fewer

  constexpr std::int64_t bytes() const { return strips * steps * step_bytes; }
  constexpr std::int64_t slices() const { return divide_up(steps, slice_steps); }
  constexpr std::int64_t steps_of(std::int64_t slice) const {
    return std::min(slice_steps, steps - slice * slice_steps);
  }

  // Start of the 2048 bytes of a strip and a step.
  constexpr std::int64_t offset(std::int64_t strip, std::int64_t step) const {
    const std::int64_t slice = step / slice_steps, begin = slice * slice_steps;
    return (begin * strips + strip * steps_of(slice) + (step - begin)) * step_bytes;
  }
};

// Slices of nearly equal length, 16 steps at most.
constexpr PanelLayout panel_layout(std::int64_t vectors, std::int64_t k) {
  const std::int64_t steps = divide_up(k, step_size);
  return {divide_up(vectors, strip_size), steps, divide_up(steps, divide_up(steps, 16))};
}

// Steps of a strip outside of which all is zeros, which need not be in memory.
struct FilledSteps {
  std::int64_t begin = 0, end = std::int64_t{1} << 40;

  constexpr bool operator==(const FilledSteps&) const = default;
  constexpr FilledSteps within(const FilledSteps& other) const {
    const std::int64_t first = std::max(begin, other.begin);
    return {first, std::max(first, std::min(end, other.end))};
  }
};

// Residues of C: blocks of 32 x 32, one byte an element, in the order in which four accumulator rows of 16 are packed.
inline constexpr int block_elements = strip_size * strip_size;

constexpr int residue_index(int row, int column) {
  const int tile = (column >> 4) * 2 + (row >> 4), i = row & 15, j = column & 15;
  return tile * 256 + (j >> 2) * 64 + (i >> 2) * 16 + (j & 3) * 4 + (i & 3);
}

// Tiles of bf16 as the instructions take them (TDPBF16PS): 1024 bytes, 16 vectors (rows of op(A), columns of op(B)) of
// 32 k, a step. Their dwords pair k l and l + 16: columns [16 columns][16 pairs], rows [16 pairs][16 rows]. 32 vectors
// are a strip: two tiles side by side.
inline constexpr int bf16_tile_vectors = 16, bf16_tile_bytes = 1024;
inline constexpr int bf16_strip = 2 * bf16_tile_vectors;
inline constexpr int bf16_step = 32;  // k

}  // namespace vernier
