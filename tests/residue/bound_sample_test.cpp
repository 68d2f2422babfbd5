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
  BoundSampleSum<1> sum(chain);
  constexpr float one = 1;
  for (const float x : terms) sum.add(x, &one);
  return sum.entry(0);
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

// An element that is 0 is not rounded, whatever it is multiplied by.
TEST(BoundSample, RoundingsMeetThePartnersOfElementsThatAreThere) {
  BoundSampleSum<2> sum(4);
  constexpr float rows[] = {3, 0, 4, 12}, columns[][2] = {{1, 2}, {1, 8}, {1, 0}, {1, 5}};
  for (int l = 0; l < 4; ++l) sum.add(rows[l], columns[l]);
  EXPECT_FLOAT_EQ(sum.entry(0).magnitude, 19);
  const BoundSampleEntry e = sum.entry(1);
  EXPECT_FLOAT_EQ(e.magnitude, 66);
  EXPECT_FLOAT_EQ(e.row_partners, std::sqrt(29.f));
  EXPECT_FLOAT_EQ(e.column_partners, std::sqrt(9.f + 64 * 0 + 144));
  EXPECT_FLOAT_EQ(bound_sample_error({.magnitude = 2, .row_partners = 3, .column_partners = 4}, 2, 1),
                  std::sqrt((9.f + 4) / 12));
}

// Means 1 and 3 of rows, 2 of all columns: the mean of two rows that differ so is sure to 1 / sqrt(2), here of 32.
TEST(BoundSample, ErrorsThatAreAlikeInARowMakeTheMeanUncertain) {
  BoundSample sample;
  for (std::size_t e = 0; e < sample.size(); ++e)
    sample[e] = {.magnitude = 1, .native = e / bound_sampled % 2 == 0 ? 1.0f : 3.0f};
  const BoundNativeErrors rows = native_errors(sample);
  EXPECT_FLOAT_EQ(rows.most_mean(), bound_margin * (2 - bound_certainty / std::sqrt(32.f)));
  EXPECT_FLOAT_EQ(rows.most_of_any(), largest_of_all * 3);
  for (std::size_t e = 0; e < sample.size(); ++e) sample[e].native = (e / bound_sampled + e) % 2 == 0 ? 1.0f : 3.0f;
  EXPECT_FLOAT_EQ(native_errors(sample).most_mean(), bound_margin * 2) << "no two rows differ";
  for (std::size_t e = 0; e < sample.size(); ++e)
    if (e / bound_sampled > 0) sample[e] = {};
  EXPECT_FLOAT_EQ(native_errors(sample).count, bound_sampled);
  EXPECT_LT(native_errors(BoundSample{}).most_mean(), 0) << "nothing is known";
}

TEST(BoundSample, PlacesAreVectors) {
  for (const std::int64_t vectors : {1, 2, 5, 31, 32, 33, 100, 4096, 10001})
    for (int t = 0; t < bound_sampled; ++t)
      for (const int side : {0, 1}) {
        EXPECT_GE(bound_sampled_vector(side, t, vectors), 0);
        EXPECT_LT(bound_sampled_vector(side, t, vectors), vectors);
        for (int other = 0; vectors >= 4096 && other < bound_sampled; ++other)
          EXPECT_NE(bound_sampled_vector(0, t, vectors), bound_sampled_vector(1, other, vectors));
      }
}

// Rounding errors of 2^bits 0.01 sqrt(2 / 12) beside 0.95 of the native product's 1.
TEST(BoundSample, GivesTheBitsThatErrorsLeave) {
  BoundRule rule{.rms = 0.001};
  BoundSample sample;
  sample.fill({.magnitude = 1, .native = 1, .row_partners = 1, .column_partners = 1});
  BoundSampleSteps sides;
  sides.fill(0.01f);
  EXPECT_EQ(bound_slack_bits(rule, sample, sides, sides, most_bound_slack), 15);  // 2^8 and 2^7: 0.825
  EXPECT_EQ(bound_slack_bits(rule, sample, sides, sides, 6), 6);
  rule.rms = 0.3;  // which errors of other entries may reach: 1.9 with 5 bits, 2.4 with 6
  EXPECT_EQ(bound_slack_bits(rule, sample, sides, sides, most_bound_slack), 5);
  sample[5].native = 50;  // then the largest error may be so, and the mean 1.05 less its uncertainty, 0.1
  EXPECT_EQ(bound_slack_bits(rule, sample, sides, sides, most_bound_slack), 15);
  sample.fill({.magnitude = 1, .row_partners = 1, .column_partners = 1});  // of numbers that are added without error
  EXPECT_EQ(bound_slack_bits(rule, sample, sides, sides, most_bound_slack), 0);
}

// Errors may come up to twice the sample's largest native one, and never fall below what the rule has.
TEST(BoundSample, GuessesAreJudgedByTheLargestNativeError) {
  EXPECT_EQ(judging_rule({.rms = 0.3}, 0.1f).rms, 0.3);
  EXPECT_FLOAT_EQ(static_cast<float>(judging_rule({.rms = 0.3}, 20).rms), 40);
  EXPECT_EQ(judging_rule({.rms = 0}, 20).rms, 0) << "the bound alone counts";
}

// alpha_i ||b_j||_1 / 2 <= bound_half k / 2 u (|A||B|)_ij for every entry, in units of 2^(e_i + e_j); or alpha_i <=
// bound_half k u |a_il|. Roundings of a whole vector are below 2^-10 of its 1-norm. step: the product knows of every k
// that it divides, and as much is allowed as a sample ever could; 1: all slack is taken.
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
    if (minimum < bound_no_partner) {
      EXPECT_LE(std::ldexp(static_cast<double>(k) / 2, -em), 0x1p-10) << family << ", k = " << k;
    }
    if (em >= bound_own_exponent(rule, k, x) - slack) {
      EXPECT_LE(std::ldexp(1.0, rule.unit_bits + x.span() - em), bound_half * static_cast<double>(k))
          << family << ", k = " << k;
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
      EXPECT_LE(std::ldexp(sum / 2, rule.unit_bits - em), bound_half * static_cast<double>(k) / 2 * magnitude)
          << family << ", k = " << k << ", entry " << i << ", " << j << ", slack " << slack;
    }
  }
}

// A row and a column whose scales follow from their own elements, by a unit that k makes more than one.
TEST(BoundSample, RoundingsOfBothSidesTogetherKeepTheBound) {
  constexpr std::int64_t k = 520;
  auto [a, b] = make_operands<double>(operand_families().front(), 1, 1, k, 3);
  for (std::int64_t l = 0; l < k; ++l) a(0, l) = b(l, 0) = 1 + 0x1p-10;
  a(0, 0) = b(1, 0) = 0x1p20;
  a(0, 1) = b(0, 0) = 0;
  for (const int bits : {8, 9, 10, 14}) {
    const BoundRule rule = *bound_rule<double>(Contract::bits(bits), k, k);
    const auto rounded = [&](double x, const VectorStatistics& v) {
      const double alpha = std::ldexp(1.0, v.exponent - bound_own_exponent(rule, k, v));
      return alpha * std::nearbyint(x / alpha);
    };
    const auto rows = bound_twin_rows(a, 1), columns = bound_twin_columns(b, 1);
    double exact = 0, sum = 0;
    for (std::int64_t l = 0; l < k; ++l) {
      exact += a(0, l) * b(l, 0);
      sum += rounded(a(0, l), rows[0].statistics) * rounded(b(l, 0), columns[0].statistics);
    }
    EXPECT_LE(std::abs(sum - exact), static_cast<double>(k) * std::ldexp(exact, -bits)) << bits << " bits";
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
