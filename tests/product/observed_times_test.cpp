// What products really took: shares of estimates, looks beside home, and who wins. The clock is the test's.
#include "product/plan/observed_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

namespace vernier::test::observed_times_test {
namespace {

constexpr ProductClass product{ElementType::double_real, {600, 700, 800}, 4};

// A product whose methods take what the test says.
struct Machine {
  ProductClass product = observed_times_test::product;
  Rivals rivals;
  std::array<double, method_count> seconds{};
  std::array<int, method_count> taken{};

  Machine(double native, double native_estimate, double residues, double residues_estimate) {
    rivals.add(Method::native, native_estimate);
    rivals.add(Method::residues, residues_estimate);
    seconds = {native, residues, 0};
  }
  double& of(Method m) { return seconds[static_cast<std::size_t>(m)]; }
  Method choice() { return choose_method(product, rivals.span()); }
  // A call, on a machine that is so many times slower for a moment.
  Method call(double slow = 1) {
    const Method method = choice();
    ++taken[static_cast<std::size_t>(method)];
    observe(product, rivals.span(), method, slow * of(method));
    return method;
  }
  void calls(int count, double slow = 1) {
    for (int i = 0; i < count; ++i) call(slow);
  }
  double seen(Method m) {
    choose_method(product, rivals.span());
    return rivals.all[static_cast<std::size_t>(m)].seen;
  }
};

class ObservedTimes : public testing::Test {
 protected:
  void SetUp() override {
    setenv("VERNIER_RATES", "/a/file", 1);
    forget_observations();
  }
  void TearDown() override { setenv("VERNIER_RATES", "none", 1); }
};

TEST_F(ObservedTimes, AMethodWhoseEstimateIsWrongIsLeftAfterFourCalls) {
  for (const double wrong : {1.2, 2.0, 10.0}) {
    forget_observations();
    Machine machine(10e-3, 10e-3, wrong * 10e-3, 5e-3);
    for (const Method expected : {Method::residues, Method::residues, Method::native, Method::native})
      EXPECT_EQ(machine.call(), expected) << wrong;
    for (int call = 0; call < 8; ++call) EXPECT_EQ(machine.call(), Method::native) << wrong << ' ' << call;
  }
}

TEST_F(ObservedTimes, TheFirstCallPaysForMemory) {
  Machine machine(10e-3, 12e-3, 5e-3, 6e-3);
  machine.call(4);
  EXPECT_EQ(machine.seen(Method::residues), 0);
  machine.call();
  EXPECT_EQ(machine.seen(Method::residues), 0) << "the next one may be faster still";
  machine.call();
  EXPECT_NEAR(machine.seen(Method::residues), 5e-3, 1e-9);
  EXPECT_EQ(machine.seen(Method::native), 0);
}

// Threads of the method before spin for some milliseconds.
TEST_F(ObservedTimes, OfBriefCallsCountOnceTheirThreadsHaveSettled) {
  Machine machine(0.5e-3, 0.5e-3, 1e-3, 1e-3);
  for (const double slow : {60.0, 6.8, 1.0}) {
    EXPECT_EQ(machine.call(slow), Method::native);
    EXPECT_EQ(machine.seen(Method::native), 0) << slow;
  }
  machine.calls(16);
  EXPECT_EQ(machine.seen(Method::native), 0);
  machine.calls(1);
  EXPECT_NEAR(machine.seen(Method::native), 0.5e-3, 1e-9) << "ten milliseconds of such calls";
}

TEST_F(ObservedTimes, OfVeryBriefCallsCountAfterThirtyTwo) {
  Machine machine(0.3e-3, 0.3e-3, 0.2e-3, 0.2e-3);
  for (int call = 0; call < 32; ++call) {
    EXPECT_EQ(machine.seen(Method::residues), 0) << call;
    EXPECT_EQ(machine.call(), Method::residues);
  }
  EXPECT_NEAR(machine.seen(Method::residues), 0.2e-3, 1e-9);
}

TEST_F(ObservedTimes, OneSlowCallChangesNothing) {
  for (const double native : {12e-3, 8e-3}) {
    forget_observations();
    Machine machine(native, native, 10e-3, 10e-3);
    machine.calls(40);
    const Method home = native > 10e-3 ? Method::residues : Method::native;
    ASSERT_EQ(machine.choice(), home);
    for (int turn = 0; turn < 20; ++turn) {
      machine.call(50);
      for (int call = 0; call < 20; ++call) machine.call();
      EXPECT_GE(std::max(machine.taken[0], machine.taken[1]), 20 * (turn + 1)) << native;
    }
    const auto all = static_cast<double>(machine.taken[0] + machine.taken[1]);
    EXPECT_GT(machine.taken[static_cast<std::size_t>(home)], 0.85 * all) << native;
  }
}

// A busy machine makes both slow: home stays.
TEST_F(ObservedTimes, ABusyMachineChangesNothing) {
  Machine machine(15e-3, 15e-3, 10e-3, 10e-3);
  machine.calls(60);
  const int before = machine.taken[0];
  for (int phase = 0; phase < 10; ++phase) machine.calls(25, phase % 2 == 0 ? 3 : 1);
  EXPECT_LE(machine.taken[0] - before, 16) << "looks";
  EXPECT_EQ(machine.call(), Method::residues);
}

// What neighbours leave of the tile units: residues alone are slower now.
TEST_F(ObservedTimes, AMethodThatBecomesSlowIsLeft) {
  Machine machine(15e-3, 15e-3, 10e-3, 10e-3);
  machine.calls(100);
  machine.of(Method::residues) = 25e-3;
  machine.calls(50);
  for (int call = 0; call < 8; ++call) EXPECT_EQ(machine.call(), Method::native) << call;
}

TEST_F(ObservedTimes, ALookInABusyMomentIsRepaired) {
  Machine machine(8e-3, 16e-3, 10e-3, 10e-3);
  machine.calls(2);
  for (int look = 0; look < 2; ++look) EXPECT_EQ(machine.call(5), Method::native);
  EXPECT_EQ(machine.choice(), Method::residues) << "40 ms natively";
  machine.calls(60);
  for (int call = 0; call < 8; ++call) EXPECT_EQ(machine.call(), Method::native) << call;
}

// By the multiplication residues of thin products take twice as long: so do their estimates.
TEST_F(ObservedTimes, ShapesOfAnOctaveDoNotPoisonOneAnother) {
  Machine thick(20e-3, 10e-3, 12e-3, 6e-3), thin(20e-3, 10e-3, 30e-3, 15e-3);  // twice their estimates
  thin.product.shape = {900, 520, 1000};
  thick.calls(40);
  EXPECT_EQ(thick.choice(), Method::residues);
  EXPECT_NEAR(thin.seen(Method::residues), 30e-3, 1e-6) << "by the other shape's share";
  EXPECT_EQ(thin.choice(), Method::native);
  for (int call = 0; call < 100; ++call) thick.call(), thin.call();
  EXPECT_GT(thick.taken[1], 110);
  EXPECT_GT(thin.taken[0], 85);
  thin.product.threads = 5;
  EXPECT_EQ(thin.seen(Method::residues), 0);
  thin.product = product;
  thin.product.shape.m = 1024;
  EXPECT_EQ(thin.seen(Method::residues), 0) << "another octave";
  thin.product = product;
  thin.product.type = ElementType::double_complex;
  EXPECT_EQ(thin.seen(Method::residues), 0);
}

// Of 152 x 1459 x 373, complex float, 16 threads: residues 0.9 ms, natively 0.65; of others of its octaves 1 and 1.7.
TEST_F(ObservedTimes, AShapeOnEndIsLookedAtItself) {
  Machine others(1.7e-3, 1.6e-3, 1e-3, 1e-3), own(0.65e-3, 1.5e-3, 0.9e-3, 0.9e-3);
  others.calls(10000);
  own.calls(300);
  EXPECT_GT(own.taken[0], 160) << "home after a tenth of a second";
  forget_observations();
  Machine one(1.7e-3, 1.6e-3, 1e-3, 1e-3), another(1.8e-3, 1.7e-3, 1.1e-3, 1.1e-3);
  for (int call = 0; call < 3000; ++call) one.call(), another.call();
  EXPECT_LT(one.taken[0] + another.taken[0], 200) << "neither comes on end";
}

TEST_F(ObservedTimes, EqualsGoNatively) {
  Machine machine(10e-3, 10e-3, 9.5e-3, 20e-3);
  machine.calls(500);
  EXPECT_GT(machine.taken[0], 450) << "residues have to gain 8 %";
  forget_observations();
  Machine other(10e-3, 20e-3, 10.2e-3, 10e-3);
  other.calls(500);
  EXPECT_GT(other.taken[0], 450) << "the native product has to gain nothing";
}

TEST_F(ObservedTimes, AllAreKnownBesideWhateverIsHome) {
  Machine machine(10e-3, 13e-3, 8e-3, 5e-3);
  machine.rivals.add(Method::bf16x6, 7e-3);
  machine.of(Method::bf16x6) = 4e-3;
  machine.calls(60);
  EXPECT_EQ(machine.choice(), Method::bf16x6) << "residues first, then parts";
  machine.of(Method::native) = 2e-3;
  for (const Method home : {Method::bf16x6, Method::native}) {
    EXPECT_NEAR(machine.seen(Method::native) / machine.seen(Method::bf16x6), home == Method::native ? 0.5 : 2.5, 1e-6);
    EXPECT_NEAR(machine.seen(Method::residues) / machine.seen(Method::bf16x6), 2, 1e-6);
    machine.calls(200);
  }
}

TEST_F(ObservedTimes, LooksCostAFiftieth) {
  for (const auto& [native, native_estimate, residues] :
       {std::array{4e-3, 0.5e-3, 0.6e-3}, {19e-3, 4.5e-3, 4.6e-3}, {1.0, 1.0, 0.9}, {0.3e-3, 0.1e-3, 0.2e-3}}) {
    forget_observations();
    Machine machine(native, native_estimate, residues, residues);
    constexpr int calls = 20000;
    machine.calls(calls);
    EXPECT_LT(machine.taken[0] * native + machine.taken[1] * residues, 1.025 * calls * residues) << native;
    EXPECT_GT(machine.taken[0], 0) << native;
  }
}

TEST_F(ObservedTimes, SparedCallsDelayNoLook) {
  int planned = 0;
  const auto looks = [&](bool spares) {
    forget_observations();
    Machine machine(1e-3, 1e-3, 1.3e-3, 1e-3);
    std::vector<int> found;
    std::uint32_t spared = calls_to_spare = planned = 0;
    for (int call = 0; call < 5000; ++call) {
      if (spares && spared < calls_to_spare) {
        ++spared;
        continue;
      }
      calls_spared = std::exchange(spared, 0);
      if (++planned; machine.call() == Method::residues) found.push_back(call);
    }
    return found;
  };
  const std::vector<int> all = looks(false);
  EXPECT_GT(all.size(), 10U);
  EXPECT_EQ(looks(true), all);
  EXPECT_LT(planned, 1000);
}

TEST_F(ObservedTimes, PlansDoNotCount) {
  Machine machine(10e-3, 10e-3, 20e-3, 5e-3);
  for (int call = 0; call < 12; ++call) {
    const Method method = machine.choice();
    for (int plan = 0; plan < 50; ++plan) EXPECT_EQ(machine.choice(), method) << "until a call took something";
    machine.call();
  }
}

TEST_F(ObservedTimes, LookAtNoRivalThatMayCostLong) {
  Machine machine(3, 3, 2, 2);
  machine.rivals.add(Method::bf16x6, 3);
  machine.of(Method::bf16x6) = 3;
  machine.calls(20);
  EXPECT_EQ(machine.taken[0], 0);
  machine.calls(1000);
  EXPECT_GT(machine.taken[0], 0) << "once that costs a twentieth";
  EXPECT_LT(machine.taken[0], 30);
  EXPECT_EQ(machine.taken[2], 0);
}

TEST_F(ObservedTimes, RatesOfAnotherLibraryHideTheNativeProductForAWhile) {
  Machine machine(25e-3, 161e-3, 41e-3, 41e-3);
  machine.calls(100);
  EXPECT_EQ(machine.taken[0], 0) << "240 ms lost would be more than a twentieth";
  machine.calls(100);
  EXPECT_GT(machine.taken[0], 50) << "home, once it was looked at";
}

// Threads that wait for one another take their least time now and then; what counts is what a call takes.
TEST_F(ObservedTimes, AMethodThatIsQuickNowAndThenIsNotQuicker) {
  Machine machine(1e-3, 1e-3, 1.15e-3, 0.7e-3);
  for (int call = 0; call < 400; ++call) machine.call(machine.choice() == Method::residues && call % 3 == 0 ? 0.8 : 1);
  EXPECT_GT(machine.taken[0], 300);
}

TEST_F(ObservedTimes, LookAtTheNativeProductOfBriefCallsWhateverItsEstimate) {
  Machine machine(0.1e-3, 4e-3, 0.2e-3, 0.2e-3);
  machine.rivals.add(Method::bf16x6, 4e-3);
  machine.calls(64);
  EXPECT_EQ(machine.taken[0], 32);
  machine.calls(300);
  EXPECT_GT(machine.taken[0], 32 + 250);
  EXPECT_EQ(machine.taken[2], 0) << "hopeless";
}

// Their estimates are those of a machine whose neighbours leave the tile units alone.
TEST_F(ObservedTimes, ResiduesAndBf16PartsAreExpectedToBeSlowAlike) {
  for (const double parts : {23e-3, 15e-3}) {
    forget_observations();
    Machine machine(68e-3, 68e-3, 45e-3, 17e-3);
    machine.rivals.add(Method::bf16x6, parts);
    machine.of(Method::bf16x6) = parts;
    machine.calls(10);
    EXPECT_EQ(machine.taken[0], parts < 20e-3 ? 2 : 0) << "hopeless beside a product that is not brief";
    EXPECT_EQ(machine.taken[2] > 0, parts < 20e-3) << "61 or 40 ms are expected";
  }
}

// A look at a method that the next product does not have ends.
TEST_F(ObservedTimes, AMethodThatCannotBeTakenStopsNoOther) {
  Machine machine(8e-3, 16e-3, 10e-3, 10e-3);
  machine.rivals.add(Method::bf16x6, 11e-3);
  machine.of(Method::bf16x6) = 9e-3;
  machine.calls(4);
  while (machine.choice() != Method::bf16x6) machine.call();
  --machine.rivals.count;
  machine.calls(100);
  EXPECT_GT(machine.taken[0], 90);
  EXPECT_GT(machine.taken[1], 2);
}

// Without its memory the best method is none: the others are looked at, and one of them serves.
TEST_F(ObservedTimes, WithoutHomeOthersAreLookedAt) {
  Machine machine(8e-3, 16e-3, 10e-3, 7e-3);
  machine.rivals.add(Method::bf16x6, 5e-3);
  machine.of(Method::bf16x6) = 4e-3;
  machine.calls(2);
  for (const bool looking : {true, false}) {
    machine.rivals.count = 2;
    machine.calls(40);
    for (int call = 0; call < 8; ++call) EXPECT_EQ(machine.call(), Method::native) << looking;
    machine.rivals.count = 3;
    machine.calls(60);
    EXPECT_EQ(machine.choice(), Method::bf16x6) << looking;
  }
}

// Phases of 0.15 s in which the machine is up to three times slower, a tenth of calls that a neighbour holds up, and
// the first calls after a change that pay for it: random methods and estimates.
class Neighbours {
 public:
  explicit Neighbours(unsigned seed) : random_(seed) {}
  double uniform(double from, double to) {
    return from + (to - from) * std::ldexp(static_cast<double>(random_()), -32);
  }
  double slow(double now) {
    while (now >= next_) {
      level_ = uniform(0, 1) < 0.5 ? std::exp(uniform(0, 1.1)) : 1;
      next_ += uniform(0.05, 0.25);
    }
    return level_;
  }
  double spike() { return uniform(0, 1) < 0.1 ? uniform(1.5, 4) : uniform(1, 1.1); }

 private:
  std::mt19937 random_;
  double level_ = 1, next_ = 0;
};

TEST_F(ObservedTimes, TheDefaultIsSeldomSlowerOnABusyMachine) {
  int lost = 0, lost_badly = 0;
  double gain = 0, best_gain = 0;
  constexpr int cases = 200;
  for (int i = 0; i < cases; ++i) {
    forget_observations();
    Neighbours neighbours(static_cast<unsigned>(i) + 1);
    const double native = 3e-3 * std::exp(neighbours.uniform(-0.7, 2.3)),
                 ratio = std::exp(neighbours.uniform(-1.2, 1.2));
    Machine machine(native, native, ratio * native, ratio * native * std::exp(neighbours.uniform(-0.7, 0.7)));
    double now = 0, took = 0, natively = 0;
    Method last = Method::native;
    int since = 0;
    for (int call = 0; call < 400; ++call) {
      const Method method = machine.choice();
      since = method == last ? since + 1 : 0;
      last = method;
      const double slow = neighbours.slow(now), start = since < 3 ? 2e-4 : 0;
      const double seconds = neighbours.spike() * slow * machine.of(method) + start;
      observe(machine.product, machine.rivals.span(), method, seconds);
      now += seconds;
      if (call >= 60) took += slow * machine.of(method) + start, natively += slow * native;
    }
    lost += natively < 0.95 * took, lost_badly += natively < 0.85 * took;
    gain += std::log(natively / took), best_gain += std::max(0.0, -std::log(ratio));
  }
  EXPECT_LE(lost, 8) << "of " << cases;
  EXPECT_LE(lost_badly, 1);
  EXPECT_GT(gain, 0.9 * best_gain);
}

TEST_F(ObservedTimes, LeaveCloseEstimatesToTheNativeProduct) {
  EXPECT_NEAR(cautious(2), 2.3, 1e-9);
  setenv("VERNIER_RATES", "none", 1);
  EXPECT_EQ(cautious(2), 2) << "estimates alone, as they are";
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
