// The estimates that choose between error correction and the conventional product, against measured times.
#include "plan/split_cost.hpp"

#include <gtest/gtest.h>

namespace vernier {
namespace {

struct Measured {
  std::int64_t m, n, k;
  double split, sgemm;  // microseconds on an H200
  std::int64_t products = 1;
};

const Measured measured[] = {
    {128, 128, 128, 19.6, 11.8},       {256, 256, 256, 21.4, 14.4},      {512, 512, 512, 24.0, 20.6},
    {768, 768, 768, 28.4, 40.5},       {1000, 1000, 1000, 35.7, 57.3},   {1536, 1536, 1536, 78.7, 196.9},
    {2048, 2048, 2048, 112.5, 345.7},  {4096, 4096, 4096, 655.1, 2680},  {16384, 64, 4096, 299.7, 193.8},
    {16384, 256, 4096, 368.5, 672.6},  {256, 256, 65536, 575.3, 184.4},  {4096, 4096, 64, 64.3, 75.6},
    {4096, 4096, 256, 88.6, 194.3},    {16384, 16384, 64, 629, 1012},    {16384, 16384, 1024, 2551, 10756},
    {64, 64, 64, 202, 31, 1000},       {128, 128, 128, 476, 130, 1000},  {256, 256, 256, 1190, 746, 1000},
    {384, 384, 384, 2461, 2313, 1000}, {512, 512, 512, 3804, 5238, 1000}};

TEST(SplitCost, ChoosesWhatWasFasterUnlessTheyAreClose) {
  for (const Measured& x : measured) {
    const bool split = split_gemm_seconds(x.m, x.n, x.k, x.products) < device_sgemm_seconds(x.m, x.n, x.k, x.products);
    const double taken = split ? x.split : x.sgemm, other = split ? x.sgemm : x.split;
    EXPECT_LE(taken, 1.25 * other) << x.m << ' ' << x.n << ' ' << x.k;
    if (split) {  // never slower than cuBLAS by more
      EXPECT_LE(taken, 1.05 * other) << x.m << ' ' << x.n << ' ' << x.k;
    }
  }
}

// 32 MiB of planes a product: none shares a wave with another.
TEST(SplitCost, CountsTheWavesOfProductsThatFollowEachOther) {
  ASSERT_EQ(split_products_at_once(512, 512, 8192, 64), 1);
  EXPECT_GT(split_gemm_seconds(512, 512, 8192, 64), 60 * (split_gemm_seconds(512, 512, 8192) - 16e-6));
  EXPECT_GT(split_gemm_seconds(512, 512, 8192, 64), device_sgemm_seconds(512, 512, 8192, 64));
  EXPECT_EQ(split_products_at_once(512, 512, 512, 1000), 24);
  EXPECT_EQ(split_products_at_once(1, 1, 64, 1000000), 65535);
}

}  // namespace
}  // namespace vernier
