#include "base/duration.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace vernier::test::duration_test {
namespace {

TEST(Duration, HasAUnitThatAPersonReads) {
  EXPECT_EQ(duration_text(0), "0 us");
  EXPECT_EQ(duration_text(1.25e-6), "1.25 us");
  EXPECT_EQ(duration_text(0.0123), "12.3 ms");
  EXPECT_EQ(duration_text(59.9), "59.9 s");
  EXPECT_EQ(duration_text(90), "1.5 min");
  EXPECT_EQ(duration_text(7200), "2 h");
  EXPECT_EQ(duration_text(86400.0 * 10), "10 days");
  EXPECT_EQ(duration_text(9.996e-6), "10 us");
  EXPECT_EQ(duration_text(99.96e-3), "100 ms");
  EXPECT_EQ(duration_text(0.9996), "1e+03 ms");
  EXPECT_EQ(duration_text(1.006), "1.01 s");
  EXPECT_EQ(duration_text(2.14e23), "over a year");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::quiet_NaN()), "over a year");
}

}  // namespace
}  // namespace vernier::test::duration_test
