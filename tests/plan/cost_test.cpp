#include "plan/cost.hpp"

#include <gtest/gtest.h>

#include "engine/int8_engine.hpp"

namespace vernier::test {
namespace {

constexpr ProductShape shapes[] = {{1, 1, 1}, {32, 1000, 5}, {4096, 4096, 4096}, {100, 1, 100000}};

TEST(Cost, GrowsWithEverySizeAndWithTheModuli) {
  for (const Int8Engine* engine : int8_engines())
    for (const ProductShape& s : shapes) {
      const double seconds = residue_seconds(engine->name(), s, 15, 2);
      EXPECT_GT(seconds, 0);
      for (const ProductShape& larger : {ProductShape{2 * s.m, s.n, s.k}, {s.m, s.n + 1, s.k}, {s.m, s.n, s.k + 1}})
        EXPECT_GT(residue_seconds(engine->name(), larger, 15, 2), seconds) << engine->name();
      EXPECT_GT(residue_seconds(engine->name(), s, 16, 2), seconds);
      EXPECT_LT(residue_seconds(engine->name(), s, 15, 3), seconds);
    }
}

TEST(Cost, OfTheNativeProductGrowsWithEverySize) {
  for (const bool single : {false, true})
    for (const ProductShape& s : shapes) {
      const double seconds = native_seconds(s, single, 2);
      for (const ProductShape& larger : {ProductShape{2 * s.m, s.n, s.k}, {s.m, s.n + 1, s.k}, {s.m, s.n, s.k + 1}})
        EXPECT_GT(native_seconds(larger, single, 2), seconds);
      EXPECT_LT(native_seconds(s, single, 3), seconds);
    }
  EXPECT_LT(native_seconds(shapes[2], true, 1), native_seconds(shapes[2], false, 1));
}

TEST(Cost, PreferredEnginesAreFaster) {
  double before = 0;
  for (const Int8Engine* engine : int8_engines()) {
    const double seconds = residue_seconds(engine->name(), {4096, 4096, 4096}, 15, 1);
    EXPECT_GT(seconds, before) << engine->name();
    before = seconds;
  }
}

// Every engine that is built has rates of its own: none is taken for the portable one.
TEST(Cost, KnowsEveryEngine) {
  const double unknown = residue_seconds("no such engine", {4096, 4096, 4096}, 15, 1);
  for (const Int8Engine* engine : int8_engines()) {
    if (engine->name() == "portable") continue;
    EXPECT_LT(residue_seconds(engine->name(), {4096, 4096, 4096}, 15, 1), unknown) << engine->name();
  }
}

}  // namespace
}  // namespace vernier::test
