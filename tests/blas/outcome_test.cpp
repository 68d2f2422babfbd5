// What a device decided about a product, as a report: the words as the device leaves them.
#include <gtest/gtest.h>

#include "base/split_plane.hpp"
#include "base/status.hpp"
#include "blas/split_verdict.hpp"
#include "vernier/cuda.hpp"

namespace vernier {
namespace {

Report split_report() {
  Report report;
  report.plan.scheme = "split";
  report.plan.engine = "hopper-wgmma";
  report.plan.reason = "some schemes, else conventional";
  return report;
}

Report settled(std::uint32_t verdict) {
  cuda::Outcome outcome;
  outcome.words[split_outcome_word] = static_cast<std::int32_t>(verdict);
  Report report = split_report();
  cuda::settle(report, outcome);
  return report;
}

TEST(Outcome, of_a_split_product_names_the_scheme_that_was_made) {
  for (const split::Scheme& s : split::schemes()) {
    const Report report = settled(split_mark(s.name));
    EXPECT_EQ(report.plan.scheme, "split");
    EXPECT_EQ(report.plan.engine, "hopper-wgmma");
    EXPECT_EQ(report.plan.reason, s.name + " was made: some schemes, else conventional");
    EXPECT_FALSE(report.fallback);
  }
}

TEST(Outcome, of_a_conventional_product_is_a_fallback) {
  const Report report = settled(conventional_mark);
  EXPECT_EQ(report.plan.scheme, "native");
  EXPECT_EQ(report.plan.engine, "conventional");
  EXPECT_EQ(report.plan.reason, "conventional was made: some schemes, else conventional");
  EXPECT_TRUE(report.fallback);
}

TEST(Outcome, without_a_verdict_changes_nothing_and_with_a_wrong_one_is_refused) {
  EXPECT_EQ(settled(0).plan.reason, split_report().plan.reason);
  EXPECT_THROW(settled(static_cast<std::uint32_t>(split::schemes().size()) + 1), Error);
}

}  // namespace
}  // namespace vernier
