// Words and residues of scaled elements as a GPU computes them, against the definition.
#include "residue/convert/digits.hpp"

#include <gtest/gtest.h>

#include <gmpxx.h>

#include <random>
#include <vector>

namespace vernier::digits_test {
namespace {

mpz_class scaled_and_rounded(double a, int scale) {
  if (a == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(a, &exponent);
  mpz_class x(std::ldexp(fraction, 53));
  const int shift = exponent - 53 + scale;
  if (shift >= 0) return x << shift;
  const bool negative = x < 0;
  mpz_class magnitude = abs(x), half = 0;
  mpz_class whole = magnitude >> -shift, rest = magnitude - (whole << -shift);
  half = mpz_class(1) << (-shift - 1);
  if (rest > half || (rest == half && whole % 2 != 0)) ++whole;
  return negative ? mpz_class(-whole) : whole;
}

template <int Words>
void residues_are_those_of_the_rounded_integer(int largest_exponent_of_element) {
  std::mt19937_64 random(Words);
  std::vector<ByteReduction<Words>> reductions;
  for (const int p : moduli) reductions.push_back(digit_reduction<Words>(p, ByteForm::natural));
  for (const int base : {0, 900, -900, -1040}) {
    for (int i = 0; i < 400; ++i) {
      const int depth = i % 5 == 0 ? i : i % 80;  // below the vector's maximum
      const double significand = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
      const double a = std::ldexp(i % 2 == 0 ? significand : -significand, std::max(base - depth, -1080));
      const int scale = largest_exponent_of_element - base;
      std::uint32_t words[Words];
      scaled_words(a, scale_factors<Words>(scale), words);
      const mpz_class x = scaled_and_rounded(a, scale);
      for (std::size_t q = 0; q < moduli.size(); ++q) {
        const int byte = static_cast<std::uint8_t>(residue_byte(words, reductions[q]));
        const mpz_class difference = x - byte;
        ASSERT_TRUE(mpz_divisible_ui_p(difference.get_mpz_t(), static_cast<unsigned long>(moduli[q])))
            << a << " scaled by 2^" << scale << " modulo " << moduli[q];
      }
    }
  }
}

TEST(DeviceDigits, OfNarrowElements) { residues_are_those_of_the_rounded_integer<1>(narrow_exponent); }
TEST(DeviceDigits, OfOneLimb) { residues_are_those_of_the_rounded_integer<2>(largest_exponent(1)); }
TEST(DeviceDigits, OfOneLimbAndAHalf) { residues_are_those_of_the_rounded_integer<3>(narrow_exponent + limb_bits); }
TEST(DeviceDigits, OfTwoLimbs) { residues_are_those_of_the_rounded_integer<4>(largest_exponent(2)); }
TEST(DeviceDigits, OfThreeLimbs) { residues_are_those_of_the_rounded_integer<6>(largest_exponent(3)); }

TEST(DeviceDigits, TheLargestExponentOfAsManyWordsIsTheLast) {
  for (int exponent = 0; exponent <= largest_exponent(max_limbs); ++exponent) {
    const int last = exponent_of_same_words(exponent);
    EXPECT_GE(last, exponent);
    EXPECT_EQ(words_for_exponent(last), words_for_exponent(exponent)) << exponent;
    EXPECT_GT(words_for_exponent(last + 1), words_for_exponent(exponent)) << exponent;
  }
}

TEST(DeviceDigits, AreAsFewAsHoldTheExponent) {
  EXPECT_EQ(words_for_exponent(narrow_exponent), 1);
  EXPECT_EQ(words_for_exponent(narrow_exponent + 1), 2);
  EXPECT_EQ(words_for_exponent(largest_exponent(1)), 2);
  EXPECT_EQ(words_for_exponent(largest_exponent(1) + 1), 3);
  EXPECT_EQ(words_for_exponent(largest_exponent(2)), 4);
  EXPECT_EQ(words_for_exponent(largest_exponent(3)), 6);
}

}  // namespace
}  // namespace vernier::digits_test
