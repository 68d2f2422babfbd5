#include "number/bracket.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/compare.hpp"
#include "support/exact.hpp"
#include "support/random.hpp"

namespace vernier::test::bracket_test {
namespace {

mpz_class integer(Int128 x) {
  const Uint128 magnitude = magnitude_of(x);
  mpz_class high(static_cast<unsigned long>(magnitude >> 64)), low(static_cast<unsigned long>(magnitude));
  const mpz_class value = (high << 64) + low;
  return x < 0 ? mpz_class(-value) : value;
}

// x / 2^common, both ends of the bracket.
struct Ends {
  mpz_class low, high;
};
Ends ends(const Bracket& x, int common) {
  const auto shift = static_cast<unsigned long>(x.exponent - common);
  const mpz_class radius = integer(static_cast<Int128>(x.radius));
  return {(integer(x.value) - radius) << shift, (integer(x.value) + radius) << shift};
}

Bracket random_bracket(Random& r) {
  Bracket b;
  const int bits = static_cast<int>(r.integer(1, 125));
  for (int i = 0; i < bits; ++i) b.value = 2 * b.value + (r.uniform() < 0.5 ? 1 : 0);
  if (r.uniform() < 0.5) b.value = -b.value;
  const int radius_bits = static_cast<int>(r.integer(0, std::min(bits, 120)));
  b.radius = r.uniform() < 0.3 ? 0 : Uint128{1} << radius_bits;
  b.exponent = static_cast<int>(r.integer(-200, 100));
  return b;
}

TEST(Bracket, RoundsOnlyWhereBothEndsRoundAlike) {
  Random r(2);
  int decided = 0;
  for (int i = 0; i < 20000; ++i) {
    Bracket b = random_bracket(r);
    if (i % 3 == 0) b.exponent -= 1000;  // subnormal
    const auto [low, high] = ends(b, -2000);
    const double first = rounded<double>(low, -2000), last = rounded<double>(high, -2000);
    const auto got = rounded<double>(b);
    if (got) {
      ++decided;
      EXPECT_EQ(*got, first);
      EXPECT_EQ(*got, last);
    } else {
      EXPECT_TRUE(first != last || first == 0) << first << ' ' << last;
    }
  }
  EXPECT_GT(decided, 2000);
}

TEST(Bracket, ArithmeticKeepsTheNumberInside) {
  Random r(3);
  for (int i = 0; i < 20000; ++i) {
    const Bracket x = random_bracket(r), y = random_bracket(r);
    const double factor = r.exp_rand(-60, 60);
    const mpz_class scaled = exact_value(factor);  // times 2^2148
    const auto [low, high] = ends(x, -1000);
    const auto [a, b] = ends(multiplied(x, factor), -1400);
    const mpz_class end_one = (low * scaled) << 400, end_two = (high * scaled) << 400;
    EXPECT_TRUE(mpz_class(a << 2148) <= std::min(end_one, end_two));
    EXPECT_TRUE(mpz_class(b << 2148) >= std::max(end_one, end_two));
    const Ends other = ends(y, -1000), sum = ends(sum_of(x, y), -1000);
    EXPECT_TRUE(sum.low <= low + other.low);
    EXPECT_TRUE(sum.high >= high + other.high);
  }
}

TEST(Bracket, SignIsKnownOnlyIfThereIsOne) {
  EXPECT_EQ(sign_of({5, 4, 0}), 1);
  EXPECT_EQ(sign_of({-5, 4, 0}), -1);
  EXPECT_EQ(sign_of({5, 5, 0}), std::nullopt);
  EXPECT_EQ(sign_of({0, 0, 0}), 0);
}

TEST(Bracket, HandPickedCases) {
  EXPECT_EQ(rounded<float>(Bracket{1, 0, -150}), 0.0f);       // half of the smallest, to even
  EXPECT_EQ(rounded<float>(Bracket{3, 0, -150}), 0x1p-148f);  // 1.5 of the smallest, to even
  EXPECT_EQ(rounded<float>(Bracket{(1 << 25) - 1, 0, 103}), std::numeric_limits<float>::infinity());
  EXPECT_EQ(rounded<float>(Bracket{(1 << 26) - 3, 0, 102}), std::numeric_limits<float>::max());
  EXPECT_EQ(rounded<float>(Bracket{(1 << 26) - 3, 1, 102}), std::nullopt);
  EXPECT_EQ(rounded<float>(Bracket{0, 1, -400}), std::nullopt);  // -0 or +0
}

}  // namespace
}  // namespace vernier::test::bracket_test
