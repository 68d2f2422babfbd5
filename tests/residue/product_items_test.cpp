// How the products of a block of C are dealt out to threads.
#include "residue/product_items.hpp"

#include <gtest/gtest.h>

namespace vernier::test::product_items_test {
namespace {

TEST(ProductItems, TakeEachStripOfEachPlaneOnceAndInOrder) {
  for (const std::int64_t planes : {1, 7, 15})
    for (const std::int64_t strips : {1, 2, 3, 5, 16, 33, 128})
      for (const std::int64_t most : {std::int64_t{1}, std::int64_t{2}, std::int64_t{6}, strips})
        for (const int threads : {1, 2, 3, 64}) {
          const ProductItems items(planes, strips, std::min(most, strips), threads);
          std::int64_t next = 0;
          double done = 0;
          for (std::int64_t i = 0; i < items.count(); ++i) {
            const ProductItem item = items.at(i);
            ASSERT_GE(item.strips, 1);
            ASSERT_LE(item.strips, most);
            ASSERT_GT(item.done, done);
            done = item.done;
            ASSERT_EQ(item.plane * strips + item.first, next);
            ASSERT_LE(item.first + item.strips, strips);
            next += item.strips;
          }
          ASSERT_EQ(next, planes * strips);
          ASSERT_EQ(done, 1);
        }
}

// 15 planes on two threads: none may take a whole one while the other has nothing left to do.
TEST(ProductItems, TheLastOnesAreQuarters) {
  const ProductItems items(15, 32, 32, 2);
  for (std::int64_t i = 0; i < items.count(); ++i) ASSERT_EQ(items.at(i).strips, i < 13 ? 32 : 8);
}

}  // namespace
}  // namespace vernier::test::product_items_test
