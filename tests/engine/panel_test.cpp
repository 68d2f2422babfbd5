#include "engine/panel.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace vernier::test::panel_test {
namespace {

// Is position(x) for x = 0 .. count - 1 a permutation of 0 .. count - 1?
template <class Position>
void expect_permutation(int count, Position position) {
  std::vector<int> hits(static_cast<std::size_t>(count));
  for (int x = 0; x < count; ++x) {
    const int at = position(x);
    ASSERT_GE(at, 0);
    ASSERT_LT(at, count);
    ++hits[static_cast<std::size_t>(at)];
  }
  for (int x = 0; x < count; ++x) ASSERT_EQ(hits[static_cast<std::size_t>(x)], 1) << x;
}

TEST(Panel, OrderOfKInAStepIsAPermutation) { expect_permutation(step_size, k_of_byte); }

TEST(Panel, EveryByteOfAStepHoldsOneElementOfARow) {
  expect_permutation(step_bytes, [](int x) { return row_byte(x / step_size, x % step_size); });
}

TEST(Panel, EveryByteOfAStepHoldsOneElementOfAColumn) {
  expect_permutation(step_bytes, [](int x) { return column_byte(x / step_size, x % step_size); });
}

TEST(Panel, EveryByteOfABlockHoldsOneElementOfC) {
  expect_permutation(block_elements, [](int x) { return residue_index(x / strip_size, x % strip_size); });
}

TEST(Panel, RowsHoldGroupsOfFourKSideBySide) {
  for (int row = 0; row < strip_size; ++row)
    for (int b = 0; b < step_size; b += 4)
      for (int i = 1; i < 4; ++i) EXPECT_EQ(row_byte(row, b + i), row_byte(row, b) + i);
  for (int column = 0; column < strip_size; ++column)
    for (int b = 0; b < step_size; ++b) EXPECT_EQ(column_byte(column, b), column_byte(column, 0) + b);
}

TEST(PanelLayout, OffsetsFillThePlane) {
  for (const std::int64_t vectors : {1, 31, 32, 33, 64, 100, 257})
    for (const std::int64_t k : {1, 63, 64, 65, 1000, 1024, 1025, 1088, 2049, 4096, 10000, 32768}) {
      const PanelLayout layout = panel_layout(vectors, k);
      ASSERT_GE(layout.strips * strip_size, vectors);
      ASSERT_LT((layout.strips - 1) * strip_size, vectors);
      ASSERT_GE(layout.steps * step_size, k);
      ASSERT_LT((layout.steps - 1) * step_size, k);
      std::set<std::int64_t> offsets;
      for (std::int64_t strip = 0; strip < layout.strips; ++strip)
        for (std::int64_t step = 0; step < layout.steps; ++step) {
          const std::int64_t offset = layout.offset(strip, step);
          ASSERT_EQ(offset % step_bytes, 0);
          ASSERT_TRUE(offsets.insert(offset).second) << "vectors " << vectors << ", k " << k;
        }
      ASSERT_EQ(*offsets.begin(), 0);
      ASSERT_EQ(*offsets.rbegin() + step_bytes, layout.bytes());
    }
}

// What an engine reads in one product: strips one after another, each with the steps of one slice.
TEST(PanelLayout, AStripsSliceAndTheNextStripsFollowEachOther) {
  for (const std::int64_t k : {64, 1024, 1025, 3000, 5000, 32768}) {
    const PanelLayout layout = panel_layout(100, k);
    std::int64_t steps = 0;
    for (std::int64_t slice = 0; slice < layout.slices(); ++slice) {
      const std::int64_t begin = slice * layout.slice_steps, count = layout.steps_of(slice);
      ASSERT_GE(count, 1);
      ASSERT_LE(count, 16);
      for (std::int64_t strip = 0; strip < layout.strips; ++strip)
        for (std::int64_t step = 0; step < count; ++step)
          ASSERT_EQ(layout.offset(strip, begin + step) - layout.offset(0, begin), (strip * count + step) * step_bytes);
      steps += count;
    }
    ASSERT_EQ(steps, layout.steps) << k;
  }
}

TEST(PanelLayout, RoundsUp) {
  EXPECT_EQ(divide_up(0, 32), 0);
  EXPECT_EQ(divide_up(1, 32), 1);
  EXPECT_EQ(divide_up(32, 32), 1);
  EXPECT_EQ(round_up(33, 32), 64);
}

}  // namespace
}  // namespace vernier::test::panel_test
