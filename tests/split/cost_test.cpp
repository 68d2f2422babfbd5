// The estimates that choose between error correction and the conventional product, against measured times.
#include "split/cost.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/fmt.hpp"
#include "product/plan/native_cost.hpp"
#include "support/project_file.hpp"

namespace vernier::cost_test {
namespace {

using Json = nlohmann::json;

// Microseconds of one call from rest, and of one of many: the lower of the ratios counts for neither side.
struct Times {
  double alone, queued;

  explicit Times(const Json& pair) : alone(pair[0]), queued(pair[1]) {}
  double both() const { return alone + queued; }
};

// Hundreds of shapes on an H200, from k = 1 on, batches among them.
TEST(SplitCost, TheDefaultIsNowhereSlowerThanCublasByMoreThanAFewPercent) {
  std::ifstream file(test::project_file("bench/results/split_sweep_h200.json"));
  const Json measured = Json::parse(file);
  ASSERT_EQ(measured["machine"]["device"], "NVIDIA H200");
  constexpr double memory = 3.1 + 1.6;  // what the contract takes beside short splits, in the median of this file
  int taken = 0, passed = 0;
  for (const Json& row : measured["results"]) {
    if (row["what"] != "sweep" || !row.contains("split")) continue;
    const std::int64_t m = row["m"], n = row["n"], k = row["k"], count = row["count"];
    const Times cublas(row["cublas"]), split(row["split"]);
    const double ratio = (split.both() + memory) / cublas.both();
    if (split_gemm_is_faster(m, n, k, count)) {
      ++taken;
      EXPECT_LE(ratio, 1.05) << m << " x " << n << " x " << k << ", " << count;
    } else {
      passed += ratio < 0.8;
    }
  }
  EXPECT_GT(taken, 180);
  EXPECT_LE(passed, 7);  // where error correction would have been a quarter faster
}

TEST(SplitCost, SmallProductsAreSettledByTheirSizeAlone) {
  EXPECT_FALSE(split_gemm_is_faster(256, 256, 256));
  EXPECT_FALSE(split_gemm_is_faster(512, 512, 16384));
  EXPECT_FALSE(split_gemm_is_faster(64, 64, 64, 100));
  EXPECT_TRUE(split_gemm_is_faster(1024, 1024, 1024));
}

TEST(SplitCost, WhatSpeaksAgainstASplitIsToldByWhatDecides) {
  EXPECT_EQ(why_not_split(4096, 4096, 63, 0, 0), "error correction takes k from 64 on");
  EXPECT_EQ(why_not_split(512, 512, 4096, 0, 0), "a single product of at most 2^18 entries errs less natively");
  EXPECT_EQ(why_not_split(1024, 1024, 64, 0, 0),
            fmt::format("error correction: {:.3g} ms, natively {:.3g} ms", split_gemm_seconds(1024, 1024, 64) * 1e3,
                        device_sgemm_seconds(1024, 1024, 64) * 1e3));
  EXPECT_EQ(why_not_split(4096, 4096, 4096, 300, 200),
            "a workspace of 200 bytes is too small for error correction, which takes 300");
  EXPECT_EQ(why_not_split(4096, 4096, std::int64_t{1} << 27, 0, 0), "the matrices are too large for error correction");
}

// 32 MiB of planes a product: none shares a wave with another.
TEST(SplitCost, CountsTheWavesOfProductsThatFollowEachOther) {
  ASSERT_EQ(split_products_at_once(512, 512, 8192, 64), 1);
  const double one = split_gemm_seconds(512, 512, 8192) - split_gemm_seconds(1, 1, 1);
  EXPECT_GT(split_gemm_seconds(512, 512, 8192, 64), 60 * one);
  EXPECT_FALSE(split_gemm_is_faster(512, 512, 8192, 64));
  EXPECT_EQ(split_products_at_once(512, 512, 512, 1000), 24);
  EXPECT_EQ(split_products_at_once(1, 1, 64, 1000000), 65535);
}

// By public figures: three products of fp16 beat the fp32 units of an A100, not those of a GeForce or an L40S.
TEST(SplitCost, ErrorCorrectionIsForGpusWhoseOwnFp32IsSlower) {
  const auto faster = [](const GpuModel& gpu) { return split_gemm_is_faster(8192, 8192, 8192, 1, gpu); };
  EXPECT_TRUE(faster(gpu_model({80, 108, 1.41e9, 2.04e12})));
  EXPECT_TRUE(faster(gpu_model({90, 132, 1.98e9, 3.35e12, false})));
  for (const GpuFacts& facts : {GpuFacts{86, 82, 1.7e9, 9.4e11},
                                {89, 128, 2.52e9, 1.01e12},
                                {89, 142, 2.52e9, 8.6e11},
                                {120, 170, 2.41e9, 1.79e12}})
    EXPECT_FALSE(faster(gpu_model(facts))) << facts.compute_capability << ", " << facts.multiprocessors;
  GpuModel measured = gpu_model({89, 142, 2.52e9, 8.6e11});
  measured.half = 4 * measured.native_single;
  EXPECT_TRUE(faster(measured));
}

}  // namespace
}  // namespace vernier::cost_test
