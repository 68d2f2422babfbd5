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

// What that product leaves of each of its entries, S, whichever engine makes it: a ratio for the minimum of its row and
// its column, and a byte (residue/bound/bound_scales.hpp).

// The minimum over entries that ask nothing.
inline constexpr float bound_no_partner = 3.4028234663852886e38f;

// What S_ij = 0 says: (|A||B|)_ij is 0 too, and asks nothing, where the shares of row and column (bound_zero_share) are
// 1 or more together; else it has no bound.
VERNIER_HD constexpr float bound_of_zero(float row_share, float column_share) {
  return row_share + column_share >= 1 ? bound_no_partner : 0.0f;
}

// S_ij / w_j for the minimum over j, from 1 / w_j.
VERNIER_HD constexpr float bound_ratio(float s, float inverse_weight, float of_zero) {
  return s == 0 ? of_zero : s * inverse_weight;
}

// q = S_ij / (norm_i norm_j) <= 1.5 in eighths of octaves from 2^-31 on: log2 q <= bound_code_log2(bound_code(q)). A
// float's leading bits are its logarithm less up to 0.0861.
inline constexpr int bound_least_eighth = (127 - 31) << 3;
VERNIER_HD constexpr std::uint8_t bound_code(float q) {
  const int eighths = static_cast<int>(std::bit_cast<std::uint32_t>(q) >> 20) - bound_least_eighth;
  return static_cast<std::uint8_t>(eighths < 0 ? 0 : eighths > 255 ? 255 : eighths);
}
VERNIER_HD constexpr double bound_code_log2(int code) { return (code + 1) / 8.0 - 31 + 0.0861; }

}  // namespace vernier
