// Magnitudes as bytes of e5m2, rounded towards zero: operands of the product of |A| and |B| on fp8 units (docs/
// accuracy.md, theorem 12). Integer arithmetic; host and device.
#pragma once

#include <bit>
#include <cstdint>

#include "number/host_device.hpp"

namespace vernier {

// A vector's largest element lies in [2^bound_byte_top, 2^(bound_byte_top + 1)), where e5m2 ends; what then lies below
// its least number, 2^-16, becomes zero: more than bound_byte_kept below the largest.
inline constexpr int bound_byte_top = 15, bound_byte_least = -16,
                     bound_byte_kept = bound_byte_top - bound_byte_least - 1;

// |x| 2^(bound_byte_top - exponent) for |x| < 2^(exponent + 1); 0 for NaN and infinities.
VERNIER_HD constexpr std::uint8_t bound_byte(double x, int exponent) {
  constexpr int bias = 1023, e5m2_bias = 15;
  auto bits = std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffff;
  if (bits >> 52 == 2 * bias + 1) return 0;
  if (bits >> 52 == 0) {  // zero or subnormal
    bits = std::bit_cast<std::uint64_t>(std::bit_cast<double>(bits) * 0x1p54);
    exponent += 54;
    if (bits == 0) return 0;
  }
  // The leading bits of the exponent and two of the fraction are those of the byte, but for the bias.
  const int code = static_cast<int>(bits >> 50) - 4 * (exponent - bound_byte_top + bias - e5m2_bias);
  if (code >= 4) return static_cast<std::uint8_t>(code);
  const int shift = 1 - (code >> 2);  // subnormal numbers have no implicit bit
  return static_cast<std::uint8_t>(shift > 2 ? 0 : (4 | (code & 3)) >> shift);
}

VERNIER_HD constexpr double bound_byte_value(std::uint8_t byte) {
  const int field = byte >> 2, fraction = byte & 3;
  double value = field == 0 ? fraction : 4 + fraction;
  for (int e = field == 0 ? 1 : field; e > 0; --e) value *= 2;
  return value * 0x1p-17;
}

}  // namespace vernier
