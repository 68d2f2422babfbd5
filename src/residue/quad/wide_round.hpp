// Wide integers -> dd and binary128, one rounding.
#pragma once

#include <cmath>
#include <optional>

#include "residue/binary128/bits.hpp"
#include "residue/recombine/recombine.hpp"
#include "vernier/quad.hpp"

namespace vernier {

inline bool same_bits(const dd& x, const dd& y) {
  const auto bits = [](double a) { return std::bit_cast<std::uint64_t>(a); };
  return bits(x.hi) == bits(y.hi) && bits(x.lo) == bits(y.lo);
}

// hi = RN(x), lo = x - hi in the direction; hi alone carries x where x overflows or is subnormal. Nothing where the
// bits that were cut would decide.
inline std::optional<dd> round_to_dd(const WideNumber& x, Rounding rounding) {
  double hi = round_wide<double>(x.value, x.exponent);
  constexpr double largest_low = 0x1.fffffffffffffp969;  // below half a unit of the largest number
  if (std::isinf(hi)) {
    hi = round_wide<double>(x.value, x.exponent, rounding);
    return dd(hi, std::isinf(hi) ? 0 : std::copysign(largest_low, hi));
  }
  const DoubleParts p = parts_of(hi);
  const int shift = p.exponent - x.exponent;
  if (shift < 0)
    return dd(round_wide<double>(x.value, x.exponent, rounding));  // no bits below those of hi, or subnormal
  const Uint128 whole = shift < 128 ? static_cast<Uint128>(p.significand) << shift : 0;  // up to 2^127
  const auto rest = static_cast<Int128>(static_cast<Uint128>(x.value) - (p.negative ? -whole : whole));
  constexpr int enough = 53 + 3;
  if (x.cut && bit_width_of(magnitude_of(rest)) < enough) return std::nullopt;
  const double lo = rest == 0 ? 0 : round_wide<double>(rest, x.exponent, rounding);
  return std::fabs(hi) < 0x1p-1022 ? dd(hi + lo) : dd(hi, lo);  // among subnormal numbers hi + lo is exact
}

#if defined(__SIZEOF_FLOAT128__)
inline bool same_bits(const binary128& x, const binary128& y) {
  return std::bit_cast<Uint128>(x) == std::bit_cast<Uint128>(y);
}

inline binary128 round_to_binary128(const WideNumber& x, Rounding rounding) {
  return std::bit_cast<binary128>(binary128_bits(x, rounding));
}
#endif

// The leading 127 bits of an integer of any length, times 2^exponent.
inline WideNumber leading_bits_of(const SignedInteger& x, int exponent) {
  const int cut = x.magnitude.bit_width() - 126;
  WideNumber r{0, exponent, false};
  if (cut <= 0) {
    r.value = static_cast<Int128>(static_cast<Uint128>(x.magnitude.limb[1]) << 64 | x.magnitude.limb[0]);
  } else {
    r.value =
        static_cast<Int128>(static_cast<Uint128>(x.magnitude.bits(cut + 64, 64)) << 64 | x.magnitude.bits(cut, 64));
    r.exponent += cut;
    for (int bit = 0; bit < cut; bit += 64) r.cut = r.cut || x.magnitude.bits(bit, std::min(64, cut - bit)) != 0;
    if (r.cut) r.value |= 1;
  }
  if (x.negative) r.value = -r.value;
  return r;
}

}  // namespace vernier
