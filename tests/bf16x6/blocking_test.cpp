// Blocks and memory of products of three bf16 parts.
#include "bf16x6/blocking.hpp"

#include <gtest/gtest.h>

#include "vernier/vernier.hpp"

namespace vernier::blocking_test {
namespace {

TEST(Bf16x6Plan, BlocksCoverTheProductWithinTheLimit) {
  for (const std::int64_t m : {1, 31, 200, 385, 1000, 4096})
    for (const std::int64_t n : {1, 33, 700, 4096})
      for (const int threads : {1, 2, 7, 16}) {
        const Bf16x6Blocking b = choose_bf16x6_blocking({m, n, 900}, threads, default_workspace_limit);
        ASSERT_LE(b.bytes, default_workspace_limit);
        EXPECT_GE(b.row_block * b.row_blocks, m);
        EXPECT_LE(b.row_block, 384);
        EXPECT_EQ(b.row_block % bf16x6_strip, 0);
        EXPECT_GE(b.n_block, n);
        EXPECT_LE(b.column_ranges, b.n_block / bf16x6_strip);
        EXPECT_EQ(b.chunks, 8);
        EXPECT_EQ(b.groups, 2);
      }
}

TEST(Bf16x6Plan, LessMemoryTakesFewerColumnsAtATimeButNeverFewerThanAStrip) {
  std::int64_t before = 1 << 20;
  std::size_t bytes = default_workspace_limit;
  for (int i = 0; i < 5; ++i) {
    const Bf16x6Blocking b = choose_bf16x6_blocking({512, 4096, 4096}, 2, bytes);
    EXPECT_LT(b.n_block, before);
    before = b.n_block;
    bytes = b.bytes - 1;
  }
  const Bf16x6Blocking least = choose_bf16x6_blocking({512, 4096, 4096}, 2, 0);
  EXPECT_EQ(least.n_block, bf16x6_strip);
  EXPECT_GT(least.bytes, 0u);
}

// Two threads have the same number of tasks, by blocks of rows or by ranges of columns.
TEST(Bf16x6Plan, DealsOutEvenly) {
  const auto tasks = [](std::int64_t m) {
    const Bf16x6Blocking b = choose_bf16x6_blocking({m, 1024, 512}, 2, default_workspace_limit);
    return b.row_blocks * b.column_ranges;
  };
  for (const std::int64_t m : {32, 256, 512, 700, 1024, 4096}) EXPECT_EQ(tasks(m) % 2, 0) << m;
}

}  // namespace
}  // namespace vernier::blocking_test
