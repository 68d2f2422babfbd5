// Scales from one low-precision product of |A| and |B|, rounded down: for data that statistics of single rows and
// columns cannot prove (docs/accuracy.md, theorem 12). Pure functions, host and device: which engine makes the product,
// and how C is cut, is all the same to them.
//
//     S_ij      the product, in units of 2^(e_i + e_j): e the exponents of the largest elements of row i and column j
//     L_ij      lower S_ij <= (|A||B|)_ij
//     l_i       min over j of S_ij / w_j,   l_j   min over i of S_ij / w_i,   w a weight of each vector, from its norms
//     em_i      unit_bits - floor(log2(lower l_i)): the scaled exponent of row i; of columns alike
//
// Elements are then rounded to multiples of alpha_i <= u L_ij / w_j, for every j.
#pragma once

#include <cmath>
#include <cstdint>

#include "number/bound_byte.hpp"
#include "number/host_device.hpp"
#include "product/statistics.hpp"

namespace vernier {

// What a contract asks, u = 2^-unit_bits.
struct BoundRule {
  int unit_bits = 53;
  double rms = 0;              // each side's rounding errors are below rms u |A||B| / sqrt(2) in the mean square,
                               // but for slack that a sample allows; 0: the bound alone counts
  double part = 1;             // of k in S, where errors in the mean square are judged by its share of them
  std::int64_t chain = 1;      // products that the native product adds before it adds their sums
  int precision = 53;          // significand bits of the input type ...
  int last_bit = -1074;        // ... and its smallest exponent
  int largest_exponent = 185;  // of a scaled element, that the digits hold
};

// What is known of S, which is held in units of 2^(e_i + e_j - unit). Elements below 2^(e - kept_bits) may count as
// zero.
struct BoundProduct {
  double lower = 1;  // lower S_ij <= (|A||B|)_ij
  double upper = 1;  // (|A||B|)_ij <= upper S_ij + the terms of elements that counted as zero
  int unit = 0;
  int kept_bits = 0;
};

// The mean square error that a conventional product has at least for data of random signs, in units of u |A||B|: it
// adds chains of so many products, each rounding its sum, and then the chains (0.3 is measured: theorem 12).
VERNIER_HD inline double bound_rms(std::int64_t k, std::int64_t chain) {
  if (k <= chain) return 0.3;
  const auto length = static_cast<double>(chain), terms = static_cast<double>(k);
  return 0.3 * std::sqrt((length + terms / length) / terms);
}

// ---- weights -------------------------------------------------------------------------------------------------------

// A little more than x, for what a few operations in double or float round.
VERNIER_HD constexpr double raised(double x) { return x * (1 + 0x1p-20); }

// ||x||_2 / 2^e, from above.
VERNIER_HD inline double bound_norm(const VectorStatistics& v) {
  return raised(std::sqrt(static_cast<double>(v.squares)) * 0x1p-11);
}

// Each side has half of the bound k u |A||B|, less 2^-9 of it: room for both sides' roundings together, see
// bound_least_exponent, and for the last one.
inline constexpr double bound_half = 1 - 0x1p-9;

// w = max(||x||_1 / (k bound_half), part ||x||_2 / (sqrt(6) rms)) / 2^e, from above. The first gives each side its half
// of the bound; the second, as independent roundings have the variance alpha^2 / 12, half of the variance. 0 for zero
// vectors.
VERNIER_HD inline double bound_weight_by_sum(std::int64_t k, const VectorStatistics& v) {
  static_assert(quantum_bits == 11);
  return static_cast<double>(v.sum) * 0x1p-11 / (static_cast<double>(k) * bound_half);
}
VERNIER_HD inline double bound_weight(const BoundRule& rule, std::int64_t k, const VectorStatistics& v) {
  const double by_sum = bound_weight_by_sum(k, v);
  if (rule.rms == 0) return raised(by_sum);
  const double by_norm = rule.part * bound_norm(v) / (2.449489742783178 * rule.rms);
  return raised(by_sum > by_norm ? by_sum : by_norm);
}

// Bits by which partners' scales may be coarser than their weights ask, before the bound itself is at stake: the second
// weight's share beyond the first.
VERNIER_HD inline int bound_slack(const BoundRule& rule, std::int64_t k, const VectorStatistics& v) {
  if (rule.rms == 0) return 0;
  const double share = bound_weight_by_sum(k, v);
  int bits = 0;
  while (bits < 62 && raised(raised(share)) * std::ldexp(2.0, bits) <= bound_weight(rule, k, v)) ++bits;
  return bits;
}

// Are all elements in S? Then S_ij = 0 means that (|A||B|)_ij is 0, if both vectors are such, and asks nothing.
VERNIER_HD constexpr bool bound_keeps_all(const BoundProduct& product, const VectorStatistics& v) {
  return v.zero() || v.span() <= product.kept_bits;
}

// What a vector says of entries of S that are 0 (bound_of_zero): a zero vector asks nothing of any partner.
VERNIER_HD constexpr float bound_zero_share(const BoundProduct& product, const VectorStatistics& v) {
  return v.zero() ? 1.0f : bound_keeps_all(product, v) ? 0.5f : 0.0f;
}

// ---- scales --------------------------------------------------------------------------------------------------------

// floor(log2(x)), x > 0
VERNIER_HD inline int bound_floor_log2(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return exponent - 1;
}

// Scaled exponents from which rounding a vector's elements costs nothing, and from which it is small against each
// element.
VERNIER_HD constexpr int bound_exact_exponent(const BoundRule& rule, const VectorStatistics& v) {
  const int lowest_bit = v.lowest - (rule.precision - 1);
  return v.exponent - (lowest_bit > rule.last_bit ? lowest_bit : rule.last_bit);
}
VERNIER_HD inline int bound_own_exponent(const BoundRule& rule, std::int64_t k, const VectorStatistics& v) {
  // alpha <= min |x_l| min(1, u k bound_half, u sqrt(6) rms), of a power of two in place of the least element
  double share = static_cast<double>(k) * bound_half;
  if (rule.rms != 0) share = share < 2.449489742783178 * rule.rms ? share : 2.449489742783178 * rule.rms;
  const int bits = rule.unit_bits - bound_floor_log2(share);
  return v.span() + (bits > 0 ? bits : 0);
}

// From here on a vector's roundings sum to less than 2^-10 of its 1-norm, so that those of both sides together are
// below 2^-10 of those of either.
VERNIER_HD inline int bound_least_exponent(std::int64_t k) { return bound_floor_log2(static_cast<double>(k)) + 10; }

// em of a vector that is not zero, from its minimum (0: one of its entries has no bound). Beyond rule.largest_exponent
// no scale serves. slack: bits less, where bound_slack() of all partners allows them.
VERNIER_HD inline int bound_exponent(const BoundRule& rule, const BoundProduct& product, std::int64_t k,
                                     const VectorStatistics& v, float minimum, int slack = 0) {
  const int exact = bound_exact_exponent(rule, v), own = bound_own_exponent(rule, k, v) - slack;
  if (minimum >= bound_no_partner) return 1;
  int em = exact < own ? exact : own;
  if (minimum > 0) {
    const double least = static_cast<double>(minimum) * product.lower * (1 - 0x1p-20);
    const int shared = rule.unit_bits + product.unit - bound_floor_log2(least) - slack;
    em = em < shared ? em : shared;
  }
  const int least = bound_least_exponent(k) < exact ? bound_least_exponent(k) : exact;
  em = em > least ? em : least;
  return em > 1 ? em : 1;
}

// ---- how much the integers need ------------------------------------------------------------------------------------
//
// |Ct_ij| <= (1 + k u) (|a~||b~|)_ij, so log2 |Ct_ij| <= top_i + top_j + bound_entry_log2(its byte) +
// bound_rounding_log2.

// log2 of (|A||B|)_ij / (norm_i norm_j 2^(e_i + e_j)) at most. What counted as zero in S adds sqrt(k) 2^-kept_bits from
// each side.
VERNIER_HD inline double bound_entry_log2(const BoundProduct& product, std::int64_t k, int code) {
  const double zeros = std::sqrt(static_cast<double>(k)) * std::ldexp(2.0, -product.kept_bits);
  return std::log2(product.upper * std::exp2(bound_code_log2(code)) + zeros) + 1e-9;
}

// log2 of an entry's share in what its vectors' tops allow, in sixteenths, from above.
VERNIER_HD inline int bound_entry_16(const BoundProduct& product, std::int64_t k, int code) {
  const double log2 = bound_entry_log2(product, k, code);
  return log2 >= 0 ? 0 : static_cast<int>(std::ceil(16 * log2));
}

// log2 of ||a~||_2 after the rounding to integers, from above: by Cauchy and Schwarz top_i + top_j bounds the entry
// too.
VERNIER_HD inline double bound_top(const VectorStatistics& v, std::int64_t k, int em) {
  return em + std::log2(bound_norm(v) + std::ldexp(std::sqrt(static_cast<double>(k)) / 2, -em)) + 1e-9;
}

// |Ct| / (|a~||b~|) at most, as a logarithm.
VERNIER_HD inline double bound_rounding_log2(const BoundRule& rule, std::int64_t k) {
  return std::log2(1 + std::ldexp(static_cast<double>(k), -rule.unit_bits));
}

// Bits that moduli which hold 2^capacity leave beyond 2^need: rows take the greater half of them, columns the other,
// for smaller errors at the same price.
VERNIER_HD inline int bound_spare_bits(double capacity, double need) {
  const double spare = capacity - need - 1e-6;
  return spare > 0 ? static_cast<int>(spare) : 0;
}
VERNIER_HD inline int bound_with_spare(const BoundRule& rule, const VectorStatistics& v, int em, int spare) {
  int with = em + spare;
  const int exact = bound_exact_exponent(rule, v);
  if (with > exact) with = exact > em ? exact : em;
  if (with > rule.largest_exponent) with = rule.largest_exponent > em ? rule.largest_exponent : em;
  return with;
}

}  // namespace vernier
