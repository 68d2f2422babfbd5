// What is known of one vector of a quadruple operand, and its scale. Host and device, the same bits on both.
#pragma once

#include <cmath>
#include <cstdint>

#include "number/host_device.hpp"
#include "product/exact/entry.hpp"
#include "product/flatness.hpp"
#include "residue/exact/exact.hpp"

namespace vernier {

inline constexpr int most_parts = 3;
inline constexpr int most_span = 900;  // of exponents in a vector of binary128: its parts stay normal doubles

// Elements are those of op(A) or op(B) times 2^-shift.
struct QuadVector {
  int shift = 0;     // binary128: the exponent of the largest element; else 0
  int exponent = 0;  // of the largest part
  int lowest_bits[most_parts] = {no_lowest_bit, no_lowest_bit, no_lowest_bit};  // exponents, of each part
  int span = 0;                   // of exponents of the elements, of binary128
  double norm_1 = 0, norm_2 = 0;  // bounds of the norms, in units of 2^exponent
  double flat = 0;                // lemma 1's G, likewise: the least of all whole slices; 0: there is none
  bool nonfinite = false;

  constexpr bool zero() const { return norm_1 == 0; }
};

// What rounding the parts of a scaled vector costs the entries: |Ct - AB| is at most the row's `rounded` times the
// column's half norm, and the other way round. |A||B| is at least the product of both floors (theorem 13).
struct QuadError {
  double rounded = 0, half_norm = 0, floor = 0;
};

VERNIER_HD inline double quad_error(const QuadError& row, const QuadError& column) {
  return row.rounded * column.half_norm + column.rounded * row.half_norm;
}

// The scale of a vector.
struct QuadScale {
  int scale = 0;     // elements of the parts times 2^scale are rounded to integers
  int exponent = 0;  // of the largest scaled part
  QuadError error;
};

// What a part of some elements says, as VectorStatistics has it, and its lowest bit.
struct PartFacts {
  int exponent = 0, lowest_bit = no_lowest_bit;
  std::uint64_t sum = 0, squares = 0;
  int flatness = not_flat;
};

// The 2-norm of all is at most that of the slices' norms, each the sum of its parts'.
VERNIER_HD inline void add_part(const PartFacts& s, int part, QuadVector& x) {
  if (s.sum == 0) return;
  const int exponent = x.zero() || s.exponent > x.exponent ? s.exponent : x.exponent;
  const double old = x.zero() ? 0 : ldexp(1.0, x.exponent - exponent), own = ldexp(1.0, s.exponent - exponent);
  const double sum = ldexp(static_cast<double>(s.sum), -quantum_bits) * own,
               norm = ldexp(sqrt(static_cast<double>(s.squares)), -quantum_bits) * own;
  const double norm_2 = x.norm_2 * old;
  x.norm_1 = (x.norm_1 * old + sum) * (1 + 0x1p-40);
  x.norm_2 = (part == 0 ? sqrt(norm_2 * norm_2 + norm * norm) : norm_2 + norm) * (1 + 0x1p-40);
  x.flat = x.flat * old;
  x.exponent = exponent;
  x.lowest_bits[part] = s.lowest_bit < x.lowest_bits[part] ? s.lowest_bit : x.lowest_bits[part];
}

// What is added up before it joins what is known of a vector.
inline constexpr std::int64_t longest_slice = 1024;

// Vectors of which a flatness is known to everyone who measures them, by sums alone.
inline constexpr int flattest = 12;
// Parts so far below the leading one take no more than 2^-10 off what it proves.
inline constexpr int far_below = 36;

// The parts of a slice, from its first one, which has a flatness; what is short beside other slices is left out.
VERNIER_HD inline void add_slice(const PartFacts* parts, int count, std::int64_t begin, std::int64_t elements,
                                 QuadVector& x) {
  bool flat = parts[0].flatness <= flattest;
  for (int p = 0; p < count; ++p) {
    add_part(parts[p], p, x);
    flat = flat && (p == 0 || parts[p].sum == 0 || parts[p].exponent <= parts[0].exponent - far_below);
  }
  if (begin > 0 && elements < longest_slice) return;
  const double half = parts[0].flatness % 2 != 0 ? 0x1.6a09e667f3bccp-1 : 1;  // at most the root of 1/2
  const double own = flat ? ldexp(half, parts[0].exponent - x.exponent - parts[0].flatness / 2) : 0;
  x.flat = begin == 0 || own < x.flat ? own : x.flat;
}

// Of the bits of a finite double that is not zero.
VERNIER_HD inline int lowest_bit_of(std::uint64_t bits) {
  const auto field = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1),
                      significand = field == 0 ? fraction : fraction | std::uint64_t{1} << 52;
  return (field == 0 ? 1 : field) - 1075 + 63 - leading_zeros(significand & (0 - significand));
}

// How large vectors become: of so many bits, or of as large a 2-norm; none: any.
struct QuadSize {
  int bits = 0;
  double norm = 0;
};

// How the vectors of one side are scaled; to fewer bits where that makes integers of their elements.
struct QuadScaling {
  std::int64_t k;
  int parts;
  QuadSize size;
  bool lengthen;  // the error on this side covers the product of both roundings
};

// Exponent of the vector at its largest scale.
VERNIER_HD inline int largest_quad_exponent(const QuadVector& x, const QuadSize& size) {
  if (size.norm == 0) return size.bits - 1;
  const int exponent = exponent_of_value(size.norm) - exponent_of_value(x.norm_2);
  const int fits = ldexp(x.norm_2, exponent) > size.norm ? exponent - 1 : exponent;
  return fits < size.bits - 1 ? fits : size.bits - 1;
}

// Returns at least the 2-norm of the scaled vector.
VERNIER_HD inline double set_quad_scale(const QuadVector& x, const QuadScaling& rule, QuadScale& s) {
  constexpr double slack = 1 + 0x1p-30;  // for the roundings of these few operations
  s = {};
  if (x.zero()) return 0;
  const double count = static_cast<double>(rule.k);
  const int most = largest_quad_exponent(x, rule.size);
  int rounded = 0, integers = 0;
  for (int p = 0; p < rule.parts; ++p) {
    const int of_integers = x.exponent - x.lowest_bits[p];
    if (of_integers > most) ++rounded;
    if (of_integers > integers) integers = of_integers;
  }
  s.exponent = rounded == 0 ? integers : most;
  s.scale = s.exponent - x.exponent;
  // Elements are off by half a unit for each part that is rounded.
  const double norm_1 = ldexp(x.norm_1, s.exponent) + (rule.lengthen ? count * rounded / 2 : 0);
  const double whole = rule.k < longest_slice ? count : static_cast<double>(rule.k - rule.k % longest_slice);
  s.error = {static_cast<double>(rounded), norm_1 / 2 * slack, ldexp(x.flat * sqrt(whole) * (1 - 0x1p-9), s.exponent)};
  return ldexp(x.norm_2, s.exponent) + sqrt(count) * rounded / 2;
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
