// IEEE binary128 by its bits: three doubles that add up to it, and the rounding of wide integers to it. Host and
// device.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "number/bracket.hpp"
#include "number/host_device.hpp"

namespace vernier {

// value 2^exponent; cut: value's last bit stands for bits below it that are not all zero.
struct WideNumber {
  Int128 value = 0;  // magnitude below 2^127
  int exponent = 0;
  bool cut = false;
};

// Exponent field and fraction of a binary128.
struct QuadBits {
  static constexpr int fraction_bits = 112, bias = 16383, special_field = 0x7fff;

  int field;
  Uint128 fraction;
  bool negative;

  VERNIER_HD explicit QuadBits(Uint128 bits)
      : field(static_cast<int>(static_cast<std::uint64_t>(bits >> fraction_bits) & special_field)),
        fraction(bits & ((Uint128{1} << fraction_bits) - 1)),
        negative((bits >> 127) != 0) {}
  VERNIER_HD bool finite() const { return field != special_field; }
  VERNIER_HD bool zero() const { return field == 0 && fraction == 0; }
  VERNIER_HD Uint128 significand() const { return field == 0 ? fraction : fraction | Uint128{1} << fraction_bits; }
  VERNIER_HD int unit() const { return (field > 1 ? field : 1) - bias - fraction_bits; }  // of the last bit
  VERNIER_HD int exponent() const { return unit() + bit_width_of(significand()) - 1; }
};

// Times 2^-shift, as three doubles of 38, 38 and 37 bits: exact, whatever lies between.
VERNIER_HD inline void split_binary128(const QuadBits& bits, int shift, double* out) {
  if (!bits.finite()) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    out[0] = bits.fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : bits.negative ? -infinity : infinity;
    out[1] = out[2] = 0;
    return;
  }
  constexpr int width = 38;
  const Uint128 significand = bits.significand();
  VERNIER_UNROLL
  for (int p = 0; p < 3; ++p) {
    const auto digit = static_cast<std::uint64_t>(significand >> (width * (2 - p))) & ((std::uint64_t{1} << width) - 1);
    const double value = ldexp(static_cast<double>(digit), bits.unit() - shift + width * (2 - p));
    out[p] = bits.negative ? -value : value;
  }
}

// As round_scaled does it for the smaller types. WideNumbers have bits enough, cut or not.
VERNIER_HD inline Uint128 binary128_bits(const WideNumber& x, Rounding rounding) {
  constexpr int precision = 113, least = -16382, most = 16383;
  const bool negative = x.value < 0, away = rounds_away(rounding, negative);
  const Uint128 sign = static_cast<Uint128>(negative ? 1 : 0) << 127, one = 1;
  Uint128 significand = magnitude_of(x.value);
  if (significand == 0) return sign;
  const int zeros = 128 - bit_width_of(significand);
  significand <<= zeros;
  const int exponent = x.exponent - zeros, leading = exponent + 127;
  const Uint128 infinity = static_cast<Uint128>(0x7fff) << (precision - 1);
  if (leading > most) return sign | (infinity - (rounding == Rounding::nearest || away ? 0 : 1));
  const int drop = (leading > least ? leading : least) - (precision - 1) - exponent;
  if (drop > 128) return sign | (away ? 1 : 0);
  Uint128 kept = drop == 128 ? 0 : significand >> drop;
  const Uint128 half = one << (drop - 1), rest = drop == 128 ? significand : significand & ((half << 1) - 1);
  if (rounding == Rounding::nearest ? rest > half || (rest == half && (kept & 1) != 0) : away && rest != 0) ++kept;
  const Uint128 field = leading < least ? 0 : static_cast<Uint128>(leading - least);
  return sign | ((field << (precision - 1)) + kept);
}

}  // namespace vernier
