#include "number/digit_sum.hpp"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/compare.hpp"
#include "support/exact.hpp"
#include "support/random.hpp"

namespace vernier::test::digit_sum_test {
namespace {

constexpr int lowest = -2200, digits = 150;

struct Digits {
  std::vector<std::int64_t> words = std::vector<std::int64_t>(digits);
  std::int64_t& operator()(int d) { return words[static_cast<std::size_t>(d)]; }

  // In windows of that many digits, as where there is no room for all of them.
  void add_product(double x, double y, int window) {
    const ElementParts p = element_parts(x), q = element_parts(y);
    for (int first = 0; first < digits; first += window)
      add_to_digits(p.negative != q.negative, static_cast<Uint128>(p.significand) * q.significand,
                    p.exponent + q.exponent - lowest, first, std::min(first + window, digits),
                    [&](int d) -> std::int64_t& { return (*this)(d); });
  }
  mpz_class value() const {  // in units of 2^lowest
    mpz_class sum = 0;
    for (auto w = words.rbegin(); w != words.rend(); ++w) sum = (sum << digit_bits) + static_cast<long>(*w);
    return sum;
  }
};

mpz_class in_units(const mpz_class& product) { return product >> static_cast<unsigned long>(lowest - 2 * exact_unit); }

TEST(DigitSum, AddsProductsOfAllExponentsExactly) {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    Digits sum;
    mpz_class expected = 0;
    const int window = trial % 3 == 0 ? 7 : digits, reach = trial % 2 == 0 ? 1023 : 30;
    for (int i = 0; i < 40; ++i) {
      const double x = random.exp_rand(-reach, reach), y = random.exp_rand(-reach, reach);
      sum.add_product(x, y, window);
      expected += exact_value(x) * exact_value(y);
      if (i % 3 == 0) sum.add_product(-x, y, window), expected -= exact_value(x) * exact_value(y);
    }
    EXPECT_TRUE(sum.value() == in_units(expected));
    const bool negative = order_digits(digits, std::ref(sum));
    EXPECT_EQ(negative, expected < 0);
    EXPECT_TRUE(sum.value() == abs(in_units(expected)));
    for (const std::int64_t w : sum.words) EXPECT_TRUE(w >= 0 && w <= digit_mask);
    const LeadingBits x = leading_bits(negative, lowest, digits, std::ref(sum));
    EXPECT_EQ(bits_of(round_wide<double>(x.value, x.exponent)), bits_of(rounded<double>(expected, 2 * exact_unit)));
    EXPECT_EQ(bits_of(round_wide<float>(x.value, x.exponent)), bits_of(rounded<float>(expected, 2 * exact_unit)));
  }
}

TEST(DigitSum, LeadingBitsAreExactOrSayThatTheyAreCut) {
  for (int bits = 1; bits < 400; ++bits)
    for (const int low : {0, 1, 2}) {
      Digits sum;
      const mpz_class value = (mpz_class(1) << static_cast<unsigned long>(bits)) + low;
      for (int d = 0; d < 13; ++d)
        sum(d) = static_cast<std::int64_t>(
            mpz_class((value >> static_cast<unsigned long>(digit_bits * d)) & digit_mask).get_ui());
      const LeadingBits x = leading_bits(true, 0, digits, std::ref(sum));
      const auto high = static_cast<std::uint64_t>(-x.value >> 64), rest = static_cast<std::uint64_t>(-x.value);
      const mpz_class leading = (mpz_class(high) << 64) + mpz_class(rest);
      ASSERT_GE(x.exponent, 0);
      const mpz_class kept = leading << static_cast<unsigned long>(x.exponent);
      if (x.cut) {
        EXPECT_GE(mpz_sizeinbase(leading.get_mpz_t(), 2), 95u);
        EXPECT_TRUE(abs(kept - value) <= mpz_class(1) << static_cast<unsigned long>(x.exponent)) << bits;
      } else {
        EXPECT_TRUE(kept == value) << bits;
      }
      EXPECT_EQ(x.cut, kept != value || (x.exponent > 0 && (leading & 1) != 0 && low != 0));
    }
}

TEST(DigitSum, IsMultipliedExactly) {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    Digits sum, product;
    const double x = random.exp_rand(-100, 100), y = random.exp_rand(-100, 100), factor = random.exp_rand(-200, 200);
    sum.add_product(x, y, digits);
    const bool negative = order_digits(digits, std::ref(sum));
    multiply_digits(negative, lowest, digits, std::ref(sum), factor, lowest, digits, std::ref(product));
    const mpz_class expected = exact_value(x) * exact_value(y) * exact_value(factor);
    EXPECT_TRUE(product.value() == mpz_class(expected >> static_cast<unsigned long>(lowest - 3 * exact_unit)));
  }
}

TEST(ElementParts, AreTheNumber) {
  for (const double x :
       {1.0, -0.1, 0.0, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()}) {
    const ElementParts p = element_parts(x);
    EXPECT_EQ(std::ldexp(static_cast<double>(p.significand), p.exponent) * (p.negative ? -1 : 1), x);
  }
  for (const float x : {1.0f, -0.1f, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()}) {
    const ElementParts p = element_parts(x);
    EXPECT_LT(p.significand, 1u << 24);
    EXPECT_EQ(std::ldexp(static_cast<float>(p.significand), p.exponent) * (p.negative ? -1 : 1), x);
  }
}

}  // namespace
}  // namespace vernier::test::digit_sum_test
