// What is known of one vector of a quadruple operand, and its scale. Host and device, the same bits on both.
#pragma once

#include <cmath>
#include <cstdint>

#include "number/host_device.hpp"
#include "product/exact/entry.hpp"
#include "residue/exact/exact.hpp"

namespace vernier {

inline constexpr int most_parts = 3;

// Elements are those of op(A) or op(B) times 2^-shift.
struct QuadVector {
  int shift = 0;                   // binary128: the exponent of the largest element; else 0
  int exponent = 0;                // of the largest part
  int lowest_bit = no_lowest_bit;  // exponent of the lowest bit that is set in any part
  int span = 0;                    // of exponents of the elements, of binary128
  double norm_1 = 0, norm_2 = 0;   // bounds of the norms, in units of 2^exponent
  double largest = 0;              // bound of an element, likewise
  bool nonfinite = false;

  constexpr bool zero() const { return norm_1 == 0; }
};

// The scale of a vector, and what rounding its parts to integers costs (product/exact/entry.hpp).
struct QuadScale {
  int scale = 0;     // elements of the parts times 2^scale are rounded to integers
  int exponent = 0;  // of the largest scaled part
  VectorError error;
};

// What a part of some elements says, as VectorStatistics has it, and its lowest bit.
struct PartFacts {
  int exponent = 0, lowest_bit = no_lowest_bit;
  std::uint64_t sum = 0, squares = 0;
};

// The 2-norm of all is at most that of the slices' norms, each the sum of its parts'.
VERNIER_HD inline void add_part(const PartFacts& s, bool first_part, QuadVector& x) {
  if (s.sum == 0) return;
  const int exponent = x.zero() || s.exponent > x.exponent ? s.exponent : x.exponent;
  const double old = x.zero() ? 0 : ldexp(1.0, x.exponent - exponent), own = ldexp(1.0, s.exponent - exponent);
  const double sum = ldexp(static_cast<double>(s.sum), -quantum_bits) * own,
               norm = ldexp(sqrt(static_cast<double>(s.squares)), -quantum_bits) * own;
  const double norm_2 = x.norm_2 * old;
  x.norm_1 = (x.norm_1 * old + sum) * (1 + 0x1p-40);
  x.norm_2 = (first_part ? sqrt(norm_2 * norm_2 + norm * norm) : norm_2 + norm) * (1 + 0x1p-40);
  x.largest = x.largest * old + 2 * own;
  x.exponent = exponent;
  x.lowest_bit = s.lowest_bit < x.lowest_bit ? s.lowest_bit : x.lowest_bit;
}

// What is added up before it joins what is known of a vector.
inline constexpr std::int64_t longest_slice = 1024;

// Of the bits of a finite double that is not zero.
VERNIER_HD inline int lowest_bit_of(std::uint64_t bits) {
  const auto field = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1),
                      significand = field == 0 ? fraction : fraction | std::uint64_t{1} << 52;
  return (field == 0 ? 1 : field) - 1075 + 63 - leading_zeros(significand & (0 - significand));
}

// How the vectors of one side are scaled: to `bits` bits, or fewer where that makes integers of their elements.
struct QuadScaling {
  std::int64_t k;
  int bits, parts, partner_parts;
  bool lengthen;  // the error on this side covers the product of both roundings
};

// Returns at least the 2-norm of the scaled vector.
VERNIER_HD inline double set_quad_scale(const QuadVector& x, const QuadScaling& rule, QuadScale& s) {
  constexpr double slack = 1 + 0x1p-30;  // for the roundings of these few operations
  s = {};
  if (x.zero()) return 0;
  const double parts = rule.parts, count = static_cast<double>(rule.k);
  const bool integers = x.exponent - x.lowest_bit <= rule.bits - 1;
  s.exponent = integers ? x.exponent - x.lowest_bit : rule.bits - 1;
  s.scale = s.exponent - x.exponent;
  // Theorem 6 with elements that are off by half a unit for each of their parts.
  const double rounding = integers ? 0 : count * parts / 2;
  const double norm_1 = ldexp(x.norm_1, s.exponent) + (rule.lengthen ? rounding : 0);
  const double largest = ldexp(x.largest, s.exponent) + (rule.lengthen && !integers ? parts / 2 : 0);
  s.error = {rounding, norm_1 * rule.partner_parts / 2 * slack, largest * slack};
  return ldexp(x.norm_2, s.exponent) + (integers ? 0 : sqrt(count) * parts / 2);
}

// |x| of an element from the sum of its parts, in units of 2^exponent; what sums of magnitudes add.
VERNIER_HD inline double part_magnitude(double sum, const TwoFactors& unit) {
  return fabs(sum * unit.first * unit.second);
}

inline constexpr std::int64_t first_look = 128;      // elements that most entries are proved by
inline constexpr std::int64_t magnitude_lanes = 32;  // sums side by side, then theirs, as a warp adds them
VERNIER_HD inline double less_roundings(double sum, std::int64_t k) {
  return sum * (1 - static_cast<double>(k + 8) * 0x1p-51);
}

}  // namespace vernier
