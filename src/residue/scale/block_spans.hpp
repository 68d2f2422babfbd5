// How large (|A||B|)_ij is at least, entry by entry, for data that are not flat: indices are cut into blocks of 16, and
// each vector gives the exponent of the ninth largest magnitude of each of its blocks. Nine of sixteen and nine of
// sixteen share two indices, hence
//     sum_l |x_l||y_l| >= 2 * 2^(e_x + e_y - D),   D = min over blocks of (deficit_x + deficit_y),
// where deficits count from the exponents e of the vectors' maxima (docs/accuracy.md, theorem 2). All of it is integer
// arithmetic: a product of matrices with min for + and + for *.
#pragma once

#include <cstdint>

#include "number/host_device.hpp"
#include "number/ieee754.hpp"
#include "product/operand.hpp"
#include "product/statistics.hpp"

namespace vernier {

inline constexpr int span_block = 16;
inline constexpr int span_lanes = 64;            // vectors that are measured together
inline constexpr std::uint8_t no_deficit = 127;  // more than half of the block is zero, or too small to count
inline constexpr std::uint8_t no_cost = 255;
inline constexpr std::int64_t longest_spanned_k = 16384;  // beyond, the deficits would take too much memory

constexpr std::int64_t span_blocks(std::int64_t k) { return (k + span_block - 1) / span_block; }

// How far below the vector's maximum an element lies, from its exponent field alone; zeros, subnormal and non-finite
// numbers have none.
template <class T>
VERNIER_HD constexpr std::uint8_t deficit_of(T value, int exponent) {
  constexpr int zero_exponent = Ieee754<T>::max_exponent, no_field = 2 * zero_exponent + 1;
  const int field = static_cast<int>(magnitude_bits(value) >> (Ieee754<T>::precision - 1));
  const int depth = exponent + zero_exponent - field;
  const bool none = field == 0 || field == no_field || depth > no_deficit;
  return none ? no_deficit : static_cast<std::uint8_t>(depth);
}

// Deficits of vectors first .. first + 63 (those that exist; others none): out[block * stride + vector - first].
template <class T>
void block_deficits_portable(const Operand<T>& x, std::int64_t first, const VectorStatistics* statistics,
                             std::uint8_t* out, std::int64_t stride);

// What one vector asks of all its partners together: cost = max over partners of D + ceil(log2(1-norm / 2^e) of the
// partner), no_cost where some D does not exist. norm_bits: that logarithm, one byte a vector; no_cost for a zero
// vector, which asks nothing.
struct SpanSide {
  const std::uint8_t* deficits;  // [block][stride]
  std::int64_t stride;
  const std::uint8_t* norm_bits;
  std::uint8_t* costs;  // raised
};
struct SpanCosts {
  SpanSide row, column;
  std::int64_t blocks, rows;
};

// Columns first .. first + 63 against all rows.
void span_costs_portable(const SpanCosts& costs, std::int64_t first);

}  // namespace vernier
