#include "blas/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "bf16x6/blocking.hpp"
#include "engine/int8_engine.hpp"
#include "product/native/native.hpp"
#include "residue/plan/cost.hpp"

namespace vernier::test::plan_test {
namespace {

constexpr ProductShape shapes[] = {{1, 1, 1}, {32, 1000, 5}, {4096, 4096, 4096}, {100, 1, 100000}};

TEST(Cost, GrowsWithEverySizeAndWithTheModuli) {
  for (const Int8Engine* engine : int8_engines())
    for (const ProductShape& s : shapes) {
      const double seconds = residue_seconds(engine->name(), s, 15, 2);
      EXPECT_GT(seconds, 0);
      for (const ProductShape& larger : {ProductShape{2 * s.m, s.n, s.k}, {s.m, s.n + 1, s.k}, {s.m, s.n, s.k + 1}})
        EXPECT_GT(residue_seconds(engine->name(), larger, 15, 2), seconds) << engine->name();
      EXPECT_GT(residue_seconds(engine->name(), s, 16, 2), seconds);
      EXPECT_LT(residue_seconds(engine->name(), s, 15, 3), seconds);
    }
}

TEST(Cost, OfTheNativeProductGrowsWithEverySize) {
  for (const bool single : {false, true})
    for (const ProductShape& s : shapes) {
      const double seconds = native_seconds(s, single, 2);
      for (const ProductShape& larger : {ProductShape{2 * s.m, s.n, s.k}, {s.m, s.n + 1, s.k}, {s.m, s.n, s.k + 1}})
        EXPECT_GT(native_seconds(larger, single, 2), seconds);
      EXPECT_LT(native_seconds(s, single, 3), seconds);
    }
  EXPECT_LT(native_seconds(shapes[2], true, 1), native_seconds(shapes[2], false, 1));
}

TEST(Cost, PreferredEnginesAreFaster) {
  double before = 0;
  for (const Int8Engine* engine : int8_engines()) {
    const double seconds = residue_seconds(engine->name(), {4096, 4096, 4096}, 15, 1);
    EXPECT_GT(seconds, before) << engine->name();
    before = seconds;
  }
}

// Every engine that is built has rates of its own: none is taken for the portable one.
TEST(Cost, KnowsEveryEngine) {
  const double unknown = residue_seconds("no such engine", {4096, 4096, 4096}, 15, 1);
  for (const Int8Engine* engine : int8_engines()) {
    if (engine->name() == "portable") continue;
    EXPECT_LT(residue_seconds(engine->name(), {4096, 4096, 4096}, 15, 1), unknown) << engine->name();
  }
}

TEST(Cost, SmallProductsEndBeforeResiduesOrPartsBegin) {
  const ProductShape largest[] = {{64, 64, 64}, {1, 1, 1 << 18}, {1 << 18, 1, 1}, {2, 1 << 9, 1 << 8}};
  for (const ProductShape& s : largest) {
    EXPECT_TRUE(is_small_product(s));
    EXPECT_LE(native_seconds(s, false, 1), least_residue_seconds);
    EXPECT_LE(native_seconds(s, true, 1), least_residue_seconds);
  }
  const std::int64_t huge = std::int64_t{1} << 40;
  const ProductShape larger[] = {{64, 64, 65}, {1, 1, (1 << 18) + 1}, {huge, huge, huge}, {huge, 1, 1}};
  for (const ProductShape& s : larger) EXPECT_FALSE(is_small_product(s));
}

// Threads of a brief product would wait for each other most of the time.
TEST(Cost, BriefProductsAreOneThreads) {
  const ProductShape brief[] = {{64, 64, 64}, {128, 128, 128}, {192, 192, 3}, {1, 1000, 60}};
  const ProductShape longer[] = {{160, 160, 160}, {700, 700, 3}, {1000, 1000, 1}, {1, 1000, 1000}, {20, 20, 100000}};
  const Options options{.contract = Contract::parse("fp64+reproducible"), .threads = 2};
  for (const ProductShape& s : brief) EXPECT_EQ(explain<double>(Op::none, Op::none, s.m, s.n, s.k, options).threads, 1);
  for (const ProductShape& s : longer)
    EXPECT_EQ(explain<double>(Op::none, Op::none, s.m, s.n, s.k, options).threads, 2);
}

template <class T>
void expect_plan_of_small_products(const Contract& contract) {
  for (const ProductShape& s : {ProductShape{1, 1, 1}, {64, 64, 64}, {3, 500, 7}, {1, 2, 100000}, {80, 80, 80}})
    for (const int threads : {0, 1, 2}) {
      const Options options{.contract = contract, .threads = threads};
      Plan small;
      ASSERT_TRUE(plan_small_product<T>(s, options, small)) << contract.text();
      EXPECT_EQ(std::exchange(small.engine, ""), native_name());
      EXPECT_EQ(small.json(), plan_product<T>(s, options).printable.json());
    }
}

TEST(Cost, PlansOfSmallProductsAreTheUsualOnes) {
  unsetenv("VERNIER_ENGINE");
  for (const Contract& contract : {Contract::fp64(), Contract::normwise(), Contract::fp32(), Contract::bits(20)})
    expect_plan_of_small_products<double>(contract);
  for (const Contract& contract : {Contract::fp32(), Contract::bits(20)})
    expect_plan_of_small_products<float>(contract);
}

TEST(Cost, SmallProductsOfWhichMoreIsAskedArePlannedInFull) {
  Contract reproducible = Contract::fp64();
  reproducible.reproducible = true;
  Plan plan;
  for (const Options& options : {Options{.contract = reproducible}, Options{.contract = Contract::exact()},
                                 Options{.contract = Contract::bits(60)}, Options{.engine = "portable"}})
    EXPECT_FALSE(plan_small_product<double>({8, 8, 8}, options, plan));
  EXPECT_FALSE(plan_small_product<float>({8, 8, 8}, {.contract = Contract::fp64()}, plan));
  EXPECT_FALSE(plan_small_product<double>({2000, 2000, 2000}, {}, plan));
  EXPECT_EQ(plan.type, "");
}

// Briefer ones take 1.1 to 4 times the native time, and planning them a tenth of it.
TEST(Bf16x6Plan, PartsCompeteFromWhereResiduesBegin) {
  for (const std::int64_t n : {100, 200, 300, 400, 800}) {
    const ProductPlan plan = plan_product<float>({n, n, n}, {.contract = Contract::fp32(), .threads = 8});
    const bool any = native_seconds({n, n, n}, true, plan.printable.threads) > least_residue_seconds;
    EXPECT_EQ(plan.by_estimate, any) << n;
    EXPECT_EQ(plan.rivals.count, any ? (usable_bf16x6_engine() != nullptr ? 3U : 2U) : 0U) << n;
    Plan small;
    EXPECT_EQ(plan_small_product<float>({n, n, n}, {.contract = Contract::fp32(), .threads = 8}, small), !any) << n;
  }
}

// Each range of columns splits its rows anew, and seven tasks are no work for sixteen threads.
TEST(Bf16x6Plan, EstimatesKnowThatThinProductsDoNotScale) {
  const ProductShape thin{339, 202, 1261}, large{8192, 8192, 512};
  EXPECT_GT(bf16x6_seconds(thin, 16), bf16x6_seconds(thin, 1) / 4);
  EXPECT_LT(bf16x6_seconds(large, 16), bf16x6_seconds(large, 1) / 12);
}

TEST(Bf16x6Plan, TextTellsBlocksAndNoModuli) {
  Plan plan{.type = "float", .scheme = "bf16x6", .engine = "amx_bf16"};
  plan.m_block = 352;
  EXPECT_NE(plan.text().find("352 x "), std::string::npos);
  EXPECT_EQ(plan.text().find("moduli"), std::string::npos);
  EXPECT_NE(plan.json().find("\"m_block\":352"), std::string::npos);
  EXPECT_EQ(plan.json().find("moduli"), std::string::npos);
}

// By name: schemes of GPUs have three bf16 parts as well.
TEST(Bf16x6Plan, TextTellsTheOrderOfSums) {
  const Plan parts{.type = "float", .scheme = "bf16x6", .engine = "amx_bf16"}, residues{.scheme = "residues"};
  const auto tells = [](const std::string& text) { return text.find("bf16x6_tiles") != std::string::npos; };
  EXPECT_TRUE(tells(parts.text())) << parts.text();
  EXPECT_TRUE(tells(parts.json())) << parts.json();
  EXPECT_FALSE(tells(residues.text())) << residues.text();
  EXPECT_FALSE(tells(residues.json())) << residues.json();
}

}  // namespace
}  // namespace vernier::test::plan_test
