// Scaled integers as 32-bit words, and residues of them one byte at a time: what a GPU computes for each element. Host
// and device, the same bits on both.
#pragma once

#include <cmath>
#include <cstdint>

#include "number/byte_reduction.hpp"
#include "number/ieee754.hpp"
#include "residue/residues.hpp"

namespace vernier {

// Words of an element: 1 in narrow form, else two for each limb of 62 bits (residue/residues.hpp). An odd number has a
// leading limb of 30 bits, as in narrow form.
constexpr int words_of(bool narrow, int limbs) { return narrow ? 1 : 2 * limbs; }

// Limbs, and the least number of words, for elements of that exponent.
VERNIER_HD constexpr int limbs_for_exponent(int exponent) {
  int limbs = 1;
  while (exponent > largest_exponent(limbs)) ++limbs;
  return limbs;
}
VERNIER_HD constexpr int words_for_exponent(int exponent) {
  const int limbs = limbs_for_exponent(exponent);
  return exponent <= narrow_exponent + limb_bits * (limbs - 1) ? 2 * limbs - 1 : 2 * limbs;
}

// The largest exponent of elements that the 64 bits of two words hold, which scaled_words() of more words leaves to
// them.
inline constexpr int exponent_of_64_bits = limb_bits;

// The largest exponent of elements that take as many words.
VERNIER_HD constexpr int exponent_of_same_words(int exponent) {
  const int limbs = limbs_for_exponent(exponent);
  const int odd = narrow_exponent + limb_bits * (limbs - 1);
  return exponent <= odd ? odd : largest_exponent(limbs);
}

VERNIER_HD inline std::int64_t rounded_integer(double x) {
#if defined(__CUDA_ARCH__)
  return __double2ll_rn(x);
#else
  return static_cast<std::int64_t>(std::nearbyint(x));
#endif
}

// RN(a 2^scale) as words, each offset to be positive; `scale` is scale_factors<Words> of it.
template <int Words>
VERNIER_HD inline void scaled_words(double a, const TwoFactors& scale, std::uint32_t (&words)[Words]) {
  double rest = a * scale.first * scale.second;
  if constexpr (Words == 1) {
    words[0] = static_cast<std::uint32_t>(rounded_integer(rest)) ^ 0x80000000u;
  } else {
    if constexpr (Words % 2 == 1) {
      // None of an element that 64 bits hold, so that most leading words are zero.
      const double limb = fabs(rest) < 2 ? 0 : trunc(rest);
      words[Words - 1] = static_cast<std::uint32_t>(rounded_integer(limb)) ^ 0x80000000u;
      rest = (rest - limb) * 0x1p62;
    }
    VERNIER_UNROLL
    for (int t = Words / 2 - 1; t >= 0; --t) {
      const double limb = t > 0 ? trunc(rest) : rest;
      const auto x = static_cast<std::uint64_t>(rounded_integer(limb));
      words[2 * t] = static_cast<std::uint32_t>(x);
      words[2 * t + 1] = static_cast<std::uint32_t>(x >> 32) ^ 0x80000000u;
      rest = (rest - limb) * 0x1p62;
    }
  }
}

// What scaled_words multiplies by: the leading limb is an integer first.
template <int Words>
constexpr TwoFactors scale_factors(int scale) {
  return two_factors(scale - limb_bits * ((Words + 1) / 2 - 1));
}

template <int Words>
VERNIER_HD inline std::uint32_t residue_byte(const std::uint32_t (&words)[Words], const ByteReduction<Words>& r) {
  std::int32_t sum = r.start;
  VERNIER_UNROLL
  for (int w = 0; w < Words; ++w) sum = dot_bytes(words[w], r.weights[w], sum);
  return remainder_byte(sum, r);
}

// For words as scaled_words makes them; or for sums of them, as make_byte_reduction has it.
template <int Words>
ByteReduction<Words> digit_reduction(int p, ByteForm form, int terms = 1, int net = 1) {
  std::array<WordPlace, Words> places{};
  for (int w = 0; w < Words; ++w)
    places[static_cast<std::size_t>(w)] = {limb_bits * (w / 2) + 32 * (w % 2), w % 2 == 1 || w == Words - 1 ? 31 : -1};
  return make_byte_reduction<Words>(p, 1, places, form, terms, net);
}

}  // namespace vernier
