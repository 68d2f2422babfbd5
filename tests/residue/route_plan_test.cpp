// What is queued for irregular products where the device decides what they need.
#include <gtest/gtest.h>

#include "residue/convert/winograd.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "residue/residues.hpp"

namespace vernier::route_plan_test {
namespace {

DeviceProductPlan asynchronous_plan(const Contract& contract, const std::string& engine, std::int64_t n) {
  return plan_device_product<double>({n, n, n}, {.contract = contract,
                                                 .engine = engine,
                                                 .int8_engine = "sm90_int8",
                                                 .workspace_limit = std::size_t{1} << 40,
                                                 .may_use_sqrt_rule = true,
                                                 .asynchronous = true});
}

std::vector<int> moduli_of_classes(const DeviceRoutePlan& route) {
  return {route.classes.moduli, route.classes.moduli + route.classes.count};
}

TEST(DeviceRoutePlan, GoesNativeWhereThatIsFasterAndAllowed) {
  const DeviceProductPlan plan = asynchronous_plan(Contract::fp64(), "", 4096);
  const DeviceRoutePlan route = plan_device_route(plan);
  EXPECT_TRUE(plan.by_sqrt_rule);
  EXPECT_TRUE(route.bound);
  EXPECT_EQ(moduli_of_classes(route), (std::vector<int>{15, 17, 19}));
  for (int c = 0; c < route.classes.count; ++c) EXPECT_TRUE(route.wide[c].blocking.whole(plan.shape));
  EXPECT_FALSE(route.spans);
  EXPECT_TRUE(route.native);
  const DeviceRoutePlan small = plan_device_route(asynchronous_plan(Contract::fp64(), "", 2048));
  EXPECT_TRUE(small.bound);
  EXPECT_EQ(small.classes.count, 0);
  EXPECT_TRUE(small.native);
  const DeviceRoutePlan large = plan_device_route(asynchronous_plan(Contract::fp64(), "", 8192));
  ASSERT_GE(large.classes.count, 4);
  for (int c = 0; c < 4; ++c) {
    EXPECT_EQ(large.classes.moduli[c], 15 + c) << "closed kernels take less than a modulus";
    EXPECT_FALSE(large.wide[c].blocking.form.strassen);
  }
  EXPECT_EQ(large.usual, -1);
  EXPECT_EQ(plan_device_route(asynchronous_plan(Contract::fp64(), "", 8192), {.moduli = 17}).usual, 2);
  EXPECT_EQ(plan_device_route(asynchronous_plan(Contract::fp64(), "", 8192), {.moduli = 14}).usual, 0);
  const DeviceRoutePlan few = plan_device_route(asynchronous_plan(Contract::fp64(), "", 8192), {.moduli = 14});
  EXPECT_EQ(few.classes.count, large.classes.count + 1);
  EXPECT_EQ(few.classes.moduli[0], 14) << "what the last product took";
  EXPECT_EQ(few.wide[0].blocking.moduli, 14);
  EXPECT_EQ(few.classes.moduli[1], large.classes.moduli[0]);
  const DeviceProductPlan largest = asynchronous_plan(Contract::fp64(), "", 16384);
  const DeviceRoutePlan halves = plan_device_route(largest);
  for (int c = 0; c < halves.classes.count; ++c) {
    EXPECT_EQ(halves.wide[c].blocking.form.strassen, halves.classes.moduli[c] <= most_winograd_moduli);
    EXPECT_LE(halves.wide[c].blocking.bytes, largest.pass_bytes);
    EXPECT_FALSE(plan_device_route(largest, {.share = 0.5}).wide[c].blocking.form.strassen);
  }
}

TEST(DeviceRoutePlan, HasAllModuliAndNothingNativeWhereBitsArePromised) {
  Contract contract = Contract::fp64();
  contract.reproducible = true;
  const DeviceProductPlan plan = asynchronous_plan(contract, "", 1024);
  const DeviceRoutePlan route = plan_device_route(plan);
  EXPECT_FALSE(plan.by_sqrt_rule);
  EXPECT_FALSE(route.bound);
  EXPECT_EQ(moduli_of_classes(route), (std::vector<int>{19, 26, max_moduli}));
  for (int c = 0; c < route.classes.count; ++c) {
    EXPECT_TRUE(route.wide[c].blocking.whole(plan.shape)) << "a workspace of its own holds the largest pass";
    EXPECT_EQ(moduli_for(route.classes.log2_bound[c]), route.classes.moduli[c]);
    EXPECT_NE(moduli_for(route.classes.log2_bound[c] + 1e-6), route.classes.moduli[c]);
  }
  EXPECT_TRUE(route.spans);
  EXPECT_FALSE(route.native);
}

// Nothing is decided later about such products.
// Balanced operands take no class of many words, whose conversions read elements as they are.
TEST(DeviceRoutePlan, BelowManyWordsItsClassesAreThoseOfFewerModuli) {
  Contract contract = Contract::fp64();
  contract.reproducible = true;
  DeviceRoutePlan route = plan_device_route(asynchronous_plan(contract, "", 1024));
  EXPECT_EQ(route.classes.below(max_moduli + 1).count, 3);
  route.classes = route.classes.below(cuda::least_moduli_of_many_words);
  EXPECT_EQ(moduli_of_classes(route), std::vector<int>{19});
  EXPECT_EQ(route.classes.below(19).count, 0);
}

TEST(DeviceRoutePlan, TakesNoMemoryUnderFp64Normwise) {
  const auto bytes = [](bool asynchronous) {
    return plan_device_product<double>({1024, 1024, 1024}, {.contract = Contract::normwise(),
                                                            .engine = "sm90_int8",
                                                            .int8_engine = "sm90_int8",
                                                            .workspace_limit = std::size_t{1} << 40,
                                                            .asynchronous = asynchronous})
        .pass_bytes;
  };
  EXPECT_EQ(bytes(true), bytes(false));
}

TEST(DeviceRoutePlan, ANamedEngineTakesWhatItCanAndTheRestIsNative) {
  const DeviceRoutePlan route = plan_device_route(asynchronous_plan(Contract::fp64(), "sm90_int8", 1024));
  EXPECT_EQ(moduli_of_classes(route), (std::vector<int>{15, 17, 19, 26}));
  EXPECT_TRUE(route.native);
  Contract alone = Contract::fp64();
  alone.fallback = Fallback::none;
  EXPECT_EQ(moduli_of_classes(plan_device_route(asynchronous_plan(alone, "sm90_int8", 1024))),
            (std::vector<int>{15, 17, 19, 26, max_moduli}));
  EXPECT_FALSE(native_keeps<double>(Contract::bits(70)));
  EXPECT_FALSE(native_keeps<float>(Contract::fp64())) << "fp32 arithmetic does not keep fp64";
}

}  // namespace
}  // namespace vernier::route_plan_test
