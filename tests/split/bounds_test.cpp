// The bound of error-corrected products, theorem 9 of docs/accuracy.md.
#include "split/bounds.hpp"

#include <gtest/gtest.h>

namespace vernier::bounds_test {
namespace {

TEST(SplitBounds, OneRunByHand) {
  // 32 products cut at 2^-25: 16 u; 2 roundings toward zero: 4 u; parts: 8 u; corrections 2^-10 (32 + 8) u; k/8.
  EXPECT_NEAR(split_error_bound(halfhalf_bound, 32), 1.002 * (16 + 4 + 8 + 40 / 1024.0) + 4, 1e-9);
  // Two runs: one addition outside, twice the corrections.
  EXPECT_NEAR(split_error_bound(halfhalf_bound, 64), 1.002 * (16 + 4 + 8 + 1 + 80 / 1024.0) + 8, 1e-5);
  // One of 64: 32 u, 4 roundings, corrections 2^-10 (64 + 16) u.
  EXPECT_NEAR(split_error_bound(halfhalf_long_bound, 64), 1.002 * (32 + 8 + 8 + 80 / 1024.0) + 8, 1e-9);
  // tf32: 16 products, 2 blocks of 8.
  EXPECT_NEAR(split_error_bound(tf32tf32_bound, 16), 1.002 * (8 + 4 + 8 + 24 / 1024.0) + 2, 1e-9);
  // Three parts: 5 x 32 corrections 2^-7 (80 + 20) u; one more term to cut, a unit for Fast2Sum, half of one for the
  // average.
  EXPECT_NEAR(split_error_bound(bf16x6_bound, 32), 1.02 * (16 + 4 + 1.03 + 0.5 + 1 + 0.5 + 100 / 128.0) + 4, 1e-5);
}

// Inside, a run of R costs 5/8 R u; outside, k / R u: the best R is near sqrt(8/5 k).
TEST(SplitBounds, RunsTradeCutsInsideForAdditionsOutside) {
  const auto best_run = [](std::int64_t k) {
    int best = 0;
    double least = 1e30;
    for (int run : {16, 32, 64, 128, 256}) {
      SplitBoundRule rule = halfhalf_bound;
      rule.run = run;
      const double bound = split_error_bound(rule, k);
      if (bound < least) least = bound, best = run;
    }
    return best;
  };
  EXPECT_EQ(best_run(512), 32);
  EXPECT_EQ(best_run(2048), 64);
  EXPECT_EQ(best_run(4096), 64);
  EXPECT_EQ(best_run(16384), 128);
  for (std::int64_t k = shortest_for_long_runs; k <= 1 << 26; k += k / 16)
    ASSERT_LT(split_error_bound(halfhalf_long_bound, k), split_error_bound(halfhalf_bound, k)) << k;
}

TEST(SplitBounds, TheContractHoldsFromAModestKOn) {
  for (std::int64_t k : {1, 2, 16, 24}) EXPECT_FALSE(split_keeps_fp32(k)) << k;
  for (std::int64_t k = 36; k < 5000; ++k) ASSERT_TRUE(split_keeps_fp32(k)) << k;
  EXPECT_TRUE(split_keeps_fp32(std::int64_t{1} << 27));
}

// The engines of Ampere and Ada cut at 2^-24, and round blocks half as long.
TEST(SplitBounds, TheContractHoldsOnMmaOfOtherGpusFrom64On) {
  for (SplitBoundRule rule : {halfhalf_bound, tf32tf32_bound, bf16x6_bound, bf16x6_short_bound}) {
    rule.engine = {rule.engine.block / 2, 24};
    for (std::int64_t k = 64; k <= std::int64_t{1} << 26; k += 1 + k / 16)
      ASSERT_LE(split_error_bound(rule, k), static_cast<double>(k)) << rule.run;
  }
}

}  // namespace
}  // namespace vernier::bounds_test
