// Quadruple products at the ends of ranges: sums that doubles cannot hold, any hi and lo, infinite factors.
#include <gmpxx.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "support/quad_values.hpp"
#include "vernier/quad.hpp"

namespace vernier::test::quad_ends_test {
namespace {

#if defined(__SIZEOF_FLOAT128__)
TEST(QuadEnds, RoundSumsFarOutsideOfDoublesRange) {
  // Half a unit in the last place of binary128 decides, and a third product far below it.
  for (const auto& [leading, partner] : {std::pair{600, 600}, {-500, -550}}) {
    const double a[3] = {std::ldexp(1.0, leading), std::ldexp(1.0, leading - 113), 0x1p-1000},
                 b[3] = {std::ldexp(1.0, partner), std::ldexp(1.0, partner), 0x1p-1000};
    mpz_class sum = 0;
    for (int l = 0; l < 3; ++l) sum += exact_value(a[l]) * exact_value(b[l]);
    for (const Rounding rounding : {Rounding::nearest, Rounding::down, Rounding::up, Rounding::toward_zero}) {
      QuadOptions options;
      options.contract = {.kind = QuadContract::Kind::exact, .rounding = rounding};
      binary128 c = 0;
      quad_gemm(Op::none, Op::none, 1, 1, 3, 1, a, 1, b, 3, 0, &c, 1, options);
      const binary128 expected = rounded_to(sum, 2 * exact_unit, rounding, static_cast<const binary128*>(nullptr));
      EXPECT_TRUE(std::bit_cast<QuadWord>(c) == std::bit_cast<QuadWord>(expected))
          << leading << ' ' << options.contract.text();
    }
  }
}

// C lies far above the product, or far below: of the other one the sign decides, also between halves.
TEST(QuadEnds, UpdateABinary128FarFromItsProduct) {
  using W = binary128;
  const auto power = [](int n) {
    W x = 1;
    for (; n > 0; --n) x *= 2;
    for (; n < 0; ++n) x /= 2;
    return x;
  };
  const auto update = [](W a, W b, double alpha, double beta, W c, Rounding rounding, std::int64_t k = 1) {
    QuadOptions options;
    options.contract = {.kind = QuadContract::Kind::exact, .rounding = rounding};
    quad_gemm(Op::none, Op::none, 1, 1, k, alpha, &a, 1, &b, 1, beta, &c, 1, options);
    return c;
  };
  for (const int distance : {114, 1000, 2800, 3200, 6000, 15000})
    for (const int side : {-1, 1})
      for (const int at : {-16300, -8000, 0, 1300}) {
        if (at + distance > 16300) continue;
        const W big = power(at + distance), tiny = power(at) * side, last = power(at + distance - 112),
                below = power(at + distance - 113);
        for (const bool product_is_big : {false, true}) {
          const auto sum = [&](W x, Rounding rounding) {
            const W &factor = product_is_big ? x : tiny, &other = product_is_big ? tiny : x;
            return update(factor, 1, 1, 1, other, rounding);
          };
          const W lower = side > 0 ? big : big - below, upper = side > 0 ? big + last : big;
          EXPECT_TRUE(sum(big, Rounding::nearest) == big) << distance << ' ' << at;
          EXPECT_TRUE(sum(big, Rounding::down) == lower && sum(big, Rounding::toward_zero) == lower)
              << distance << ' ' << side << ' ' << at << ' ' << product_is_big;
          EXPECT_TRUE(sum(big, Rounding::up) == upper) << distance << ' ' << side << ' ' << at;
        }
      }
  const W c = (1 + power(-112)) * power(9000);
  const W up = update(1, 1, 1, 1 + 0x1p-52, c, Rounding::up), down = update(1, 1, 1, 1 + 0x1p-52, c, Rounding::down);
  EXPECT_TRUE(down == c + power(8948) && up == down + power(8888));  // 2^-164 is left over
  EXPECT_TRUE(update(0, 1, 1, 1, c, Rounding::up) == c);
  EXPECT_TRUE(update(-c, 1, 1, 1, c, Rounding::down) == 0);
  EXPECT_TRUE(update(c, 1, 1, INFINITY, power(-16000), Rounding::up) == W(INFINITY));
  EXPECT_TRUE(update(c, 1, 1, INFINITY, power(16000), Rounding::up) == W(INFINITY));
  EXPECT_TRUE(update(c, 1, 0x1p-1074, 0x1p-1074, c, Rounding::nearest) == 2 * c * power(-1074));
  EXPECT_TRUE(update(c, 1, 1, 3, 1 + power(-112), Rounding::up, 0) == 3 + power(-110));
}
#endif

TEST(QuadEnds, TakeAnyHighAndLow) {
  const dd* const none = nullptr;
  for (const dd& old : {dd(0.0, 1.0 / 3), dd(1.0, 0x1.234567p50 / 3), dd(1.0, -1.0 + 0x1p-40)}) {
    dd c = old;
    quad_gemm(Op::none, Op::none, 1, 1, 0, 1, none, 1, none, 1, 0.3, &c, 1);
    const mpz_class exact = exact_value(0.3) * exact_value_of(old),
                    error = abs((exact_value_of(c) << static_cast<unsigned long>(-exact_unit)) - exact);
    EXPECT_LE(error << 106, 4 * abs(exact)) << old.hi << ' ' << old.lo;
  }
}

TEST(QuadEnds, AnInfiniteAlphaDoesNotReadC) {
  const double x = -3;
  for (const char* contract : {"dd", "exact"}) {
    QuadOptions options;
    options.contract = QuadContract::parse(contract);
    dd c(NAN, NAN);
    quad_gemm(Op::none, Op::none, 1, 1, 1, INFINITY, &x, 1, &x, 1, 0, &c, 1, options);
    EXPECT_EQ(c.hi, INFINITY) << contract;
  }
}

}  // namespace
}  // namespace vernier::test::quad_ends_test
