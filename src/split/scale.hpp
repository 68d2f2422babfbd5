// The powers of two that bring rows and columns into range before they are split. Host and device.
#pragma once

#include <cstdint>

#include "number/formats.hpp"
#include "number/power_of_two.hpp"

namespace vernier {

inline constexpr int scaled_exponent = 14;  // the largest element of a scaled row lies in [2^14, 2^15)

// The s that scales a vector whose largest magnitude has these bits; 0 for zeros, infinities and NaNs.
VERNIER_HD inline int split_scale(std::uint32_t largest_magnitude) {
  if (largest_magnitude == 0 || largest_magnitude >= 0x7f800000u) return 0;
  const int field = static_cast<int>(largest_magnitude >> 23);
  const int exponent = field != 0 ? field - 127 : leading_bit(static_cast<std::uint64_t>(largest_magnitude)) - 149;
  return scaled_exponent - exponent;  // from -113 to 163
}

// x 2^s, exact but for elements that all parts lose anyway: two factors, since 2^s may exceed every float.
struct SplitScale {
  float first, second;

  VERNIER_HD explicit SplitScale(int s)
      : first(float_power_of_two(s > 127 ? 127 : s)), second(float_power_of_two(s > 127 ? s - 127 : 0)) {}
  VERNIER_HD float operator()(float x) const { return x * first * second; }
};

}  // namespace vernier
