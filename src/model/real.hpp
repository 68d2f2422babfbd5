// Exact sums of two numbers, for engines that round after every addition. Host and device, constexpr.
#pragma once

#include "model/spec.hpp"

namespace vernier::model {

// (-1)^negative * significand * 2^exponent. In a sum bit 0 may stand for "something lies below".
struct Real {
  Uint128 significand = 0;
  int exponent = 0;
  bool negative = false;
  NumberClass kind = NumberClass::finite;
};

VERNIER_HD constexpr Real real_of(const Unpacked& x, const FloatShape& shape) {
  return {x.significand, x.exponent - shape.fraction_bits, x.negative, x.kind};
}

// The leading bit goes to bit 125: a sum of two then fits.
VERNIER_HD constexpr Real normalised(Real x) {
  const int up = 125 - leading_bit(x.significand);
  x.significand <<= up;
  x.exponent -= up;
  return x;
}

// x + y for x, y != 0 of at most 107 bits each. Bits are lost (into bit 0) only where the exponents differ so much that
// no cancellation can bring the place of rounding near them.
VERNIER_HD constexpr Real add_exact(Real x, Real y) {
  x = normalised(x);
  y = normalised(y);
  if (x.exponent < y.exponent || (x.exponent == y.exponent && x.significand < y.significand)) {
    const Real swap = x;
    x = y;
    y = swap;
  }
  const int down = x.exponent - y.exponent;
  Uint128 small = down > 127 ? Uint128{0} : y.significand >> down;
  if (down > 127 || (small << down) != y.significand) small |= 1;
  x.significand = x.negative == y.negative ? x.significand + small : x.significand - small;
  return x;
}

// The encoding of x + y in the shape, specials and signs of zero as IEEE 754 has them.
VERNIER_HD constexpr std::uint64_t round_sum(const Engine& e, const FloatShape& shape, Rounding rounding, const Real& x,
                                             const Real& y) {
  const bool x_inf = x.kind == NumberClass::infinite, y_inf = y.kind == NumberClass::infinite;
  if (x.kind == NumberClass::nan || y.kind == NumberClass::nan || (x_inf && y_inf && x.negative != y.negative))
    return shape.infinity() | (std::uint64_t{1} << (shape.fraction_bits - 1));
  if (x_inf || y_inf) return shape.infinity() | ((x_inf ? x.negative : y.negative) ? shape.sign_bit() : 0);
  Real s;
  if (x.significand == 0 && y.significand == 0)
    s.negative = x.negative == y.negative ? x.negative : rounding == Rounding::down;
  else if (x.significand == 0)
    s = y;
  else if (y.significand == 0)
    s = x;
  else
    s = add_exact(x, y);
  if (s.significand == 0) {
    if (x.significand != 0) s.negative = rounding == Rounding::down;  // exact cancellation
    return s.negative ? shape.sign_bit() : 0;
  }
  return round_to(shape, rule_of(e, rounding), s.negative, s.significand, s.exponent);
}

}  // namespace vernier::model
