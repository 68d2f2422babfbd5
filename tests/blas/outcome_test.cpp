// What a device decided about a product, as a report: the words as the device leaves them.
#include <gtest/gtest.h>

#include <cstring>

#include "base/status.hpp"
#include "product/route.hpp"
#include "split/plane.hpp"
#include "split/schemes.hpp"
#include "vernier/cuda.hpp"

namespace vernier::outcome_test {
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

// Words of a product by residues whose data are irregular.
Report completed(const cuda::DeviceRoute& route) {
  cuda::Outcome outcome;
  std::memcpy(outcome.words, &route, sizeof route);
  Report report;
  report.plan.scheme = "residues";
  report.plan.moduli = 14;
  cuda::complete_report(report, outcome);
  return report;
}

TEST(Outcome, OfAGuessThatServesHasItsModuli) {
  const Report served = completed(cuda::DeviceRoute{.irregular = 1, .guessed = 16});
  EXPECT_EQ(served.plan.scheme, "residues");
  EXPECT_EQ(served.plan.moduli, 16);
  EXPECT_TRUE(served.bounded);
  EXPECT_FALSE(served.fallback);
  EXPECT_TRUE(completed(cuda::DeviceRoute{.irregular = 1}).fallback);
  EXPECT_TRUE(completed(cuda::DeviceRoute{.irregular = 1, .native = 1}).fallback);
  EXPECT_EQ(completed(cuda::DeviceRoute{.irregular = 1, .wide = 17}).plan.moduli, 17);
  EXPECT_EQ(completed(cuda::DeviceRoute{}).plan.moduli, 14) << "regular";
}

}  // namespace
}  // namespace vernier::outcome_test
