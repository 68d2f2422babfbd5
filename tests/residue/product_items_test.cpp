// How the products of a block of C are dealt out to threads.
#include "residue/product_items.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace vernier::test::product_items_test {
namespace {

// How often each block of C of each plane is taken, and that no item is empty or larger than asked.
std::vector<int> times_taken(const ProductItems& items, StripCounts strips, StripCounts most, std::int64_t planes) {
  std::vector<int> taken(static_cast<std::size_t>(planes * strips.rows * strips.columns));
  double done = 0;
  for (std::int64_t i = 0; i < items.count(); ++i) {
    const ProductItem item = items.at(i);
    EXPECT_TRUE(item.strips >= 1 && item.strips <= most.rows && item.columns >= 1 && item.columns <= most.columns);
    EXPECT_GT(item.done, done);
    done = item.done;
    for (std::int64_t t = item.first_column; t < item.first_column + item.columns; ++t)
      for (std::int64_t v = item.first; v < item.first + item.strips; ++v)
        ++taken.at(static_cast<std::size_t>((item.plane * strips.columns + t) * strips.rows + v));
  }
  EXPECT_EQ(done, 1);
  return taken;
}

TEST(ProductItems, TakeEachBlockOfEachPlaneOnce) {
  for (const std::int64_t planes : {1, 7, 15})
    for (const StripCounts strips : {StripCounts{1, 1}, {2, 5}, {3, 1}, {16, 16}, {33, 8}, {32, 7}})
      for (const StripCounts most : {StripCounts{1, 1}, {2, 3}, {6, 64}, {64, 6}, {64, 64}})
        for (const int threads : {1, 2, 3, 64}) {
          const ProductItems items(planes, strips, most, threads);
          for (const int times : times_taken(items, strips, most, planes))
            ASSERT_EQ(times, 1) << planes << ' ' << strips.rows << ' ' << strips.columns << ' ' << most.rows << ' '
                                << most.columns << ' ' << threads;
        }
}

// 15 planes on two threads: none may take a whole one while the other has nothing left to do.
TEST(ProductItems, TheLastOnesAreQuarters) {
  const ProductItems items(15, {32, 32}, {32, 32}, 2);
  for (std::int64_t i = 0; i < items.count(); ++i) ASSERT_EQ(items.at(i).strips, i < 13 ? 32 : 8);
}

}  // namespace
}  // namespace vernier::test::product_items_test
