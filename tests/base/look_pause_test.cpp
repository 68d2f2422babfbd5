#include "base/look_pause.hpp"

#include <gtest/gtest.h>

namespace vernier {
namespace {

int passed_over(LookPause& pause) {
  int count = 0;
  while (!pause.wants_a_look()) ++count;
  return count;
}

TEST(LookPause, GrowsWhileLooksAreInVainAndEndsWithOneThatIsNot) {
  LookPause pause;
  EXPECT_EQ(passed_over(pause), 0);
  for (const int wanted : {4, 16, 64, 64}) {
    pause.looked(true);
    EXPECT_EQ(passed_over(pause), wanted);
  }
  pause.looked(false);
  EXPECT_EQ(passed_over(pause), 0);
  pause.looked(true);
  EXPECT_EQ(passed_over(pause), 4);
}

}  // namespace
}  // namespace vernier
