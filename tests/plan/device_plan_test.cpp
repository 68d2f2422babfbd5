// Decisions about products on a GPU, on a machine without one.
#include "plan/device_plan.hpp"

#include <gtest/gtest.h>

#include "engine/sm90_tiles.hpp"
#include "plan/bounds.hpp"
#include "scheme/residues.hpp"

namespace vernier {
namespace {

constexpr DeviceLimits limits;

TEST(DevicePlan, blocks_fit_the_limit_or_are_the_smallest) {
  const ProductShape shape{10000, 30000, 20000};
  const std::size_t whole = choose_device_blocking(shape, 15, limits, std::size_t{1} << 50).bytes;
  EXPECT_TRUE(choose_device_blocking(shape, 15, limits, whole).whole(shape));
  const std::size_t least = choose_device_blocking(shape, 15, limits, 0).bytes;
  for (std::size_t limit = whole; limit > least; limit /= 2) {
    const DeviceBlocking b = choose_device_blocking(shape, 15, limits, limit);
    EXPECT_LE(b.bytes, limit);
    EXPECT_GE(b.m_block, 1);
    EXPECT_LE(b.m_block, shape.m);
    EXPECT_LE(b.k_block, limits.longest_k);
  }
}

TEST(DevicePlan, k_beyond_one_int8_product_is_cut) {
  const DeviceBlocking b = choose_device_blocking({100, 100, 150001}, 15, limits, std::size_t{1} << 40);
  EXPECT_LE(device_pitch(b.k_block), limits.longest_k);
  EXPECT_EQ(divide_up(150001, b.k_block), 3);
}

TEST(DevicePlan, workspace_serves_any_data) {
  for (const ProductShape shape :
       {ProductShape{1, 1, 1}, ProductShape{300, 500, 700}, ProductShape{9000, 20, 100000}}) {
    const std::size_t least = device_workspace_bytes<double>(shape, Contract::fp64(), limits, 0, true);
    const DeviceProductPlan plan = plan_device_product<double>(
        shape,
        {.contract = Contract::fp64(), .engine = "sm90_int8", .int8_engine = "sm90_int8", .workspace_limit = least});
    EXPECT_TRUE(plan.residues);
    EXPECT_LE(choose_device_blocking(shape, max_moduli, limits, plan.pass_bytes).bytes, plan.pass_bytes);
    EXPECT_THROW(plan_device_product<double>(
                     shape, {.contract = Contract::fp64(), .engine = "sm90_int8", .workspace_limit = least - 1}),
                 Error);
  }
}

TEST(DevicePlan, is_lean_only_on_request_and_says_what_else_may_come) {
  const auto plan = [](std::int64_t k, bool may_be_lean, const Contract& contract) {
    return plan_device_product<double>({4096, 4096, k}, {.contract = contract,
                                                         .engine = "sm90_int8",
                                                         .workspace_limit = std::size_t{1} << 40,
                                                         .may_be_lean = may_be_lean});
  };
  const DeviceProductPlan lean = plan(4096, true, Contract::fp64());
  EXPECT_TRUE(lean.lean);
  EXPECT_EQ(lean.printable.moduli, 14);
  EXPECT_EQ(lean.ordinary.moduli, 14);
  EXPECT_NE(lean.printable.reason.find("15 moduli for data that 14 do not serve"), std::string::npos);
  for (const auto& full : {plan(4096, false, Contract::fp64()), plan(512, true, Contract::fp64())}) {
    EXPECT_FALSE(full.lean);
    EXPECT_EQ(full.printable.moduli, 15);
  }
  EXPECT_FALSE(plan(4096, true, Contract::normwise()).lean);
}

TEST(DevicePlan, small_products_are_native_and_large_ones_are_not) {
  const auto residues = [](std::int64_t n, const Contract& contract) {
    return plan_device_product<double>({n, n, n}, {.contract = contract, .workspace_limit = std::size_t{1} << 40})
        .residues;
  };
  Contract reproducible = Contract::fp64();
  reproducible.reproducible = true;
  EXPECT_FALSE(residues(512, Contract::fp64()));
  EXPECT_TRUE(residues(512, reproducible));
  EXPECT_TRUE(residues(8192, Contract::fp64()));
  EXPECT_THROW(plan_device_product<double>({10, 10, 10}, {.contract = reproducible, .engine = "native"}), Error);
}

// The choices that measurements on an H200 bear out.
TEST(Sm90Tiles, follow_the_shape) {
  constexpr int clusters = 66;
  EXPECT_EQ(cuda::choose_sm90_tile(1024, 1024, 1024, 15, clusters), cuda::alternating_128x128);
  EXPECT_EQ(cuda::choose_sm90_tile(8192, 8192, 8192, 15, clusters), cuda::cooperative_256x192);
  EXPECT_EQ(cuda::choose_sm90_tile(16384, 16384, 16384, 15, clusters), cuda::cooperative_256x192);
  EXPECT_NE(cuda::choose_sm90_tile(16384, 16384, 1024, 15, clusters), cuda::cooperative_256x192);
}

}  // namespace
}  // namespace vernier
