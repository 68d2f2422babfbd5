#include "base/ticks.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace vernier::test::ticks_test {
namespace {

// Whatever the processor offers, and as one without a steady counter has it.
class Ticks : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) change(TickSource::clock);
  }
  void TearDown() override { change(TickSource::unknown); }

 private:
  static void change(TickSource source) { tick_source = source, known_seconds_per_tick = 0; }
};

TEST_P(Ticks, MeasureWhatTheClockMeasures) {
  double nearest = 1;  // this thread may have to wait between the two
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t start = ticks(), begin = clock_nanoseconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const double seconds = 1e-9 * static_cast<double>(clock_nanoseconds() - begin);
    const double told = static_cast<double>(ticks_since(start)) * seconds_per_tick();
    nearest = std::min(nearest, std::abs(told / seconds - 1));
  }
  EXPECT_LT(nearest, 0.01);
}

TEST_P(Ticks, NeverGoBack) {
  EXPECT_EQ(ticks_since(ticks() + (std::uint64_t{1} << 40)), 0U);
  for (std::uint64_t last = ticks(), i = 0; i < 1000; ++i) {
    const std::uint64_t next = ticks();
    ASSERT_GE(next, last);
    last = next;
  }
}

INSTANTIATE_TEST_SUITE_P(Sources, Ticks, testing::Bool());

}  // namespace
}  // namespace vernier::test::ticks_test
