// The bounds of block FMAs hold on modelled engines, and are of the size that the paper's table gives.
#include "vernier/block_fma.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "support/model_words.hpp"
#include "support/random.hpp"
#include "vernier/model.hpp"

namespace vernier::test::block_fma_bounds_test {
namespace {

constexpr double u16 = 0x1p-11, u32 = 0x1p-24;

double unit(int bits) { return bits == 0 ? 0 : std::ldexp(1.0, -bits); }

// The largest |C - AB| / |A||B| of positive or of mixed data in [2^-4, 1]: nothing underflows in fp16.
double largest_error(const model::Engine& engine, std::int64_t k, bool positive, std::uint64_t seed) {
  constexpr std::int64_t m = 12, n = 8;
  Random random(seed);
  const auto draw = [&](std::int64_t count) {
    std::vector<double> x(static_cast<std::size_t>(count));
    for (double& e : x) e = (positive ? 1 : random.sign()) * (0.0625 + 0.9375 * random.uniform());
    return x;
  };
  const std::vector<double> a = draw(m * k), b = draw(n * k), zero(static_cast<std::size_t>(m * n));
  const auto pa = packed(engine.a, a), pb = packed(engine.b, b);
  auto c = packed(engine.c, zero);
  model::multiply(engine, {}, m, n, k, pa.data(), k, pb.data(), k, c.data(), c.data(), m);
  const auto bytes = static_cast<std::size_t>(model::storage_bytes(engine.c));
  double worst = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      long double sum = 0, size = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const long double term =
            static_cast<long double>(a[static_cast<std::size_t>(i * k + l)]) * b[static_cast<std::size_t>(j * k + l)];
        sum += term;
        size += std::abs(term);
      }
      std::uint64_t word = 0;
      std::memcpy(&word, c.data() + static_cast<std::size_t>(i + j * m) * bytes, bytes);
      worst = std::max(worst, static_cast<double>(std::abs(model::decode(engine.c, word) - sum) / size));
    }
  return worst;
}

TEST(BlockFmaBounds, HoldForEveryCombinationOfUnits) {
  for (const int b : {1, 4, 8, 16})
    for (const int fma_bits : {11, 24})
      for (const int add_bits : {0, 11, 24})
        for (const int mul_bits : {11, 24}) {
          const auto output = fma_bits == 11 ? model::Format::fp16 : model::Format::fp32;
          if (output == model::Format::fp16 && add_bits == 24) continue;  // sums are in the range of the output
          const auto engine = model::block_fma(model::Format::fp16, output, b, mul_bits, add_bits, fma_bits);
          const BlockFmaUnits units{u16, unit(mul_bits), unit(add_bits), unit(fma_bits), b};
          for (const std::int64_t k : {1, 7, 64, 300})
            for (const bool positive : {false, true}) {
              const double error = largest_error(engine, k, positive, static_cast<std::uint64_t>(k));
              EXPECT_LE(error, block_fma_bound(units, k, true))
                  << "b " << b << " fma " << fma_bits << " add " << add_bits << " mul " << mul_bits << " k " << k;
            }
        }
}

// Blocks sums of fp16 engines gain the factor b; sums in fp32 leave the two roundings of the inputs.
TEST(BlockFmaBounds, TableOrdersTheEnginesAsThePaperDoes) {
  const std::int64_t k = 1024;
  const auto row = [&](FmaKind kind) { return block_fma_table(kind, k, 4, u16, u32); };
  EXPECT_DOUBLE_EQ(row(FmaKind::standard_low), 0.5);
  EXPECT_DOUBLE_EQ(row(FmaKind::low_low), 260 * u16);
  EXPECT_DOUBLE_EQ(row(FmaKind::low_high), 256 * u16 + 4 * u32);
  EXPECT_DOUBLE_EQ(row(FmaKind::low_exact), 0.125);
  EXPECT_DOUBLE_EQ(row(FmaKind::high_low), 6 * u16 + 256 * u32);
  EXPECT_DOUBLE_EQ(row(FmaKind::high_high), 2 * u16 + 260 * u32);
  EXPECT_DOUBLE_EQ(row(FmaKind::high_exact), 2 * u16 + 256 * u32);
  EXPECT_DOUBLE_EQ(row(FmaKind::standard_high), 1024 * u32);
}

TEST(BlockFmaBounds, TableIsTheFirstOrderBoundUpToItsSmallTerms) {
  const std::int64_t k = 4096;
  const struct {
    FmaKind kind;
    BlockFmaUnits units;
  } rows[] = {{FmaKind::low_low, {u16, u32, u16, u16, 4}},   {FmaKind::low_high, {u16, u32, u32, u16, 4}},
              {FmaKind::low_exact, {u16, u32, 0, u16, 4}},   {FmaKind::high_low, {u16, u32, u16, u32, 4}},
              {FmaKind::high_high, {u16, u32, u32, u32, 4}}, {FmaKind::high_exact, {u16, u32, 0, u32, 4}}};
  for (const auto& [kind, units] : rows) {
    const double first_order = block_fma_first_order(units, k, true), table = block_fma_table(kind, k, 4, u16, u32);
    EXPECT_NEAR(first_order, table, 3 * u16) << static_cast<int>(kind);
  }
}

TEST(BlockFmaBounds, BeyondTheReachOfThePrecisionThereIsNone) {
  EXPECT_TRUE(std::isinf(block_fma_bound({u16, u16, u16, u16, 1}, 1 << 12, true)));
  EXPECT_GT(block_lu_bound({u16, u32, u32, u32, 4}, 512, 4, u32, u16),
            block_lu_bound({u16, u32, u32, u32, 4}, 512, 4, u32, 0));
}

}  // namespace
}  // namespace vernier::test::block_fma_bounds_test
