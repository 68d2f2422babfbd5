// CPU or GPU where the choice is free: never much slower than the CPU, whatever the noise and the estimates.
#include "blas/offload/place.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace vernier::test::place_test {
namespace {

constexpr PlaceEstimate even{.cpu = 30e-3, .gpu = 30e-3};

// A class whose calls take what the functions say.
struct Simulation {
  PlaceHistory history;
  PlaceEstimate estimate = even;
  std::function<double()> cpu, gpu;
  int on_gpu = 0;

  double call() {
    const Place place = history.choose(estimate);
    const double seconds = place == Place::gpu ? gpu() : cpu();
    on_gpu += place == Place::gpu;
    history.took(estimate, place, seconds, true);
    return seconds;
  }
  double calls(int count) {
    double all = 0;
    on_gpu = 0;
    for (int i = 0; i < count; ++i) all += call();
    return all;
  }
};

std::function<double()> always(double seconds) {
  return [=] { return seconds; };
}

TEST(Placing, BeginsOnTheCpuButWhereTheEstimateIsClear) {
  EXPECT_EQ(PlaceHistory{}.choose({.cpu = 10e-3, .gpu = 5e-3}), Place::cpu);
  EXPECT_EQ(PlaceHistory{}.choose({.cpu = 10e-3, .gpu = 3e-3}), Place::gpu);
  EXPECT_EQ(PlaceHistory{}.choose({.cpu = 2, .gpu = 1.5}), Place::cpu);
  EXPECT_EQ(PlaceHistory{}.choose({.cpu = 2, .gpu = 1}), Place::gpu) << "it may be the only one";
}

TEST(Placing, TellsWhoAsksOnceByTheEstimateUntilBothAreKnown) {
  const PlaceEstimate near{.cpu = 30e-3, .gpu = 25e-3};
  Simulation s{.estimate = near, .cpu = always(10e-3), .gpu = always(30e-3)};
  EXPECT_EQ(s.history.choose(near), Place::cpu);
  EXPECT_EQ(s.history.expected(near), Place::gpu);
  s.calls(10);
  EXPECT_EQ(s.history.expected(near), Place::cpu);
}

TEST(Placing, LooksAtBothAndTakesTheFaster) {
  Simulation faster{.cpu = always(30e-3), .gpu = always(10e-3)};
  faster.calls(10);
  faster.calls(200);
  EXPECT_GE(faster.on_gpu, 190);
  Simulation slower{.cpu = always(10e-3), .gpu = always(30e-3)};
  slower.calls(10);
  slower.calls(200);
  EXPECT_LE(slower.on_gpu, 2);
  Simulation wrong{.estimate = {.cpu = 100e-3, .gpu = 10e-3}, .cpu = always(20e-3), .gpu = always(60e-3)};
  wrong.calls(20);
  wrong.calls(200);
  EXPECT_LE(wrong.on_gpu, 2) << "it began on the GPU";
}

TEST(Placing, LeavesATieToTheCpu) {
  Simulation tie{.cpu = always(10e-3), .gpu = always(9.5e-3)};
  tie.calls(200);
  EXPECT_LE(tie.on_gpu, 50);
}

TEST(Placing, AsksAHopelessSideForNothing) {
  Simulation s{.estimate = {.cpu = 10e-3, .gpu = 50e-3}, .cpu = always(10e-3), .gpu = always(1e-3)};
  s.calls(1000);
  EXPECT_EQ(s.on_gpu, 0);
  s.estimate = {.cpu = 5, .gpu = 0.01}, s.gpu = always(0.01), s.history = {};
  s.calls(1000);
  EXPECT_EQ(s.on_gpu, 1000);
}

// The CPU's first times are those of a busy moment.
TEST(Placing, ReturnsToACpuThatBecameFaster) {
  Simulation s{.cpu = always(60e-3), .gpu = always(30e-3)};
  s.calls(12);
  s.calls(100);
  EXPECT_GE(s.on_gpu, 90);
  s.cpu = always(15e-3);
  s.calls(100);
  s.calls(100);
  EXPECT_LE(s.on_gpu, 2);
}

TEST(Placing, ReturnsAtOnceFromAGpuThatBecameSlower) {
  Simulation s{.cpu = always(30e-3), .gpu = always(10e-3)};
  s.calls(12);
  s.gpu = always(50e-3);
  s.calls(5);
  s.calls(100);
  EXPECT_LE(s.on_gpu, 2);
}

TEST(Placing, CountsNoTimeOfACpuThatTriesItsOwnMethods) {
  PlaceHistory history;
  for (int i = 0; i < 8; ++i) history.took(even, Place::cpu, 1, false);
  for (int i = 0; i < 4; ++i) history.took(even, Place::cpu, 10e-3, true);
  for (int i = 0; i < 4; ++i) history.took(even, Place::gpu, 20e-3, true);
  EXPECT_EQ(history.choose(even), Place::cpu);
  PlaceHistory only;
  for (int i = 0; i < 99; ++i) only.took(even, Place::cpu, 1, false);
  EXPECT_EQ(only.choose(even), Place::gpu) << "there are no others: they count in the end";
}

// Times scatter by a third, one in ten is three times as long, and estimates miss by a factor of three either way.
class NoisyPlaces : public testing::TestWithParam<double> {};

TEST_P(NoisyPlaces, TakeAtMostATwentiethMoreThanTheCpu) {
  const double gpu_over_cpu = GetParam();
  for (int seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    const auto noise = [&] {
      std::normal_distribution<double> scatter(0, 0.3);
      return std::exp(scatter(random)) * (random() % 10 == 0 ? 3 : 1);
    };
    const double cpu = 3e-3, gpu = gpu_over_cpu * cpu;
    const double missed = std::exp(std::uniform_real_distribution<double>(-1.1, 1.1)(random));
    Simulation s{.estimate = {.cpu = cpu, .gpu = gpu * missed},
                 .cpu = [&] { return cpu * noise(); },
                 .gpu = [&] { return gpu * noise(); }};
    constexpr int calls = 4000;
    double alone = 0;
    for (int i = 0; i < calls; ++i) alone += cpu * noise();
    const double all = s.calls(calls);
    EXPECT_LE(all, 1.05 * alone) << seed << ": estimate missed by " << missed;
    if (gpu_over_cpu <= 0.4) {
      EXPECT_LE(all, 0.6 * alone) << seed << ": estimate missed by " << missed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ratios, NoisyPlaces, testing::Values(0.1, 0.4, 0.8, 0.95, 1.0, 1.1, 1.5, 2.5, 6.0));

}  // namespace
}  // namespace vernier::test::place_test
