#include "engine/entry_filter.hpp"

#include <gtest/gtest.h>

namespace vernier::entry_filter_test {
namespace {

TEST(EntryFilter, WantsWhatSomePairOfSetsWants) {
  const EntryFilter sharing{nullptr, nullptr, true}, none{nullptr, nullptr, false};
  for (unsigned r = 0; r < EntryFilter::sets; ++r)
    for (unsigned c = 0; c < EntryFilter::sets; ++c) {
      EXPECT_EQ(sharing.wants_some(1u << r, 1u << c), (r & c) != 0);
      EXPECT_EQ(none.wants_some(1u << r, 1u << c), (r & c) == 0);
      // Of several vectors one pair is enough.
      EXPECT_TRUE(none.wants_some(1u << r | 1u << 0, 1u << c));
      EXPECT_EQ(sharing.wants_some(1u << r | 1u << 7, 1u << c), c != 0);
    }
  EXPECT_FALSE(none.wants_some(0, ~0u));  // no vectors
}

TEST(EntryFilter, TakesAllGroupsOfARange) {
  const unsigned groups[] = {1, 2, 4};
  EXPECT_EQ(EntryFilter::sets_of(groups, 0, 32), 1u);
  EXPECT_EQ(EntryFilter::sets_of(groups, 0, 33), 3u);
  EXPECT_EQ(EntryFilter::sets_of(groups, 32, 70), 6u);
  EXPECT_EQ(EntryFilter::sets_of(groups, 31, 32), 1u);
}

}  // namespace
}  // namespace vernier::entry_filter_test
