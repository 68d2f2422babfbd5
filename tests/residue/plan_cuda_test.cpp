// Decisions about products on a GPU, on a machine without one.
#include "residue/plan/plan_cuda.hpp"

#include <gtest/gtest.h>

#include "product/plan/measured_rates.hpp"
#include "residue/plan/bounds.hpp"
#include "residue/residues.hpp"

namespace vernier::plan_cuda_test {
namespace {

constexpr DeviceLimits limits;

// Public figures of an A100 (80 GB) and of an RTX 4090.
const GpuModel a100 = gpu_model({80, 108, 1.41e9, 2.04e12}), rtx4090 = gpu_model({89, 128, 2.52e9, 1.01e12});

TEST(DevicePlan, BlocksFitTheLimitOrAreTheSmallest) {
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

TEST(DevicePlan, KBeyondOneInt8ProductIsCut) {
  const DeviceBlocking b = choose_device_blocking({100, 100, 150001}, 15, limits, std::size_t{1} << 40);
  EXPECT_LE(device_pitch(b.k_block), limits.longest_k);
  EXPECT_EQ(divide_up(150001, b.k_block), 3);
}

TEST(DevicePlan, WorkspaceServesAnyData) {
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

// The plan for regular data, and what irregular ones find there: scales from |A||B|, planes made ahead.
TEST(DevicePlan, TheCallersFullWorkspaceIsAsGoodAsTheLibrarys) {
  for (const Contract& contract : {Contract::fp64(), Contract::exact(), Contract::bits(60)})
    for (const std::int64_t n : {512, 4096, 8192, 16384}) {
      const ProductShape shape{n, n, n};
      DeviceRequest request{.contract = contract,
                            .int8_engine = "sm90_int8",
                            .limits = limits,
                            .workspace_limit = std::size_t{1} << 40,
                            .may_use_sqrt_rule = true};
      const DeviceProductPlan librarys = plan_device_product<double>(shape, request);
      const std::size_t bytes = device_full_workspace_bytes<double>(shape, request);
      EXPECT_EQ(bytes > 0, librarys.residues) << n;
      request.workspace_limit = bytes, request.own_workspace = true;
      const DeviceProductPlan callers = plan_device_product<double>(shape, request);
      EXPECT_EQ(callers.residues, librarys.residues) << n;
      if (!librarys.residues) continue;
      EXPECT_EQ(callers.least_guess, librarys.least_guess) << n;
      EXPECT_EQ(callers.most_guess, librarys.most_guess) << n;
      EXPECT_EQ(callers.most_bound_moduli, librarys.most_bound_moduli) << n;
      EXPECT_EQ(callers.ordinary.bytes, librarys.ordinary.bytes) << n;
      EXPECT_GE(callers.pass_bytes, librarys.pass_bytes) << n;
    }
}

TEST(DevicePlan, AWorkspaceTooSmallForResiduesLeavesWhatMayBeNativeToCublas) {
  const auto plan = [](Contract contract, std::size_t limit) {
    return plan_device_product<double>(
        {4096, 4096, 4096},
        {.contract = contract, .int8_engine = "sm90_int8", .workspace_limit = limit, .may_use_sqrt_rule = true});
  };
  EXPECT_EQ(plan(Contract::fp64(), std::size_t{1} << 40).printable.scheme, "residues");
  const DeviceProductPlan small = plan(Contract::fp64(), std::size_t{1} << 20);
  EXPECT_EQ(small.printable.scheme, "native");
  EXPECT_FALSE(small.residues || small.by_sqrt_rule);
  Contract strict = Contract::fp64();
  strict.fallback = Fallback::none;
  EXPECT_THROW(plan(strict, std::size_t{1} << 20), Error);
  EXPECT_THROW(plan(Contract::bits(90), std::size_t{1} << 20), Error);
}

TEST(DevicePlan, UsesTheSqrtRuleOnlyOnRequestAndSaysWhatElseMayCome) {
  const auto plan = [](std::int64_t k, bool may_use_sqrt_rule, const Contract& contract) {
    return plan_device_product<double>({4096, 4096, k}, {.contract = contract,
                                                         .engine = "sm90_int8",
                                                         .workspace_limit = std::size_t{1} << 40,
                                                         .may_use_sqrt_rule = may_use_sqrt_rule});
  };
  const DeviceProductPlan by_sqrt_rule = plan(4096, true, Contract::fp64());
  EXPECT_TRUE(by_sqrt_rule.by_sqrt_rule);
  EXPECT_EQ(by_sqrt_rule.printable.moduli, 14);
  EXPECT_EQ(by_sqrt_rule.ordinary.moduli, 14);
  EXPECT_NE(by_sqrt_rule.printable.reason.find("|A||B| in low precision for data that 14 moduli"), std::string::npos);
  for (const auto& full : {plan(4096, false, Contract::fp64()), plan(512, true, Contract::fp64())}) {
    EXPECT_FALSE(full.by_sqrt_rule);
    EXPECT_EQ(full.printable.moduli, 15);
  }
  EXPECT_FALSE(plan(4096, true, Contract::normwise()).by_sqrt_rule);
}

TEST(DevicePlan, SmallProductsAreNativeAndLargeOnesAreNot) {
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

TEST(DevicePlan, OtherGpusTakeResiduesWhereTheirRatesSaySo) {
  const auto plan = [](const GpuModel& gpu, std::int64_t n, Contract contract = Contract::fp64()) {
    return plan_device_product<double>({n, n, n}, {.contract = contract,
                                                   .gpu = gpu,
                                                   .int8_engine = "mma_int8",
                                                   .limits = {.strassen = false},
                                                   .workspace_limit = std::size_t{1} << 40,
                                                   .may_use_sqrt_rule = true});
  };
  EXPECT_FALSE(plan(rtx4090, 64).residues) << "launches take longer";
  for (const std::int64_t n : {512, 1024, 4096, 16384}) EXPECT_TRUE(plan(rtx4090, n).residues) << n;
  EXPECT_FALSE(plan(a100, 1024).residues);
  EXPECT_TRUE(plan(a100, 16384).residues);
  EXPECT_FALSE(plan(rtx4090, 16384).ordinary.form.strassen);
  const double gain = device_native_seconds({8192, 8192, 8192}, false, rtx4090) /
                      device_residue_seconds({8192, 8192, 8192}, 14, false, rtx4090);
  EXPECT_GT(gain, 10);
  EXPECT_LT(gain, 40);
  EXPECT_TRUE(plan(rtx4090, 512, Contract::exact()).exact);
}

TEST(DevicePlan, SinglePrecisionStaysWithCublasWhereItsUnitsAreFast) {
  EXPECT_FALSE(plan_device_product<float>({8192, 8192, 8192}, {.contract = Contract::fp32(), .gpu = rtx4090}).residues);
}

// cuBLAS's kernels stand behind no gate.
TEST(DevicePlan, GpusOfCublasProductsGoNativeWhereNoHostMayWait) {
  const GpuModel b200 = gpu_model({100, 148, 1.97e9, 8e12});
  DeviceRequest request{.contract = Contract::bits(50), .gpu = rtx4090, .asynchronous = true};
  EXPECT_FALSE(device_takes_native<double>({4096, 4096, 4096}, request));
  request.gpu = b200;
  EXPECT_TRUE(device_takes_native<double>({16384, 16384, 16384}, request));
  request.contract = Contract::normwise();  // nothing is left to choose
  EXPECT_FALSE(device_takes_native<double>({16384, 16384, 16384}, request));
}

TEST(DevicePlan, OtherGpusTakeStrassenWinogradWhereProductsAreLong) {
  const auto strassen = [](std::int64_t n) {
    return plan_device_product<double>({n, n, n}, {.gpu = a100,
                                                   .int8_engine = "mma_int8",
                                                   .limits = {.gpu = a100},
                                                   .workspace_limit = std::size_t{1} << 40,
                                                   .may_use_sqrt_rule = true})
        .ordinary.form.strassen;
  };
  EXPECT_FALSE(strassen(2048));
  EXPECT_TRUE(strassen(32768));
}

TEST(DevicePlan, AGpuWithoutInt8EnginesIsNative) {
  const GpuModel turing = gpu_model({75, 68, 1.6e9, 6e11});
  EXPECT_FALSE(turing.residues);
  EXPECT_TRUE(device_takes_native<double>({16384, 16384, 16384}, {.contract = Contract::fp64(), .gpu = turing}));
  EXPECT_EQ(plan_device_product<double>({16384, 16384, 16384}, {.contract = Contract::fp64(), .gpu = turing})
                .printable.reason,
            "no engine of this GPU serves the call");
}

TEST(GpuModel, IsFiniteWhereTheDriverTellsNoRates) {
  const GpuModel integrated = gpu_model({121, 48, 0, 0});
  const double seconds = device_residue_seconds({4096, 4096, 4096}, 14, false, integrated);
  EXPECT_GT(seconds, 0);
  EXPECT_LT(seconds, device_native_seconds({4096, 4096, 4096}, false, integrated));
}

// Engine mma_int8 on an H100, whose own model is not asked: 0.077, 0.388, 2.42 and 17.2 ms measured.
TEST(GpuModel, DerivesWhatWasMeasuredToAQuarter) {
  const GpuModel derived = derived_gpu_model({90, 132, 1.98e9, 3.35e12});
  const auto ratio = [&](std::int64_t n, double measured) {
    return device_residue_seconds({n, n, n}, 14, false, derived) / measured;
  };
  for (const auto& [n, measured] : {std::pair{1024, 0.077e-3}, {2048, 0.388e-3}, {4096, 2.42e-3}, {8192, 17.2e-3}}) {
    EXPECT_GT(ratio(n, measured), 0.75) << n;
    EXPECT_LT(ratio(n, measured), 1.25) << n;
  }
}

TEST(GpuModel, TakesTheRatesThatWereMeasuredOnTheCard) {
  MeasuredRates rates{"a card", "cuBLAS", "2026-11-26", {}};
  EXPECT_FALSE(gpu_model({89, 128, 2.52e9, 1.01e12}, rates).measured);
  constexpr double n = 4096, operations = 2 * n * n * n;
  rates.times = {{"native", false, 1, 4096, 0, operations / 1.2e12},
                 {"native", true, 1, 4096, 0, operations / 7e13},
                 {int8_rate, false, 1, 4096, 4, 4 * operations / 5e14},
                 {half_rate, true, 1, 4096, 0, 3 * operations / 1.5e14},
                 {copy_rate, false, 1, 4096, 0, 16 * n * n / 9e11}};
  const GpuModel gpu = gpu_model({89, 128, 2.52e9, 1.01e12}, rates);
  EXPECT_TRUE(gpu.measured);
  EXPECT_DOUBLE_EQ(gpu.native_double, 1.2e12);
  EXPECT_DOUBLE_EQ(gpu.native_single, 7e13);
  EXPECT_DOUBLE_EQ(gpu.int8, 5e14);
  EXPECT_DOUBLE_EQ(gpu.half, 1.5e14);
  EXPECT_DOUBLE_EQ(gpu.conversion, 9e11);
  EXPECT_EQ(gpu_model({90, 132, 1.98e9, 4.8e12}, rates).int8, GpuModel{}.int8) << "Hopper's kernels have their own";
}

TEST(GpuModel, KnowsHopperByMeasurement) {
  EXPECT_TRUE(gpu_model({90, 132, 1.98e9, 4.8e12}).clusters);
  EXPECT_EQ(gpu_model({90, 132, 1.98e9, 4.8e12}).int8, GpuModel{}.int8);
  EXPECT_FALSE(a100.clusters || rtx4090.clusters);
}

// As measured on an H200: 15 moduli after a look in vain take 0.34 ms at n = 2048 and 0.44 at 2304, cuBLAS 0.29 and
// 0.41.
TEST(DevicePlan, DataThatTheSqrtRuleRefusedGoNativeWhereTheFullRuleLoses) {
  const auto residues = [](std::int64_t n, bool may_use_sqrt_rule, const char* engine = "") {
    return plan_device_product<double>({n, n, n}, {.contract = Contract::fp64(),
                                                   .engine = engine,
                                                   .workspace_limit = std::size_t{1} << 40,
                                                   .may_use_sqrt_rule = may_use_sqrt_rule})
        .residues;
  };
  for (const std::int64_t n : {2048, 2304}) {
    EXPECT_TRUE(residues(n, true)) << n;
    EXPECT_FALSE(residues(n, false)) << n;
    EXPECT_TRUE(residues(n, false, "sm90_int8")) << n;
  }
  for (const std::int64_t n : {3072, 4096}) EXPECT_TRUE(residues(n, false)) << n;
  EXPECT_FALSE(residues(1792, true));
  EXPECT_FALSE(full_rule_loses<double>({512, 512, 512}, Contract::fp64())) << "there is no square-root rule";
}

TEST(DevicePlan, IrregularProductsGoNativeWhereTheyMayAndLose) {
  const auto loses = [](std::int64_t n, Contract contract, const char* engine) {
    const DeviceProductPlan plan = plan_device_product<double>(
        {n, n, n}, {.contract = contract, .engine = engine, .workspace_limit = std::size_t{1} << 40});
    EXPECT_TRUE(plan.residues);
    return irregular_products_lose(plan);
  };
  Contract never_native = Contract::fp64();
  never_native.fallback = Fallback::none;
  EXPECT_TRUE(loses(4096, Contract::fp64(), ""));
  EXPECT_FALSE(loses(4096, never_native, ""));
  EXPECT_FALSE(loses(4096, Contract::fp64(), "sm90_int8"));
}

TEST(DevicePlan, LargeProductsTakeOneLevelOfStrassen) {
  const auto plan = [](std::int64_t n, int levels, std::size_t limit = std::size_t{1} << 40) {
    return plan_device_product<double>({n, n, n}, {.contract = Contract::fp64(),
                                                   .engine = "sm90_int8",
                                                   .int8_engine = "sm90_int8",
                                                   .workspace_limit = limit,
                                                   .strassen_levels = levels});
  };
  EXPECT_TRUE(plan(16384, -1).ordinary.form.strassen);
  EXPECT_NE(plan(16384, -1).printable.reason.find("Strassen"), std::string::npos);
  EXPECT_FALSE(plan(16384, 0).ordinary.form.strassen);
  EXPECT_FALSE(plan(2048, -1).ordinary.form.strassen);
  EXPECT_TRUE(plan(2048, 1).ordinary.form.strassen);
  EXPECT_GT(plan(2048, 1).printable.workspace, plan(2048, 0).printable.workspace);
  const std::size_t least = device_workspace_bytes<double>({2048, 2048, 2048}, Contract::fp64(), limits, 0, true);
  EXPECT_LE(plan(2048, 1, least).printable.workspace, least);
  // Elements of one word, or of more than two, are not made into sums of quarters.
  for (const Contract& contract : {Contract::fp32(), Contract::bits(110)})
    EXPECT_FALSE(plan_device_product<double>({2048, 2048, 2048}, {.contract = contract,
                                                                  .engine = "sm90_int8",
                                                                  .workspace_limit = std::size_t{1} << 40,
                                                                  .strassen_levels = 1})
                     .ordinary.form.strassen);
}

TEST(DevicePlan, ComplexProductsTakeModuliWithARootUnlessBitsArePromised) {
  const auto plan = [](const Contract& contract, std::int64_t k = 4096) {
    return plan_device_complex<double>({4096, 4096, k}, Op::none, Op::transpose, true, contract, limits);
  };
  ASSERT_TRUE(plan(Contract::fp64()));
  EXPECT_EQ(plan(Contract::fp64())->moduli, 15);
  EXPECT_EQ(plan(Contract::fp64(), 300)->moduli, 16) << "no square-root rule for short k";
  EXPECT_EQ(plan(Contract::normwise())->moduli, 15);
  Contract reproducible = Contract::fp64();
  reproducible.reproducible = true;
  EXPECT_FALSE(plan(reproducible)) << "its rule asks for 17, which three limbs do not hold";
  EXPECT_LT(plan(Contract::fp64())->seconds, device_residue_seconds({8192, 4096, 8192}, 15));
  EXPECT_FALSE(plan_device_complex<double>({10, 10, 100000}, Op::none, Op::none, false, Contract::fp64(), limits))
      << "k beyond one int8 product";
}

}  // namespace
}  // namespace vernier::plan_cuda_test
