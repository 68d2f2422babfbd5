// Answers in a word that questions share.
#include "product/host_answer.hpp"

#include <gtest/gtest.h>

namespace vernier::test::host_answer_test {
namespace {

TEST(HostAnswer, IsThereOnceItIsGiven) {
  std::uint32_t word = 0;
  for (const bool yes : {true, false})
    for (const std::uint32_t number : {1u, 2u, 0x7fffffffu}) {
      const HostAnswer answer{&word, number};
      EXPECT_FALSE(answer.given());
      answer.give(yes);
      EXPECT_EQ(answer.given(), yes) << number;
    }
}

TEST(HostAnswer, OfAnotherQuestionIsNone) {
  std::uint32_t word = 0;
  const HostAnswer earlier{&word, 7}, later{&word, 8};
  for (const bool yes : {true, false}) {
    earlier.give(yes);
    EXPECT_FALSE(later.given());
    later.give(!yes);
    EXPECT_FALSE(earlier.given());
    EXPECT_EQ(later.given(), !yes);
  }
}

}  // namespace
}  // namespace vernier::test::host_answer_test
