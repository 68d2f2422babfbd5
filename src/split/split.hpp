// Splitting of a float into low-precision parts (Ootomo and Yokota 2021, equations 7, 8 and 14). Host and device: every
// machine gets the same parts.
#pragma once

#include <cstdint>

#include "number/formats.hpp"
#include "number/power_of_two.hpp"

namespace vernier {

// RN of any float to a shape of at most 8 exponent bits, as the stored word.
VERNIER_HD inline std::uint32_t to_low(const FloatShape& shape, RoundingMode mode, float x) {
  constexpr FloatShape fp32 = shape_fp32;  // a copy that device code can refer to
  const Unpacked u = unpack(fp32, float_word(x));
  std::uint64_t word = u.negative ? shape.sign_bit() : 0;
  if (u.kind == NumberClass::nan)
    word = shape.infinity() | (shape.infinity() >> 1);
  else if (u.kind == NumberClass::infinite)
    word |= shape.infinity();
  else if (!u.is_zero())
    word = round_to(shape, {.mode = mode}, u.negative, u.significand, u.exponent - fp32.fraction_bits);
  return static_cast<std::uint32_t>(word << shape.ignored_bits);
}

VERNIER_HD inline float from_low(const FloatShape& shape, std::uint32_t word) {
  const Unpacked u = unpack(shape, word);
  const float sign = u.negative ? -1.0f : 1.0f;
  if (u.kind == NumberClass::nan) return word_float(0x7fc00000);
  if (u.kind == NumberClass::infinite) return sign * word_float(0x7f800000);
  // Two factors: the quantum of a subnormal bf16 is 2^-133, below every normal float.
  return sign * static_cast<float>(u.significand) * float_power_of_two(u.exponent) *
         float_power_of_two(-shape.fraction_bits);
}

inline constexpr int max_split_parts = 3;

struct SplitRule {
  FloatShape low = shape_fp16;
  RoundingMode first = RoundingMode::nearest_even, rest = RoundingMode::nearest_even;
  int parts = 2;
  int shift[max_split_parts] = {0, 11, 0};
};

VERNIER_HD inline void split_parts(const SplitRule& rule, float v, std::uint32_t* words) {
  for (int p = 0; p < rule.parts; ++p) {
    words[p] = to_low(rule.low, p == 0 ? rule.first : rule.rest, v * float_power_of_two(rule.shift[p]));
    v = v - from_low(rule.low, words[p]) * float_power_of_two(-rule.shift[p]);
  }
}

// The powers of two that bring rows and columns into range before they are split.
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
