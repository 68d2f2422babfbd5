// Remainders modulo p of sums that an integer instruction leaves in the bits of a float: no conversion, one fused
// multiply-add in fp32 and one dot product of two 16-bit integers.
//
// start + y, 0 <= y < 3072 p, are the bits of the float (X + y) 2^e, 2^23 <= X + y < 2^24. X / p is so near an integer
// d that
//     M - d + (X + y) / p = M + n,     n = rint(y / p),     M = 0x4b43 2^16 as bits of a float,
// rounded once. The lower half of that float's bits is n, the upper half 0x4b43; their products with the halves of
// `factors`, -p and -start / 0x4b43, take the sum to y - n p, the symmetric remainder. 0x4b43 is a prime, so that its
// multiples leave all remainders that X may need.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "number/ieee754.hpp"

namespace vernier {

inline constexpr int float_remainder_quotients = 3072;  // 24 bytes times weights of at most p / 2, and p more

struct FloatRemainder {
  std::int32_t start;
  float inverse;  // 2^-e / p
  float bias;     // M - d
  std::int32_t factors;
};

constexpr FloatRemainder make_float_remainder(int p) {
  constexpr int upper = 0x4b43, one = 1 << 23;
  const int sums = float_remainder_quotients * p;
  constexpr float magic = std::bit_cast<float>(upper << 16);
  // p / 2 modulo p = 256, the one even number, is -p / 2: quotients err upwards there.
  const float inverse = p % 2 != 0 ? 1.0f / static_cast<float>(p) : (1 + 0x1p-23f) / static_cast<float>(p);
  for (int factor = 32767; factor > 0; --factor) {
    const int start = upper * factor, x = one + start % one;
    const double quotient = x * static_cast<double>(inverse);
    const auto d = static_cast<int>(quotient + 0.5);
    const double first = (quotient - d) * p;  // error of the quotient of y = 0, in units of 1 / p
    const double last = first + sums * (static_cast<double>(inverse) * p - 1);
    const double least = p % 2 != 0 ? -0.49 : 0.01, most = least + 0.98;
    if (first < least || first > most || last < least || last > most || x + sums >= 2 * one) continue;
    const int exponent = start / one - 150;
    return {start, inverse * static_cast<float>(power_of_two(-exponent)), magic - static_cast<float>(d),
            (-factor * 65536) | (-p & 0xffff)};
  }
  return {};
}

// What the vector instructions compute, one at a time. sum: start + y.
inline std::int32_t float_remainder(std::int32_t sum, const FloatRemainder& r) {
  const auto quotient = std::bit_cast<std::int32_t>(std::fma(std::bit_cast<float>(sum), r.inverse, r.bias));
  const auto low = static_cast<std::int16_t>(quotient), low_factor = static_cast<std::int16_t>(r.factors);
  return sum + low * low_factor + (quotient >> 16) * (r.factors >> 16);
}

}  // namespace vernier
