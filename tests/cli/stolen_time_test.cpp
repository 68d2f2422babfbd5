#include "stolen_time.hpp"

#include <gtest/gtest.h>

namespace vernier::cli::stolen_time_test {
namespace {

TEST(StolenTime, IsAShareOfTheTimeThatProcessorsWereWanted) {
  EXPECT_EQ(stolen_share("cpu  100 20 30 5000 7 20 10 20 3 0"), 0.1);
  EXPECT_EQ(stolen_share("cpu  0 0 0 5000 7 0 0 0 0 0"), 0);
  for (const char* other : {"", "cpu0 1 1 1 1 1 1 1 1", "cpu 1 2 3", "intr 1 1 1 1 1 1 1 1", "cpu a b c d e f g h"})
    EXPECT_EQ(stolen_share(other), 0) << other;
  EXPECT_GE(stolen_share(), 0);
  EXPECT_LT(stolen_share(), 1);
}

}  // namespace
}  // namespace vernier::cli::stolen_time_test
