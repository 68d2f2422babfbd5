// What products really took, and when it is forgotten again.
#include "product/plan/observed_times.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace vernier::test::observed_times_test {
namespace {

constexpr ProductClass product{ElementType::double_real, {600, 700, 800}, 4};

class ObservedTimes : public testing::Test {
 protected:
  void SetUp() override {
    setenv("VERNIER_RATES", "/a/file", 1);
    forget_observations();
  }
  void TearDown() override { setenv("VERNIER_RATES", "none", 1); }
};

TEST_F(ObservedTimes, AreTheLeastOfTheLastThreeOnceTheyFallNoMore) {
  EXPECT_EQ(observed_seconds(product, Method::residues), 0);
  observe(product, Method::residues, 4);
  EXPECT_EQ(observed_seconds(product, Method::residues), 0) << "the first pays for memory";
  observe(product, Method::residues, 2);
  EXPECT_EQ(observed_seconds(product, Method::residues), 0) << "the next one may be faster still";
  observe(product, Method::residues, 2.5);
  EXPECT_NEAR(observed_seconds(product, Method::residues), 2, 1e-6);
  for (const double seconds : {3.0, 3.0, 3.0}) observe(product, Method::residues, seconds);
  EXPECT_NEAR(observed_seconds(product, Method::residues), 3, 1e-6) << "slower by now";
  EXPECT_EQ(observed_seconds(product, Method::native), 0);
}

// Threads of the method before spin for some milliseconds.
TEST_F(ObservedTimes, OfBriefCallsCountOnceTheirThreadsHaveSettled) {
  for (const double seconds : {30e-3, 3.4e-3, 0.5e-3}) {
    observe(product, Method::native, seconds);
    EXPECT_EQ(observed_seconds(product, Method::native), 0) << seconds;
  }
  for (int call = 0; call < 17; ++call) observe(product, Method::native, 0.5e-3);
  EXPECT_NEAR(observed_seconds(product, Method::native), 0.5e-3, 1e-9) << "ten milliseconds of such calls";
  for (int call = 0; call < 32; ++call) {
    EXPECT_EQ(observed_seconds(product, Method::residues), 0) << call;
    observe(product, Method::residues, 0.2e-3);
  }
  EXPECT_NEAR(observed_seconds(product, Method::residues), 0.2e-3, 1e-9);
}

TEST_F(ObservedTimes, ServeProductsOfTheSameOctavesTypeAndThreads) {
  observe(product, Method::native, 1);
  observe(product, Method::native, 1);
  ProductClass other = product;
  other.shape = {1000, 700, 800};
  EXPECT_NEAR(observed_seconds(other, Method::native), 1000.0 / 600, 1e-6) << "by the multiplication";
  other.shape.m = 1024;
  EXPECT_EQ(observed_seconds(other, Method::native), 0) << "another octave";
  other = product;
  other.threads = 5;
  EXPECT_EQ(observed_seconds(other, Method::native), 0);
  other = product;
  other.type = ElementType::double_complex;
  EXPECT_EQ(observed_seconds(other, Method::native), 0);
}

// Two looks at a method that takes five times as long cost eight calls: a fiftieth of 400.
TEST_F(ObservedTimes, OfAMethodThatWasLeftAreForgottenOnceLooksCostAFiftieth) {
  for (const auto& [slower, pause] : {std::pair(1.1, 32), std::pair(5.0, 400), std::pair(1e6, 32768)}) {
    for (int call = 0; call < 2; ++call)
      observe(product, Method::native, 1), observe(product, Method::residues, slower);
    for (int call = 0; call < pause; ++call) note_choice(product, Method::native);
    EXPECT_NE(observed_seconds(product, Method::residues), 0) << slower;
    note_choice(product, Method::native);
    EXPECT_EQ(observed_seconds(product, Method::residues), 0) << slower;
  }
}

TEST_F(ObservedTimes, ChooseTheLeastAndLookAtAnUnknownRivalOnceTheBestHasServed) {
  Rival rivals[] = {{Method::native, 9e-3}, {Method::residues, 6e-3}, {Method::bf16x6, 19e-3}};
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(choose_method(product, rivals), Method::residues) << call;
    observe(product, Method::residues, 6e-3);
  }
  for (const double look : {11e-3, 3e-3}) {
    EXPECT_EQ(choose_method(product, rivals), Method::native) << "its estimate is below four times that of residues";
    observe(product, Method::native, look);
  }
  EXPECT_EQ(choose_method(product, rivals), Method::native);
  for (int call = 0; call < 8; ++call) observe(product, Method::native, 3e-3);
  EXPECT_EQ(choose_method(product, rivals), Method::native) << "bf16x6 is hopeless, residues are known";
}

TEST_F(ObservedTimes, ARivalWithABetterEstimateHasFiveLooks) {
  Rival rivals[] = {{Method::native, 18e-3}, {Method::residues, 7e-3}};
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(choose_method(product, rivals), Method::residues) << call;
    observe(product, Method::residues, 20e-3);
  }
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(choose_method(product, rivals), Method::native) << call;
    observe(product, Method::native, 17e-3);
  }
  for (int call = 2; call < 5; ++call) {
    EXPECT_EQ(choose_method(product, rivals), Method::residues) << call;
    observe(product, Method::residues, 20e-3);
  }
  EXPECT_EQ(choose_method(product, rivals), Method::native) << "no busy moment";
  observe(product, Method::native, 17e-3);
  EXPECT_EQ(choose_method(product, rivals), Method::native);
}

TEST_F(ObservedTimes, ARivalThatTookThreeTimesItsEstimateHasTwoLooks) {
  Rival rivals[] = {{Method::native, 18e-3}, {Method::residues, 7e-3}};
  for (int i = 0; i < 2; ++i) observe(product, Method::residues, 22e-3), observe(product, Method::native, 17e-3);
  EXPECT_EQ(choose_method(product, rivals), Method::native);
}

// Their estimates are those of a machine whose neighbours leave the tile units alone.
TEST_F(ObservedTimes, ResiduesAndBf16PartsAreExpectedToBeSlowAlike) {
  Rival rivals[] = {{Method::native, 68e-3}, {Method::residues, 17e-3}, {Method::bf16x6, 23e-3}};
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(choose_method(product, rivals), Method::residues) << call;
    observe(product, Method::residues, 45e-3);
  }
  EXPECT_EQ(choose_method(product, rivals), Method::residues) << "61 ms by parts, 68 natively";
  rivals[2].estimate = 15e-3;
  EXPECT_EQ(choose_method(product, rivals), Method::bf16x6) << "40 ms";
  rivals[0].estimate = 40e-3, rivals[2].estimate = 23e-3;
  EXPECT_EQ(choose_method(product, rivals), Method::native) << "on other units";
}

TEST_F(ObservedTimes, LeaveCloseEstimatesToTheNativeProduct) {
  EXPECT_NEAR(cautious(2), 2.3, 1e-9);
  setenv("VERNIER_RATES", "none", 1);
  EXPECT_EQ(cautious(2), 2) << "estimates alone, as they are";
}

// Rates that were measured while the machine was at work may say anything of it.
TEST_F(ObservedTimes, LookAtTheNativeProductOfBriefCallsWhateverItsEstimate) {
  Rival rivals[] = {{Method::native, 4e-3}, {Method::residues, 0.2e-3}, {Method::bf16x6, 4e-3}};
  for (int call = 0; call < 32; ++call) {
    EXPECT_EQ(choose_method(product, rivals), Method::residues) << call;
    observe(product, Method::residues, 0.2e-3);
  }
  for (int call = 0; call < 32; ++call) {
    EXPECT_EQ(choose_method(product, rivals), Method::native) << call;
    observe(product, Method::native, 0.1e-3);
  }
  EXPECT_EQ(choose_method(product, rivals), Method::native) << "and bf16x6 is hopeless";
}

TEST_F(ObservedTimes, AskAgainWhereABriefNativeProductTookFourTimesItsEstimate) {
  Rival rivals[] = {{Method::native, 0.5e-3}, {Method::residues, 0.6e-3}};
  for (int call = 0; call < 20; ++call) observe(product, Method::residues, 0.6e-3);
  for (int call = 0; call < 31; ++call) {
    EXPECT_EQ(choose_method(product, rivals), Method::native) << call;
    observe(product, Method::native, 4e-3);
  }
  observe(product, Method::native, 4e-3);
  EXPECT_EQ(choose_method(product, rivals), Method::residues) << "it lasts";
}

TEST_F(ObservedTimes, LooksAtANativeProductThatStaysSlowCostAFiftieth) {
  for (const auto& [native, estimate, residues] : {std::array{4e-3, 0.5e-3, 0.6e-3}, {19e-3, 4.5e-3, 4.6e-3}}) {
    forget_observations();
    Rival rivals[] = {{Method::native, estimate}, {Method::residues, residues}};
    double all = 0;
    constexpr int calls = 20000;
    for (int call = 0; call < calls; ++call) {
      const Method method = choose_method(product, rivals);
      const double seconds = method == Method::native ? native : residues;
      note_choice(product, method);
      observe(product, method, seconds);
      all += seconds;
    }
    EXPECT_LT(all, 1.03 * calls * residues) << native;
  }
}

TEST_F(ObservedTimes, LookAtNoRivalThatMayCostLong) {
  Rival rivals[] = {{Method::native, 3}, {Method::residues, 2}};
  for (int call = 0; call < 9; ++call) {
    EXPECT_EQ(choose_method(product, rivals), Method::residues) << call;
    observe(product, Method::residues, 2);
  }
}

TEST(Observing, EndsWithTheTable) {
  setenv("VERNIER_RATES", "none", 1);
  EXPECT_FALSE(observes());
  setenv("VERNIER_RATES", "/a/file", 1);
  EXPECT_TRUE(observes());
  unsetenv("VERNIER_RATES");
  EXPECT_TRUE(observes());
}

}  // namespace
}  // namespace vernier::test::observed_times_test
