// A number known up to an error, and the test whether it can be rounded nevertheless. Host and device; includes only
// std.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "number/host_device.hpp"
#include "number/ieee754.hpp"

namespace vernier {

// A real number within radius of value, both in units of 2^exponent; |value| + radius < 2^126. If radius is zero the
// number is value itself, or has bits below that value's last bit, set, stands for (and more than 64 above it).
struct Bracket {
  Int128 value = 0;
  Uint128 radius = 0;
  int exponent = 0;
};

constexpr Uint128 magnitude_of(Int128 x) { return x < 0 ? -static_cast<Uint128>(x) : static_cast<Uint128>(x); }

constexpr int bit_width_of(Uint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64), low = static_cast<std::uint64_t>(x);
  return high != 0 ? 64 + bit_width(high) : bit_width(low);
}

// x * 2^exponent, rounded once
template <class T>
constexpr T round_wide(Int128 x, int exponent, Rounding rounding = Rounding::nearest) {
  const Uint128 magnitude = magnitude_of(x);
  const int shift = bit_width_of(magnitude) - 64;
  if (shift <= 0) return round_scaled<T>(x < 0, static_cast<std::uint64_t>(magnitude), exponent, rounding);
  const bool rest = (magnitude & ((Uint128{1} << shift) - 1)) != 0;
  return round_scaled<T>(x < 0, static_cast<std::uint64_t>(magnitude >> shift) | (rest ? 1 : 0), exponent + shift,
                         rounding);
}

// The one floating-point number, sign of zero included, that everything in the bracket rounds to; nothing if there are
// two.
template <class T>
constexpr std::optional<T> rounded(const Bracket& x, Rounding rounding = Rounding::nearest) {
  if (x.radius == 0) return round_wide<T>(x.value, x.exponent, rounding);
  if (x.radius >> 125 != 0) return std::nullopt;
  const auto radius = static_cast<Int128>(x.radius);
  const T low = round_wide<T>(x.value - radius, x.exponent, rounding),
          high = round_wide<T>(x.value + radius, x.exponent, rounding);
  using Bits = typename Ieee754<T>::Bits;
  if (std::bit_cast<Bits>(low) != std::bit_cast<Bits>(high)) return std::nullopt;
  return low;
}

// -1, 0, 1; nothing if the bracket holds more than one sign.
constexpr std::optional<int> sign_of(const Bracket& x) {
  if (x.radius == 0) return x.value > 0 ? 1 : x.value < 0 ? -1 : 0;
  if (magnitude_of(x.value) <= x.radius) return std::nullopt;
  return x.value > 0 ? 1 : -1;
}

// x * 2^-count, count >= 0: what is cut off goes into the radius.
constexpr Bracket shifted_down(const Bracket& x, int count) {
  if (count == 0) return x;
  if (count > 126) return {0, x.value != 0 || x.radius != 0 ? Uint128{1} : Uint128{0}, x.exponent + count};
  const Int128 value = x.value >> count;
  const bool cut = (value << count) != x.value;
  const Uint128 radius = x.radius == 0 ? 0 : (x.radius >> count) + 1;
  return {value, radius + (cut ? 1 : 0), x.exponent + count};
}

// factor * x; the radius grows by 2^-70 of the value at most.
constexpr Bracket multiplied(const Bracket& x, double factor) {
  const int excess = std::max(0, std::max(bit_width_of(magnitude_of(x.value)), bit_width_of(x.radius)) - 72);
  Bracket y = shifted_down(x, excess);
  const DoubleParts f = parts_of(factor);
  y.value *= static_cast<Int128>(f.significand);
  if (f.negative) y.value = -y.value;
  y.radius *= f.significand;
  y.exponent += f.exponent;
  return y;
}

// x + y, cut to 124 bits.
constexpr Bracket sum_of(const Bracket& x, const Bracket& y) {
  if (x.value == 0 && x.radius == 0) return y;
  if (y.value == 0 && y.radius == 0) return x;
  const auto top = [](const Bracket& b) {
    return b.exponent + std::max(bit_width_of(magnitude_of(b.value)), bit_width_of(b.radius));
  };
  const int exponent = std::max(top(x), top(y)) - 124;
  const auto aligned = [&](Bracket b) {
    if (b.exponent <= exponent) return shifted_down(b, exponent - b.exponent);
    b.value <<= b.exponent - exponent;
    b.radius <<= b.exponent - exponent;
    return b;
  };
  const Bracket a = aligned(x), b = aligned(y);
  return {a.value + b.value, a.radius + b.radius, exponent};
}

constexpr Bracket product_of(double x, double y) {
  const DoubleParts a = parts_of(x), b = parts_of(y);
  const auto product = static_cast<Int128>(static_cast<Uint128>(a.significand) * b.significand);
  return {a.negative != b.negative ? -product : product, 0, a.exponent + b.exponent};
}

}  // namespace vernier
