// The memory format of residues on a GPU: schemes write operands and read products, engines do the rest.
//
// Operands, rows of A and columns of B alike: [modulus][vector][pitch], one byte a residue along k. The pitch is a
// multiple of 128, and bytes beyond k stand for zero.
//
// Product: [modulus][64 columns of C][32 rows of C][2048 bytes]. Inside of such a unit the bytes have the order in
// which a warpgroup holds the 64 x 32 accumulators of a wgmma whose M side is the columns: 16 consecutive bytes are a
// thread's.
//
// With one level of Strassen-Winograd (residue/convert/winograd.hpp), vectors and k are halved, and each modulus has
// seven planes of operands and seven of products.
#pragma once

#include <cstdint>

#include "engine/panel.hpp"

namespace vernier {

inline constexpr std::int64_t device_pitch_unit = 128;
constexpr std::int64_t device_pitch(std::int64_t k) { return round_up(k, device_pitch_unit); }

// Half of m, n or k: whole units, and the first half is never the smaller one.
constexpr std::int64_t half_vectors(std::int64_t vectors) { return round_up(divide_up(vectors, 2), 64); }
constexpr std::int64_t half_depth(std::int64_t k) { return device_pitch(divide_up(k, 2)); }

// The longest vectors that a measuring kernel holds whole, so that their residues take no read of their own.
inline constexpr std::int64_t longest_resident_k = 8192;

inline constexpr int unit_columns = 64, unit_rows = 32;
inline constexpr int unit_bytes = unit_columns * unit_rows;

struct ProductUnits {
  std::int64_t across = 0, down = 0;  // units side by side and on top of each other

  constexpr std::int64_t plane_bytes() const { return across * down * unit_bytes; }
};

constexpr ProductUnits product_units(std::int64_t m, std::int64_t n) {
  return {divide_up(n, unit_columns), divide_up(m, unit_rows)};
}

// Byte of element (row, column) of a unit.
constexpr int unit_index(int row, int column) {
  const int warp = column / 16, upper = column / 8 % 2, lane = column % 8 * 4 + row % 8 / 2;
  return warp * 512 + lane * 16 + row / 8 * 4 + upper * 2 + row % 2;
}

}  // namespace vernier
