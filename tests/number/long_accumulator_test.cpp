#include "number/long_accumulator.hpp"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/compare.hpp"
#include "support/exact.hpp"
#include "support/random.hpp"

namespace vernier::test::long_accumulator_test {
namespace {

// In units of 2^(2 exact_unit): room for three factors.
mpz_class exact_product(double x, double y) { return exact_value(x) * exact_value(y); }

TEST(LongAccumulator, AddsProductsOfAllExponentsExactly) {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    LongAccumulator sum;
    mpz_class expected = 0;
    for (int i = 0; i < 40; ++i) {
      const int reach = trial % 2 == 0 ? 1023 : 30;
      const double x = random.exp_rand(-reach, reach), y = random.exp_rand(-reach, reach);
      sum.add_product(x, y);
      expected += exact_product(x, y);
      if (i % 3 == 0) sum.add_product(-x, y), expected -= exact_product(x, y);  // hovers about zero
    }
    EXPECT_EQ(sum.sign(), sgn(expected));
    EXPECT_EQ(bits_of(sum.rounded<double>()), bits_of(rounded<double>(expected, 2 * exact_unit)));
    EXPECT_EQ(bits_of(sum.rounded<float>()), bits_of(rounded<float>(expected, 2 * exact_unit)));
  }
}

TEST(LongAccumulator, HoldsTheLargestAndTheSmallestTerms) {
  constexpr double largest = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  for (const double factor : {1.0, -largest, least, 0.1}) {
    LongAccumulator sum;
    for (int i = 0; i < 100; ++i) sum.add_product(largest, largest);
    for (int i = 0; i < 100; ++i) sum.add_product(-largest, largest);
    EXPECT_EQ(sum.sign(), 0);
    sum.add_product(least, -least);
    EXPECT_EQ(sum.sign(), -1);
    sum.multiply(factor);
    EXPECT_EQ(sum.sign(), factor > 0 ? -1 : 1);
    sum.add_product(largest, largest);
    EXPECT_EQ(sum.rounded<double>(), std::numeric_limits<double>::infinity());
    sum.add_product(-largest, largest);
    sum.add_product(-3, least);
    EXPECT_EQ(sum.rounded<double>(), -3 * least) << factor;
  }
}

TEST(LongAccumulator, TakesIntegersOfManyLimbs) {
  LongAccumulator sum;
  sum.add(false, std::array<std::uint64_t, 3>{0, 0, 1}, -128);
  sum.add(true, std::array<std::uint64_t, 1>{1}, -60);
  EXPECT_EQ(sum.rounded<double>(), 1.0);  // 1 - 2^-60
  sum.add(true, std::array<std::uint64_t, 1>{1}, 0);
  EXPECT_EQ(sum.rounded<double>(), -0x1p-60);
  sum.add(false, std::array<std::uint64_t, 2>{std::uint64_t{1} << 63, 0}, -123);
  EXPECT_EQ(bits_of(sum.rounded<double>()), bits_of(0.0));
}

}  // namespace
}  // namespace vernier::test::long_accumulator_test
