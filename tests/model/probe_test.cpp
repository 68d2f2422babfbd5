// Probes: they recover the table's descriptions, notice every wrong engine, and bear out the published conclusions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "cases.hpp"
#include "vernier/vernier.hpp"

namespace vernier::model::test::probe_test {
namespace {

bool observed(const ProbeReport& report, const char* topic) {
  const std::string& value = report.value(topic);
  return !value.empty() && value != "not observable" && value.find("at most") == std::string::npos;
}

TEST(Probe, RecoversEveryBlockEngineOfTheTable) {
  for (const NamedEngine& named : engines()) {
    if (named.engine.sum != Sum::block) continue;
    const ProbeReport r = probe(ModelEngine(named.engine));
    const Engine &e = r.estimate, &want = named.engine;
    SCOPED_TRACE(named.name);
    EXPECT_EQ(e.sum, want.sum);
    EXPECT_EQ(e.join, want.join);
    EXPECT_EQ(e.interleave, want.interleave);
    EXPECT_EQ(e.fraction_bits, want.fraction_bits);
    EXPECT_EQ(e.alignment, want.alignment);
    EXPECT_EQ(e.rounding, want.rounding);
    EXPECT_EQ(e.output_fraction_bits, want.output_fraction_bits);
    EXPECT_EQ(e.normalise_products, want.normalise_products);
    EXPECT_EQ(e.carry_bits, want.carry_bits);
    EXPECT_EQ(e.flush_inputs, want.flush_inputs);
    EXPECT_EQ(e.flush_c, want.flush_c);
    EXPECT_EQ(e.nan, want.nan);
    EXPECT_EQ(e.block, want.block);
    EXPECT_EQ(observed(r, "exponent of zeros") ? e.zero_exponent : want.zero_exponent, want.zero_exponent);
  }
}

TEST(Probe, RecoversChainsAndIntegers) {
  for (const NamedEngine& named : engines()) {
    const Engine& want = named.engine;
    if (want.sum == Sum::block) continue;
    const ProbeReport r = probe(ModelEngine(want));
    const Engine& e = r.estimate;
    SCOPED_TRACE(named.name);
    EXPECT_EQ(e.sum, want.sum);
    EXPECT_EQ(e.overflow, want.overflow);
    if (want.sum == Sum::integer) continue;
    EXPECT_EQ(e.nan, want.nan);
    EXPECT_EQ(e.nan_rule, want.nan_rule);
    EXPECT_EQ(e.join, want.join);
    EXPECT_EQ(e.lanes, want.lanes);
    EXPECT_EQ(e.reverse_pairs, want.reverse_pairs);
    EXPECT_EQ(e.sum_bits, want.sum_bits);
    EXPECT_EQ(e.rounding, want.rounding);
    EXPECT_EQ(e.join_rounding, want.join_rounding);
    EXPECT_EQ(e.flush_inputs, want.flush_inputs);
    EXPECT_EQ(e.flush_c, want.flush_c);
  }
}

TEST(Probe, SeesTheZerosExponentWhereTheFormatsShowIt) {
  for (const char* name : {"volta-fp16-fp16", "turing-fp16-fp16", "hopper-mma-fp16-fp16", "ampere-bf16-fp32",
                           "ampere-tf32-fp32", "hopper-mma-bf16-fp32", "hopper-wgmma-tf32-fp32"})
    EXPECT_TRUE(observed(probe(ModelEngine(find_engine(name).engine)), "exponent of zeros")) << name;
}

TEST(Probe, DrawsTheTree) {
  EXPECT_EQ(probe(ModelEngine(find_engine("volta-fp16-fp32").engine)).tree, "(c 0 1 2 3)");
  EXPECT_EQ(probe(ModelEngine(find_engine("ampere-tf32-fp32").engine)).tree, "((c 0 1 2 3) 4 5 6 7)");
  EXPECT_EQ(probe(ModelEngine(find_engine("ampere-fp64").engine)).tree, "((((c 0) 1) 2) 3)");
  EXPECT_EQ(probe(ModelEngine(find_engine("avx512-bf16").engine)).tree, "((c 1) 0)");
  EXPECT_EQ(probe(ModelEngine(find_engine("hopper-mma-e5m2-fp32").engine)).tree,
            "(c ((0 1 4 5 8 9 12 13 16 17 20 21 24 25 28 29) 2 3 6 7 10 11 14 15 18 19 22 23 26 27 30 31))");
}

// ---- negative controls ---------------------------------------------------------------------------------------------

using Change = std::function<void(Engine&)>;
struct Wrong {
  const char* name;
  const char* engine;
  Change change;
};

// Everything that a report says, without the inputs.
std::map<std::string, std::string> conclusions(const MatrixEngine& engine) {
  std::map<std::string, std::string> all;
  for (const Finding& f : probe(engine).findings) all[f.topic] = f.value;
  return all;
}

TEST(Probe, NoticesEveryWrongParameter) {
  const Wrong wrong[] = {
      {"one alignment bit more", "hopper-mma-fp16-fp32", [](Engine& e) { ++e.fraction_bits; }},
      {"one alignment bit less", "hopper-mma-fp16-fp32", [](Engine& e) { --e.fraction_bits; }},
      {"one alignment bit less, Volta", "volta-fp16-fp32", [](Engine& e) { --e.fraction_bits; }},
      {"alignment rounds to nearest", "hopper-mma-fp16-fp32", [](Engine& e) { e.alignment = Rounding::nearest_even; }},
      {"alignment rounds ties away", "hopper-mma-bf16-fp32", [](Engine& e) { e.alignment = Rounding::nearest_away; }},
      {"alignment rounds down", "turing-fp16-fp32", [](Engine& e) { e.alignment = Rounding::down; }},
      {"products normalised", "hopper-mma-fp16-fp32", [](Engine& e) { e.normalise_products = true; }},
      {"products normalised, fp8", "hopper-wgmma-e5m2-fp32", [](Engine& e) { e.normalise_products = true; }},
      {"normalised after each addition", "hopper-mma-fp16-fp32", [](Engine& e) { e.sum = Sum::chain; }},
      {"half the block", "hopper-mma-fp16-fp32", [](Engine& e) { e.block = 8; }},
      {"block of one", "hopper-mma-fp16-fp32", [](Engine& e) { e.block = 1; }},
      {"interleaved", "ampere-fp16-fp32", [](Engine& e) { e.interleave = 2; }},
      {"c added last", "hopper-mma-fp16-fp32", [](Engine& e) { e.join = Join::last; }},
      {"output to nearest", "hopper-mma-fp16-fp32", [](Engine& e) { e.rounding = Rounding::nearest_even; }},
      {"output down", "volta-fp16-fp32", [](Engine& e) { e.rounding = Rounding::down; }},
      {"16-bit output toward zero", "turing-fp16-fp16", [](Engine& e) { e.rounding = Rounding::toward_zero; }},
      {"16-bit output rounded twice", "hopper-mma-fp16-fp16", [](Engine& e) { e.early_fraction_bits = 23; }},
      {"output keeps all bits", "hopper-wgmma-e4m3-fp32", [](Engine& e) { e.output_fraction_bits = 23; }},
      {"two carry bits", "hopper-mma-fp16-fp32", [](Engine& e) { e.carry_bits = 2; }},
      {"four carry bits", "hopper-mma-fp16-fp32", [](Engine& e) { e.carry_bits = 4; }},
      {"zeros count one lower", "hopper-mma-bf16-fp32", [](Engine& e) { --e.zero_exponent; }},
      {"zeros count one higher", "hopper-mma-fp16-fp16", [](Engine& e) { ++e.zero_exponent; }},
      {"zero times large counts", "hopper-mma-tf32-fp32", [](Engine& e) { e.zero_keeps_exponent = true; }},
      {"subnormal inputs flushed", "hopper-mma-fp16-fp32", [](Engine& e) { e.flush_inputs = true; }},
      {"subnormal c flushed", "hopper-mma-bf16-fp32", [](Engine& e) { e.flush_c = true; }},
      {"subnormal results flushed", "hopper-mma-bf16-fp32", [](Engine& e) { e.flush_output = true; }},
      {"minus zero kept", "hopper-mma-fp16-fp32", [](Engine& e) { e.zero_sign = ZeroSign::ieee; }},
      {"another NaN first", "hopper-fp64", [](Engine& e) { e.nan_rule = NanRule::abs; }},
      {"one NaN for all", "hopper-fp64", [](Engine& e) { e.nan_rule = NanRule::canonical; }},
      {"another NaN", "hopper-mma-fp16-fp32", [](Engine& e) { e.nan = 0x7fc00000; }},
      {"overflow stays finite", "hopper-mma-bf16-fp32", [](Engine& e) { e.overflow = Overflow::largest; }},
      {"last addition toward zero", "hopper-mma-e5m2-fp32", [](Engine& e) { e.join_rounding = Rounding::toward_zero; }},
      {"chain toward zero", "hopper-fp64", [](Engine& e) { e.rounding = Rounding::toward_zero; }},
      {"chain with a bit less", "ampere-fp64", [](Engine& e) { e.sum_bits = 52, e.nan_rule = NanRule::canonical; }},
      {"products rounded", "hopper-fp64", [](Engine& e) { e.product_bits = 53; }},
      {"pairs in order", "avx512-bf16", [](Engine& e) { e.reverse_pairs = false; }},
      {"one chain", "amx-bf16", [](Engine& e) { e.lanes = 1; }},
      {"fp16 inputs flushed", "amx-fp16", [](Engine& e) { e.flush_inputs = true; }},
      {"saturating", "nvidia-int8", [](Engine& e) { e.overflow = Overflow::saturate_end; }},
      {"saturating by blocks", "nvidia-int8-satfinite",
       [](Engine& e) { e.overflow = Overflow::saturate_blocks, e.block = 16; }},
      {"C added toward zero", "mma-rn", [](Engine& e) { e.join_rounding = Rounding::toward_zero; }},
      {"sum in fewer bits", "block-fma-tc32", [](Engine& e) { e.sum_bits = 23; }},
  };
  for (const Wrong& w : wrong) {
    Engine e = find_engine(w.engine).engine;
    const auto right = conclusions(ModelEngine(e));
    w.change(e);
    EXPECT_NE(conclusions(ModelEngine(e)), right) << w.name << " on " << w.engine;
    EXPECT_EQ(differences(e, probe(ModelEngine(e)).estimate, 5, 100), 0) << w.name << " on " << w.engine;
  }
}

// Wrong in a way that no description has: one slot differs from the others.
class OddSlot : public ModelEngine {
 public:
  explicit OddSlot(const Engine& e) : ModelEngine(e) {}
  std::uint64_t dot(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t c) const override {
    std::vector<std::uint64_t> cut(b, b + k());
    const double product = decode(this->a(), a[5]) * decode(this->b(), b[5]);
    if (std::fabs(product) < 0x1p6) cut[5] = 0;
    return ModelEngine::dot(a, cut.data(), c);
  }
};

TEST(Probe, NoticesASlotThatDiffers) {
  const Engine& e = find_engine("hopper-mma-fp16-fp32").engine;
  EXPECT_EQ(conclusions(ModelEngine(e))["slots"], "alike");
  const auto found = conclusions(OddSlot(e));
  EXPECT_TRUE(found.at("accumulation tree") == "not observable" || found.at("slots") == "differ");
}

TEST(Probe, ReportsAreWholeJson) {
  const ProbeReport r = probe(ModelEngine(find_engine("volta-fp16-fp32").engine));
  EXPECT_NE(r.json().find("\"fraction_bits\": 23"), std::string::npos);
  EXPECT_NE(r.text().find("toward zero"), std::string::npos);
}

// ---- the published suite -------------------------------------------------------------------------------------------

std::map<std::string, std::string> suite(const char* name) {
  std::map<std::string, std::string> all;
  for (const Finding& f : published_suite(ModelEngine(find_engine(name).engine))) all[f.topic] = f.value;
  return all;
}

class TensorCoresOfThePaper : public testing::TestWithParam<const char*> {};

TEST_P(TensorCoresOfThePaper, BearOutItsConclusions) {
  const std::map<std::string, std::string> want = {{"subnormal inputs", "supported"},
                                                   {"subnormal c", "supported"},
                                                   {"subnormal results", "supported"},
                                                   {"products", "exact"},
                                                   {"additions start with the largest", "yes"},
                                                   {"rounding of the additions", "toward zero"},
                                                   {"guard digits", "none"},
                                                   {"normalisation in addition", "only at the end"},
                                                   {"normalisation in subtraction", "only at the end"},
                                                   {"two carry bits", "yes"},
                                                   {"third carry bit", "no overflow"},
                                                   {"rounding of the final normalisation", "toward zero"},
                                                   {"monotonic", "no"}};
  EXPECT_EQ(suite(GetParam()), want);
}
INSTANTIATE_TEST_SUITE_P(, TensorCoresOfThePaper,
                         testing::Values("volta-fp16-fp32", "turing-fp16-fp32", "ampere-fp16-fp32", "ampere-bf16-fp32",
                                         "ampere-tf32-fp32", "hopper-mma-fp16-fp32", "hopper-mma-bf16-fp32",
                                         "hopper-mma-tf32-fp32", "hopper-wgmma-fp16-fp32", "hopper-wgmma-bf16-fp32",
                                         "hopper-wgmma-tf32-fp32"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PublishedSuite, HalfPrecisionResultsAreRoundedToNearestOutsideTheAdder) {
  for (const char* name : {"volta-fp16-fp16", "turing-fp16-fp16", "ampere-fp16-fp16"}) {
    const auto found = suite(name);
    EXPECT_EQ(found.at("products under 16-bit results"), "exact") << name;
    EXPECT_EQ(found.at("rounding to 16 bits"), "nearest") << name;
    EXPECT_EQ(found.at("subnormal results"), "supported") << name;
  }
}

TEST(PublishedSuite, DoublePrecisionIsIeee) {
  const auto found = suite("ampere-fp64");
  EXPECT_EQ(found.at("rounding of the additions"), "nearest");
  EXPECT_EQ(found.at("normalisation in addition"), "after each addition");
  EXPECT_EQ(found.at("normalisation in subtraction"), "after each addition");
  EXPECT_EQ(found.at("additions start with the largest"), "no");
  EXPECT_EQ(found.at("two carry bits"), "not needed");
  EXPECT_EQ(found.at("monotonic"), "no violation found");
}

// e4m3 has no factors for a sum of 1 and the bits that Hopper's mma.sync cuts beside it.
TEST(PublishedSuite, ConcludesNothingFromAnExperimentThatAFormatCannotHold) {
  EXPECT_EQ(suite("hopper-mma-e4m3-fp32").at("normalisation in addition"), "cannot be posed");
}

// The one difference between V100 and T4: an alignment bit.
TEST(PublishedSuite, TuringHasOneBitMoreThanVolta) {
  EXPECT_EQ(probe(ModelEngine(find_engine("volta-fp16-fp32").engine)).value("F"), "23");
  EXPECT_EQ(probe(ModelEngine(find_engine("turing-fp16-fp32").engine)).value("F"), "24");
}

}  // namespace
}  // namespace vernier::model::test::probe_test
