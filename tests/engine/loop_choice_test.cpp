// Times of two loops on a core whose sibling rests, works on tiles too, or does something else.
#include <gtest/gtest.h>

#include "engine/loop_choice.hpp"

#include <algorithm>
#include <random>

namespace vernier::test::loop_choice_test {
namespace {

struct State {
  double times[2];
};
constexpr State rests{{20, 17}}, on_tiles{{28, 76}}, at_work{{55, 62}};

// The time of many turns for that of the better loop in each state; of many states of so many turns each.
double loss(std::initializer_list<State> states, int turns, double noise, double interrupted) {
  LoopChoice choice;
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  double taken = 0, least = 0;
  for (int round = 0; round < 40; ++round)
    for (const State& state : states)
      for (int turn = 0; turn < turns; ++turn) {
        const double factor = 1 + noise * uniform(generator) + (uniform(generator) < interrupted ? 4 : 0);
        const double time = state.times[choice.loop()] * factor;
        taken += time;
        least += std::min(state.times[0], state.times[1]) * factor;
        choice.took(time);
      }
  return taken / least - 1;
}

TEST(LoopChoice, CostsLittleWhereNothingChanges) {
  for (const State& state : {rests, on_tiles, at_work}) {
    EXPECT_LT(loss({state}, 1000, 0, 0), 0.007);
    EXPECT_LT(loss({state}, 1000, 0.1, 0.002), 0.05);
  }
}

TEST(LoopChoice, FollowsTheSibling) {
  EXPECT_LT(loss({rests, on_tiles}, 1000, 0.05, 0.001), 0.05);
  EXPECT_LT(loss({rests, at_work}, 300, 0.05, 0.001), 0.05);
  EXPECT_LT(loss({rests, at_work, on_tiles}, 300, 0.05, 0.001), 0.1);
}

TEST(LoopChoice, ForgetsATurnThatWasInterrupted) {
  LoopChoice choice;
  for (const double time : {2000.0, 17.0, 17.0}) choice.took(time);
  int of_whole = 0;
  for (int turn = 0; turn < 1000; ++turn) {
    of_whole += choice.loop();
    choice.took(on_tiles.times[choice.loop()]);
  }
  EXPECT_LT(of_whole, 20);
}

}  // namespace
}  // namespace vernier::test::loop_choice_test
