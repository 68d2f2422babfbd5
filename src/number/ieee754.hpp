// Bits of IEEE 754 numbers, and the one rounding that turns an integer into one. Host and device; includes only std.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "number/host_device.hpp"
#include "vernier/rounding.hpp"

namespace vernier {

template <class T>
struct Ieee754;

template <>
struct Ieee754<double> {
  using Bits = std::uint64_t;
  static constexpr int precision = 53;        // significand bits, the hidden one included
  static constexpr int min_exponent = -1022;  // of the smallest normal number
  static constexpr int max_exponent = 1023;
};

template <>
struct Ieee754<float> {
  using Bits = std::uint32_t;
  static constexpr int precision = 24;
  static constexpr int min_exponent = -126;
  static constexpr int max_exponent = 127;
};

template <class T>
constexpr typename Ieee754<T>::Bits magnitude_bits(T x) {
  using Bits = typename Ieee754<T>::Bits;
  return std::bit_cast<Bits>(x) & (std::numeric_limits<Bits>::max() >> 1);
}

template <class T>
inline constexpr typename Ieee754<T>::Bits infinity_bits = magnitude_bits(std::numeric_limits<T>::infinity());

// floor(log2 |x|) of a finite nonzero x given by its magnitude bits; subnormal numbers included.
template <class T>
VERNIER_HD constexpr int exponent_of(typename Ieee754<T>::Bits magnitude) {
  using F = Ieee754<T>;
  const int biased = static_cast<int>(magnitude >> (F::precision - 1));
  if (biased != 0) return biased - F::max_exponent;
  return F::min_exponent - F::precision + bit_width(magnitude);
}

// A finite double as +-significand * 2^exponent, with an integer significand below 2^53.
struct DoubleParts {
  bool negative;
  std::uint64_t significand;
  int exponent;
};
constexpr DoubleParts parts_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto biased = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  return {(bits >> 63) != 0, biased == 0 ? fraction : fraction | (std::uint64_t{1} << 52), std::max(biased, 1) - 1075};
}

// 2^exponent, which must be a normal number.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(Ieee754<double>::max_exponent + exponent) << 52);
}

// 2^exponent as two factors, for exponents beyond those of normal numbers. A product of x with both is x 2^exponent
// where that is representable, and below 1/2 where it is not, as long as it is less than 2^1000.
struct TwoFactors {
  double first, second;
};
constexpr TwoFactors two_factors(int exponent) {
  const int half = exponent / 2;
  return {power_of_two(half), power_of_two(exponent - half)};
}

// The exponent of the last bit of numbers whose leading bit has the given exponent.
template <class T>
constexpr int last_bit_exponent(int exponent) {
  using F = Ieee754<T>;
  return (exponent < F::min_exponent ? F::min_exponent : exponent) - (F::precision - 1);
}

// Does the rounding of a number that is not representable go away from zero, whatever it is? Not for nearest.
VERNIER_HD constexpr bool rounds_away(Rounding rounding, bool negative) {
  return rounding == (negative ? Rounding::down : Rounding::up);
}

// The direction of -x where x goes in that direction.
VERNIER_HD constexpr Rounding mirrored(Rounding rounding) {
  return rounding == Rounding::down ? Rounding::up : rounding == Rounding::up ? Rounding::down : rounding;
}

// +-significand * 2^exponent rounded once, with overflow (to infinity, or to the largest number where the direction
// keeps below) and gradual underflow. If bits below the significand were cut off, its last bit must be set ("sticky")
// and it must have precision + 3 bits at least.
template <class T>
VERNIER_HD constexpr T round_scaled(bool negative, std::uint64_t significand, int exponent,
                                    Rounding rounding = Rounding::nearest) {
  using F = Ieee754<T>;
  using Bits = typename F::Bits;
  const Bits sign = static_cast<Bits>(negative ? 1 : 0) << (8 * sizeof(Bits) - 1);
  if (significand == 0) return std::bit_cast<T>(sign);
  const int shift = leading_zeros(significand);
  significand <<= shift;
  exponent -= shift;
  const int leading = exponent + 63;
  const bool away = rounds_away(rounding, negative);
  if (leading > F::max_exponent) {
    const Bits largest = infinity_bits<T> - (rounding == Rounding::nearest || away ? 0 : 1);
    return std::bit_cast<T>(static_cast<Bits>(sign | largest));
  }
  const int drop = last_bit_exponent<T>(leading) - exponent;  // at least 64 - precision
  if (drop > 64)
    return std::bit_cast<T>(static_cast<Bits>(sign | (away ? 1 : 0)));  // below half of the smallest number
  std::uint64_t kept = drop == 64 ? 0 : significand >> drop;
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const std::uint64_t rest = drop == 64 ? significand : significand & ((half << 1) - 1);
  if (rounding == Rounding::nearest ? rest > half || (rest == half && (kept & 1) != 0) : away && rest != 0) ++kept;
  // A carry out of the significand moves into the exponent field by itself, up to infinity.
  const Bits field = leading < F::min_exponent ? 0 : static_cast<Bits>(leading - F::min_exponent);
  return std::bit_cast<T>(static_cast<Bits>(sign | ((field << (F::precision - 1)) + static_cast<Bits>(kept))));
}

}  // namespace vernier
