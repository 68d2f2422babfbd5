// Slack that a sample of entries gives to scales: its errors by hand, and the bound that scales keep with it.
#include "residue/bound/bound_sample.hpp"

#include <gtest/gtest.h>

#include "bound_twin.hpp"
#include "residue/bound/bound_sample_host.hpp"
#include "residue/plan/bounds.hpp"
#include "support/generators.hpp"

namespace vernier::test::bound_sample_test {
namespace {

BoundSampleEntry entry_of(const std::vector<float>& terms, std::int64_t chain) {
  BoundSampleSum sum(chain);
  for (const float x : terms) sum.add(x);
  return sum.entry();
}

// In one chain 1, -1, 3, 3 are rounded; in chains of two 1, -1 and 4, then 3.
TEST(BoundSample, AddsWhatTheNativeProductRounds) {
  const std::vector<float> terms{1, -2, 4, 0};
  const BoundSampleEntry one = entry_of(terms, 100), two = entry_of(terms, 2);
  EXPECT_FLOAT_EQ(one.magnitude, 7);
  EXPECT_FLOAT_EQ(one.native, rounding_rms * std::sqrt(1.f + 1 + 9) / 7);
  EXPECT_FLOAT_EQ(one.last, rounding_rms * 3 / 7);
  EXPECT_FLOAT_EQ(two.native, rounding_rms * std::sqrt(1.f + 1 + 16 + 9) / 7);
  EXPECT_EQ(entry_of({0, 0}, 1).magnitude, 0);
}

TEST(BoundSample, PlacesAreVectors) {
  for (const std::int64_t vectors : {1, 2, 5, 31, 32, 33, 100, 4096, 10001})
    for (int t = 0; t < bound_sampled; ++t)
      for (const int side : {0, 1}) {
        EXPECT_GE(bound_sampled_vector(side, t, vectors), 0);
        EXPECT_LT(bound_sampled_vector(side, t, vectors), vectors);
        if (vectors >= 4096) {
          EXPECT_NE(bound_sampled_vector(side, t, vectors), bound_sampled_vector(1 - side, t, vectors));
        }
      }
}

// Rounding errors of 2^bits 0.01 sqrt(2 / 12) beside 0.95 of the native product's 1.
TEST(BoundSample, GivesTheBitsThatErrorsLeave) {
  BoundRule rule{.rms = 0.001};
  BoundSample sample;
  sample.fill({.magnitude = 1, .native = 1, .last = 0});
  BoundSampleSides sides;
  sides.fill({.step = 0.01f, .norm = 1});
  EXPECT_EQ(bound_slack_bits(rule, sample, sides, sides, most_bound_slack), 15);  // 2^8 and 2^7: 0.825
  EXPECT_EQ(bound_slack_bits(rule, sample, sides, sides, 6), 6);
  rule.rms = 0.3;  // which errors of other entries may reach: 0.949 with 3 bits, 1.2 with 4
  EXPECT_EQ(bound_slack_bits(rule, sample, sides, sides, most_bound_slack), 3);
  sample[5].native = 50;  // then the largest error may be so, and the mean 1.05 less its uncertainty, 0.27
  EXPECT_EQ(bound_slack_bits(rule, sample, sides, sides, most_bound_slack), 14);
  sample.fill({.magnitude = 1, .native = 0, .last = 0});  // of numbers that are added without error
  EXPECT_EQ(bound_slack_bits(rule, sample, sides, sides, most_bound_slack), 0);
}

// Errors may come up to the native product's largest, less the margin, and never fall below what the rule has.
TEST(BoundSample, GuessesAreJudgedByTheLargestNativeError) {
  EXPECT_EQ(judging_rule({.rms = 0.3}, 0.2f).rms, 0.3);
  EXPECT_FLOAT_EQ(static_cast<float>(judging_rule({.rms = 0.3}, 20).rms), 19);
  EXPECT_EQ(judging_rule({.rms = 0}, 20).rms, 0) << "the bound alone counts";
}

// alpha_i ||b_j||_1 / 2 <= k / 4 u (|A||B|)_ij for every entry, in units of 2^(e_i + e_j); or alpha_i <= k / 2 u
// |a_il|. step: the product knows of every k that it divides, and as much is allowed as a sample ever could; 1: all
// slack is taken.
void expect_bound(const std::string& family, std::int64_t k, int step) {
  const auto [a, b] = make_operands<double>(family, 9, 8, k, 3);
  const auto rows = bound_twin_rows(a, step), columns = bound_twin_columns(b, step);
  BoundRule rule = *bound_rule<double>(Contract::fp64(), k, k);
  const BoundProduct product = step > 1 ? cuda::fp8_part_product() : cuda::fp8_bound_product();
  int slack = step > 1 ? 0 : most_bound_slack;
  if (step > 1) {
    rule = judging_rule(rule, 1e9f);
    rule.part = 1.0 / step;
  }
  for (const auto& column : columns)
    if (!column.statistics.zero()) slack = std::min(slack, bound_slack(rule, k, column.statistics));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const VectorStatistics& x = rows[i].statistics;
    if (x.zero()) continue;
    float minimum = bound_no_partner;
    for (const auto& column : columns) {
      if (column.statistics.zero()) continue;
      const auto inverse_weight = static_cast<float>(1 / bound_weight(rule, k, column.statistics));
      const float of_zero = bound_of_zero(bound_zero_share(product, x), bound_zero_share(product, column.statistics));
      minimum = std::min(minimum, bound_ratio(bound_twin_sum(rows[i], column), inverse_weight, of_zero));
    }
    const int em = bound_exponent(rule, product, k, x, minimum, slack);
    if (em >= bound_exact_exponent(rule, x)) continue;
    if (em >= bound_own_exponent(rule, k, x) - slack) {
      EXPECT_LE(std::ldexp(1.0, rule.unit_bits + x.span() - em), static_cast<double>(k) / 2) << family << ", k = " << k;
      continue;
    }
    for (std::size_t j = 0; j < columns.size(); ++j) {
      double magnitude = 0, sum = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const double y = std::ldexp(std::abs(b(l, static_cast<std::int64_t>(j))), -columns[j].statistics.exponent);
        sum += y;
        magnitude += std::ldexp(std::abs(a(static_cast<std::int64_t>(i), l)), -x.exponent) * y;
      }
      if (magnitude == 0) continue;  // of products that are 0, rounded or not
      EXPECT_LE(std::ldexp(sum / 2, rule.unit_bits - em), static_cast<double>(k) / 4 * magnitude * (1 + 1e-12))
          << family << ", k = " << k << ", entry " << i << ", " << j << ", slack " << slack;
    }
  }
}

TEST(BoundSample, ScalesWithAllSlackKeepTheBound) {
  for (const std::string& family : operand_families())
    for (const std::int64_t k : {1, 5, 60, 700}) expect_bound(family, k, 1);
}

TEST(BoundSample, ScalesThatAPartOfTheProductLetsPassKeepTheBound) {
  for (const std::string& family : operand_families())
    for (const std::int64_t k : {5, 60, 700})
      for (const int step : {2, 16}) expect_bound(family, k, step);
}

}  // namespace
}  // namespace vernier::test::bound_sample_test
