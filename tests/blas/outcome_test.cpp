// What a device decided about a product, as a report: the words as the device leaves them.
#include <gtest/gtest.h>

#include "base/status.hpp"
#include "split/plane.hpp"
#include "split/verdict.hpp"
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

Report completed(std::uint32_t verdict) {
  cuda::Outcome outcome;
  outcome.words[split_outcome_word] = static_cast<std::int32_t>(verdict);
  Report report = split_report();
  cuda::complete_report(report, outcome);
  return report;
}

TEST(Outcome, OfASplitProductNamesTheSchemeThatWasMade) {
  for (const split::Scheme& s : split::schemes()) {
    const Report report = completed(split_mark(s.name));
    EXPECT_EQ(report.plan.scheme, "split");
    EXPECT_EQ(report.plan.engine, "hopper-wgmma");
    EXPECT_EQ(report.plan.reason, s.name + " was made: some schemes, else conventional");
    EXPECT_FALSE(report.fallback);
  }
}

TEST(Outcome, OfAConventionalProductIsAFallback) {
  const Report report = completed(conventional_mark);
  EXPECT_EQ(report.plan.scheme, "native");
  EXPECT_EQ(report.plan.engine, "conventional");
  EXPECT_EQ(report.plan.reason, "conventional was made: some schemes, else conventional");
  EXPECT_TRUE(report.fallback);
}

TEST(Outcome, WithoutAVerdictChangesNothingAndWithAWrongOneIsRefused) {
  EXPECT_EQ(completed(0).plan.reason, split_report().plan.reason);
  EXPECT_THROW(completed(static_cast<std::uint32_t>(split::schemes().size()) + 1), Error);
}

}  // namespace
}  // namespace vernier
