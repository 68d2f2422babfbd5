#include "slice/slices.hpp"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/exact.hpp"
#include "support/generators.hpp"

namespace vernier::test::slices_test {
namespace {

// digit * 2^unit, which may be beyond what a double holds.
mpz_class value(std::int32_t digit, int unit) {
  mpz_class x = digit;
  const int shift = unit - exact_unit;
  return shift >= 0 ? mpz_class(x << static_cast<unsigned long>(shift))
                    : mpz_class(x >> static_cast<unsigned long>(-shift));
}

TEST(Slices, AddUpToTheMatrix) {
  for (const std::string& family : operand_families())
    for (const int bits : {3, 7, 20}) {
      const Matrix<double> x = make_operands<double>(family, 9, 3, 13, 31).a;
      SliceSplitter splitter(Operand<double>{x.data(), 9, 13, x.ld(), false}, bits);
      std::vector<mpz_class> sums(9 * 13);
      while (!splitter.empty()) {
        const Slice slice = splitter.next();
        for (std::size_t e = 0; e < sums.size(); ++e) {
          EXPECT_LT(std::abs(slice.digits[e]), 1 << bits);
          sums[e] += value(slice.digits[e], slice.exponents[e / 13]);
        }
      }
      for (std::int64_t i = 0; i < 9; ++i)
        for (std::int64_t l = 0; l < 13; ++l)
          EXPECT_TRUE(sums[static_cast<std::size_t>(i * 13 + l)] == exact_value(x(i, l))) << family << ' ' << bits;
    }
}

// Signed digits leave half a unit: a step more than the digits have bits, but for ties and carries.
TEST(Slices, HoldOneBitMoreThanTheirDigits) {
  const Matrix<double> x = make_operands<double>("positive", 8, 8, 64, 32).a;
  SliceSplitter splitter(Operand<double>{x.data(), 8, 64, x.ld(), false}, 6);
  Slice before = splitter.next();
  int longer = 0;
  for (int p = 1; p < 5; ++p) {
    const Slice slice = splitter.next();
    for (std::size_t v = 0; v < 8; ++v) {
      const int step = before.exponents[v] - slice.exponents[v];
      EXPECT_GE(step, 6);
      longer += step >= 7 ? 1 : 0;
    }
    before = slice;
  }
  EXPECT_GT(longer, 8);  // of 32
}

TEST(Slices, LeftOverIsMeasuredAgainstTheWeights) {
  // One vector: 1, 2^-10, 2^-20. One slice of four bits keeps the first.
  const double x[] = {1, 0x1p-10, 0x1p-20};
  SliceSplitter splitter(Operand<double>{x, 1, 3, 3, true}, 4);
  splitter.next();
  EXPECT_EQ(splitter.left_over({1, 0, 0}), 0);
  EXPECT_EQ(splitter.left_over({0, 1, 0}), 1);
  EXPECT_NEAR(splitter.left_over({1, 1, 1}), 0x1p-10, 0x1p-18);
  EXPECT_EQ(splitter.weights(), (std::vector<double>{1, 0x1p-10, 0x1p-20}));
}

}  // namespace
}  // namespace vernier::test::slices_test
