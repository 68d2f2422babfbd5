// The bound of products of bf16 parts, theorem 10 of docs/accuracy.md.
#include "bf16x6/engine.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace vernier::bounds_test {
namespace {

const model::Engine& amx() { return model::find_engine("amx-bf16").engine; }

TEST(Bf16x6Bounds, ByHand) {
  // One product: what the parts leave out, and five corrections.
  EXPECT_NEAR(bf16x6_error_bound(amx(), 1), 1.01 + 1.02 * 5 / 128, 1e-12);
  // A step: 15 roundings in each chain and one between the two.
  EXPECT_NEAR(bf16x6_error_bound(amx(), 32), 1.01 + 1.02 * 16 + 1.02 * (16 + 5) / 128, 1e-12);
  // Three groups of four chunks of four steps: 4 additions to the accumulator, 3 of chunks, 2 of groups.
  EXPECT_NEAR(bf16x6_error_bound(amx(), 1536), 1.01 + 1.02 * (16 + 4 + 3 + 2 - 1) + 1.02 * (16 + 20) / 128, 1e-12);
}

TEST(Bf16x6Bounds, TheContractHoldsForEveryK) {
  for (std::int64_t k = 1; k < 5000; ++k) ASSERT_TRUE(bf16x6_keeps_fp32(amx(), k)) << k;
  EXPECT_TRUE(bf16x6_keeps_fp32(amx(), std::int64_t{1} << 30));
}

TEST(Bf16x6Bounds, OtherEnginesAreNotProven) {
  for (const char* name : {"avx512-bf16", "hopper-wgmma-bf16-fp32", "amx-fp16"})
    EXPECT_TRUE(std::isinf(bf16x6_error_bound(model::find_engine(name).engine, 100))) << name;
}

}  // namespace
}  // namespace vernier::bounds_test
