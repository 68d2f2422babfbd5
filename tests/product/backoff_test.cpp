#include "product/backoff.hpp"

#include <gtest/gtest.h>

namespace vernier::backoff_test {
namespace {

int passed_over(Backoff& pause) {
  int count = 0;
  while (!pause.should_try()) ++count;
  return count;
}

TEST(Backoff, GrowsWhileAttemptsAreInVainAndEndsWithOneThatIsNot) {
  Backoff pause;
  EXPECT_EQ(passed_over(pause), 0);
  for (const int wanted : {4, 16, 64, 64}) {
    pause.tried(true);
    EXPECT_EQ(passed_over(pause), wanted);
  }
  pause.tried(false);
  EXPECT_EQ(passed_over(pause), 0);
  pause.tried(true);
  EXPECT_EQ(passed_over(pause), 4);
}

}  // namespace
}  // namespace vernier::backoff_test
