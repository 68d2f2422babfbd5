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
