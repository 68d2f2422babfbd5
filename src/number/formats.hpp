// Binary floating-point formats as shapes: decoding, and one rounding that serves them all. Host and device, constexpr.
#pragma once

#include <cstdint>

#include "number/host_device.hpp"

namespace vernier {

enum class RoundingMode : std::uint8_t { nearest_even, toward_zero, down, up, nearest_away };

enum class SpecialCodes : std::uint8_t {
  ieee,      // the largest exponent holds the infinities and NaNs
  nan_only,  // e4m3: only the two codes of all ones are NaNs
  none,      // every code is a number
};

// Sign, exponent_bits, fraction_bits; the low `ignored_bits` of the stored word do not belong to the number (tf32).
struct FloatShape {
  int exponent_bits = 8;
  int fraction_bits = 23;
  SpecialCodes specials = SpecialCodes::ieee;
  int ignored_bits = 0;

  VERNIER_HD constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  VERNIER_HD constexpr int emin() const { return 1 - bias(); }
  VERNIER_HD constexpr int emax() const {  // of the largest finite number
    return (1 << exponent_bits) - 1 - bias() - (specials == SpecialCodes::ieee ? 1 : 0);
  }
  VERNIER_HD constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
  VERNIER_HD constexpr std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  }
  VERNIER_HD constexpr std::uint64_t sign_bit() const { return std::uint64_t{1} << (exponent_bits + fraction_bits); }

  bool operator==(const FloatShape&) const = default;
};

inline constexpr FloatShape shape_fp16{5, 10};
inline constexpr FloatShape shape_bf16{8, 7};
inline constexpr FloatShape shape_tf32{8, 10, SpecialCodes::ieee, 13};
inline constexpr FloatShape shape_fp32{8, 23};
inline constexpr FloatShape shape_fp64{11, 52};

enum class NumberClass : std::uint8_t { finite, infinite, nan };

// value = (-1)^negative * significand * 2^(exponent - fraction_bits of the shape). Zeros and subnormal numbers have the
// exponent emin: nothing is normalised.
struct Unpacked {
  std::uint64_t significand = 0;
  int exponent = 0;
  bool negative = false;
  NumberClass kind = NumberClass::finite;

  VERNIER_HD constexpr bool is_zero() const { return kind == NumberClass::finite && significand == 0; }
};

VERNIER_HD constexpr Unpacked unpack(const FloatShape& shape, std::uint64_t word) {
  word >>= shape.ignored_bits;
  const int f = shape.fraction_bits;
  const int top = (1 << shape.exponent_bits) - 1;
  const int field = static_cast<int>(word >> f) & top;
  Unpacked x;
  x.negative = (word >> (f + shape.exponent_bits)) & 1;
  x.significand = word & ((std::uint64_t{1} << f) - 1);
  if (field == top && shape.specials == SpecialCodes::ieee)
    x.kind = x.significand == 0 ? NumberClass::infinite : NumberClass::nan;
  else if (field == top && shape.specials == SpecialCodes::nan_only && x.significand + 1 == std::uint64_t{1} << f)
    x.kind = NumberClass::nan;
  x.exponent = field == 0 ? shape.emin() : field - shape.bias();
  if (field != 0) x.significand |= std::uint64_t{1} << f;
  return x;
}

VERNIER_HD constexpr int leading_bit(std::uint64_t x) { return 63 - leading_zeros(x); }  // of x != 0
VERNIER_HD constexpr int leading_bit(Uint128 x) {
  const std::uint64_t high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? 64 + leading_bit(high) : leading_bit(static_cast<std::uint64_t>(x));
}

// Is the magnitude kept + (rest of a unit) rounded up? half: the first lost bit; below: any lost bit after it.
VERNIER_HD constexpr bool rounds_up(RoundingMode mode, bool negative, bool odd, bool half, bool below) {
  switch (mode) {
    case RoundingMode::nearest_even:
      return half && (below || odd);
    case RoundingMode::nearest_away:
      return half;
    case RoundingMode::down:
      return negative && (half || below);
    case RoundingMode::up:
      return !negative && (half || below);
    case RoundingMode::toward_zero:
      break;
  }
  return false;
}

// floor-like shift of a magnitude with a rounding mode; counts of the width and beyond are fine.
template <class U>
VERNIER_HD constexpr U shift_right(U x, int count, RoundingMode mode, bool negative) {
  constexpr int width = static_cast<int>(8 * sizeof(U));
  if (count <= 0) return x << -count;
  if (count > width) return rounds_up(mode, negative, false, false, x != 0) ? 1 : 0;
  const U kept = count == width ? U{0} : x >> count;
  const U half_bit = U{1} << (count - 1);
  const bool half = (x & half_bit) != 0;
  const bool below = (x & (half_bit - 1)) != 0;
  return kept + (rounds_up(mode, negative, (kept & 1) != 0, half, below) ? 1 : 0);
}

struct RoundingRule {
  RoundingMode mode = RoundingMode::nearest_even;
  bool flush_subnormal = false;      // results that are tiny after rounding become zeros of their sign
  bool overflow_to_infinity = true;  // in every mode; otherwise to the largest number
};

// Rounds (-1)^negative * significand * 2^exponent to the shape, significand != 0. Returns the encoding, without the
// ignored low bits. The shape has IEEE specials.
template <class U>
VERNIER_HD constexpr std::uint64_t round_to(const FloatShape& shape, const RoundingRule& rule, bool negative,
                                            U significand, int exponent) {
  const int f = shape.fraction_bits;
  const int e = leading_bit(significand) + exponent;
  const std::uint64_t sign = negative ? shape.sign_bit() : 0;
  if (rule.flush_subnormal && e < shape.emin()) {
    const U kept = shift_right(significand, e - f - exponent, rule.mode, negative);
    if (e + 1 < shape.emin() || kept >> (f + 1) == 0) return sign;
  }
  const int quantum = (e < shape.emin() ? shape.emin() : e) - f;
  const U kept = shift_right(significand, quantum - exponent, rule.mode, negative);
  // The leading bit of kept adds one to the exponent field; so does a carry out of the fraction.
  const std::uint64_t field = e < shape.emin() ? 0 : static_cast<std::uint64_t>(e - shape.emin());
  if (e > shape.emax() || (field << f) + static_cast<std::uint64_t>(kept) >= shape.infinity())
    return sign | (rule.overflow_to_infinity ? shape.infinity() : shape.infinity() - 1);
  return sign | ((field << f) + static_cast<std::uint64_t>(kept));
}

}  // namespace vernier
