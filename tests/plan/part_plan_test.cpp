// Blocks, memory and the plan's text of products of bf16 parts.
#include "plan/part_plan.hpp"

#include <gtest/gtest.h>

#include "vernier/vernier.hpp"

namespace vernier {
namespace {

TEST(PartPlan, BlocksCoverTheProductWithinTheLimit) {
  for (const std::int64_t m : {1, 31, 200, 385, 1000, 4096})
    for (const std::int64_t n : {1, 33, 700, 4096})
      for (const int threads : {1, 2, 7, 16}) {
        const PartBlocking b = choose_part_blocking({m, n, 900}, threads, default_workspace_limit);
        ASSERT_LE(b.bytes, default_workspace_limit);
        EXPECT_GE(b.row_block * b.row_blocks, m);
        EXPECT_LE(b.row_block, 384);
        EXPECT_EQ(b.row_block % part_strip, 0);
        EXPECT_GE(b.n_block, n);
        EXPECT_LE(b.column_ranges, b.n_block / part_strip);
        EXPECT_EQ(b.chunks, 8);
        EXPECT_EQ(b.groups, 2);
      }
}

TEST(PartPlan, LessMemoryTakesFewerColumnsAtATimeButNeverFewerThanAStrip) {
  std::int64_t before = 1 << 20;
  std::size_t bytes = default_workspace_limit;
  for (int i = 0; i < 5; ++i) {
    const PartBlocking b = choose_part_blocking({512, 4096, 4096}, 2, bytes);
    EXPECT_LT(b.n_block, before);
    before = b.n_block;
    bytes = b.bytes - 1;
  }
  const PartBlocking least = choose_part_blocking({512, 4096, 4096}, 2, 0);
  EXPECT_EQ(least.n_block, part_strip);
  EXPECT_GT(least.bytes, 0u);
}

// Two threads have the same number of tasks, by blocks of rows or by ranges of columns.
TEST(PartPlan, DealsOutEvenly) {
  const auto tasks = [](std::int64_t m) {
    const PartBlocking b = choose_part_blocking({m, 1024, 512}, 2, default_workspace_limit);
    return b.row_blocks * b.column_ranges;
  };
  for (const std::int64_t m : {32, 256, 512, 700, 1024, 4096}) EXPECT_EQ(tasks(m) % 2, 0) << m;
}

TEST(PartPlan, TextTellsBlocksAndNoModuli) {
  Plan plan{.type = "float", .scheme = "bf16x6", .engine = "amx_bf16"};
  plan.m_block = 352;
  EXPECT_NE(plan.text().find("352 x "), std::string::npos);
  EXPECT_EQ(plan.text().find("moduli"), std::string::npos);
  EXPECT_NE(plan.json().find("\"m_block\":352"), std::string::npos);
  EXPECT_EQ(plan.json().find("moduli"), std::string::npos);
}

// By name: schemes of GPUs have three bf16 parts as well.
TEST(PartPlan, TextTellsTheOrderOfSums) {
  const Plan parts{.type = "float", .scheme = "bf16x6", .engine = "amx_bf16"}, residues{.scheme = "residues"};
  const auto tells = [](const std::string& text) { return text.find("bf16x6_tiles") != std::string::npos; };
  EXPECT_TRUE(tells(parts.text())) << parts.text();
  EXPECT_TRUE(tells(parts.json())) << parts.json();
  EXPECT_FALSE(tells(residues.text())) << residues.text();
  EXPECT_FALSE(tells(residues.json())) << residues.json();
}

}  // namespace
}  // namespace vernier
