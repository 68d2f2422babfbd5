// Error-corrected products on modelled engines: the curves of Ootomo and Yokota 2021, section 4.1, by their order, and
// products that can be checked by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/compare.hpp"
#include "support/generators.hpp"
#include "vernier/split.hpp"

namespace vernier::test::replay_test {
namespace {

using split::find_scheme;
using split::Scheme;

Matrix<float> product(const Scheme& scheme, const model::Engine& engine, const Matrix<float>& a, const Matrix<float>& b,
                      int split_k = 1) {
  Matrix<float> c(a.rows(), b.columns());
  split::multiply(scheme, engine, Op::none, Op::none, a.rows(), b.columns(), a.columns(), a.data(), a.ld(), b.data(),
                  b.ld(), c.data(), c.ld(), split_k);
  return c;
}

Matrix<float> product(const Scheme& scheme, const Matrix<float>& a, const Matrix<float>& b) {
  return product(scheme, split::engine_of(scheme).engine, a, b);
}

Matrix<float> product(const char* name, const Matrix<float>& a, const Matrix<float>& b) {
  return product(find_scheme(name), a, b);
}

// A conventional product: fused multiply-adds in the order of k, to nearest.
Matrix<float> conventional(const Matrix<float>& a, const Matrix<float>& b) {
  return Matrix<float>::of(a.rows(), b.columns(), [&](auto i, auto j) {
    float sum = 0;
    for (std::int64_t l = 0; l < a.columns(); ++l) sum = std::fma(a(i, l), b(l, j), sum);
    return sum;
  });
}

// ||C - C64||_F / ||C64||_F, the papers' measure.
double residual(const Matrix<float>& a, const Matrix<float>& b, const Matrix<float>& c) {
  double error = 0, norm = 0;
  for (std::int64_t j = 0; j < c.columns(); ++j)
    for (std::int64_t i = 0; i < c.rows(); ++i) {
      double sum = 0;
      for (std::int64_t l = 0; l < a.columns(); ++l) sum += double{a(i, l)} * double{b(l, j)};
      error += (c(i, j) - sum) * (c(i, j) - sum), norm += sum * sum;
    }
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::sqrt(error / norm);
}

constexpr int seeds = 8;

template <class Make, class Multiply>
double mean_residual(Make make, Multiply multiply) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Operands<float> x = make(seed);
    sum += residual(x.a, x.b, multiply(x.a, x.b));
  }
  return sum / seeds;
}

auto uniform(std::int64_t k) {
  return [k](std::uint64_t seed) {
    Random random(seed);
    const auto element = [&](auto, auto) { return 2 * random.uniform() - 1; };
    Operands<float> x;
    x.a = Matrix<float>::of(16, k, element);
    x.b = Matrix<float>::of(k, 16, element);
    return x;
  };
}

double of_scheme(const char* name, std::int64_t k) {
  return mean_residual(uniform(k), [&](const auto& a, const auto& b) { return product(name, a, b); });
}
double of_fp32(std::int64_t k) { return mean_residual(uniform(k), conventional); }

TEST(SplitModel, CurvesComeInThePapersOrder) {
  for (std::int64_t k : {256, 2048}) {
    const double fp32 = of_fp32(k), markidis = of_scheme("markidis", k), halfhalf = of_scheme("halfhalf", k),
                 tf32tf32 = of_scheme("tf32tf32", k), fp16 = of_scheme("bare_fp16", k),
                 tf32 = of_scheme("bare_tf32", k);
    EXPECT_LE(halfhalf, 1.05 * fp32) << k;
    EXPECT_LE(tf32tf32, 1.05 * fp32) << k;
    EXPECT_GT(markidis, 1.3 * fp32) << k;
    EXPECT_GT(of_scheme("egemm", k), 1.3 * fp32) << k;
    EXPECT_GT(fp16, 20 * markidis) << k;
    EXPECT_GT(tf32, 20 * markidis) << k;
  }
}

TEST(SplitModel, MarkidisDriftsAwayFromFp32AsKGrows) {
  EXPECT_GT(of_scheme("markidis", 4096) / of_fp32(4096), 1.5 * of_scheme("markidis", 64) / of_fp32(64));
}

TEST(SplitModel, RoundingInsideTheEngineIsTheCauseOfMarkidisError) {
  const Scheme& s = find_scheme("markidis");
  const auto on = [&](const char* engine) {
    return mean_residual(uniform(1024), [&](const auto& a, const auto& b) {
      return product(s, model::find_engine(engine).engine, a, b);
    });
  };
  const double fp32 = of_fp32(1024), rn = on("mma-rn"), rz = on("mma-rz");
  EXPECT_LE(rn, 1.1 * fp32);
  EXPECT_GT(rz, 2 * rn);
}

TEST(SplitModel, LostBitsAreNotTheCauseOfMarkidisError) {
  const auto cleared = [](Matrix<float> x) {
    for (std::int64_t j = 0; j < x.columns(); ++j)
      for (std::int64_t i = 0; i < x.rows(); ++i) x(i, j) = std::bit_cast<float>(bits_of(x(i, j)) & ~1u);
    return x;
  };
  const double fewer_bits =
      mean_residual(uniform(2048), [&](const auto& a, const auto& b) { return conventional(cleared(a), cleared(b)); });
  EXPECT_GT(of_scheme("markidis", 2048), 1.3 * fewer_bits);
}

TEST(SplitModel, Bf16ProductsGainWithTheirNumber) {
  const double x3 = of_scheme("bf16x3", 1024), x6 = of_scheme("bf16x6", 1024), x9 = of_scheme("bf16x9", 1024);
  EXPECT_GT(x3, 10 * x6);
  EXPECT_LE(x9, 1.02 * x6);
  EXPECT_LE(x9, 1.05 * of_fp32(1024));
}

// Exponents uniform in [low, high): (A)x(A), (A)x(B), (B)x(B), (A)x(C) of the papers.
auto exp_rand(int a_low, int a_high, int b_low, int b_high) {
  return [=](std::uint64_t seed) {
    Operands<float> x;
    x.a = exp_rand_matrix<float>(16, 512, a_low, a_high, seed);
    x.b = exp_rand_matrix<float>(512, 16, b_low, b_high, seed + 100);
    return x;
  };
}

struct ExponentType {
  int type, a_low, a_high, b_low, b_high;
};

class SplitModelTypes : public testing::TestWithParam<ExponentType> {
 protected:
  double of(const char* name) const {
    const ExponentType& t = GetParam();
    const auto make = exp_rand(t.a_low, t.a_high, t.b_low, t.b_high);
    if (name == std::string("fp32")) return mean_residual(make, conventional);
    return mean_residual(make, [&](const auto& a, const auto& b) { return product(name, a, b); });
  }
};

TEST_P(SplitModelTypes, Tf32tf32MatchesFp32) { EXPECT_LE(of("tf32tf32"), 1.1 * of("fp32")); }

TEST_P(SplitModelTypes, ScaledSchemesMatchFp32) {
  const double fp32 = of("fp32");
  EXPECT_LE(of("halfhalf_sep"), 1.1 * fp32);
  EXPECT_LE(of("tf32tf32_sep"), 1.1 * fp32);
  EXPECT_LE(of("bf16x6_sep"), 0.5 * fp32);
  EXPECT_LE(of("bf16x6_short"), 0.5 * fp32);
}

TEST_P(SplitModelTypes, HalfhalfIsBoundToItsRange) {
  const double fp32 = of("fp32"), halfhalf = of("halfhalf");
  switch (GetParam().type) {
    case 1:
      EXPECT_LE(halfhalf, 1.1 * fp32);
      break;
    case 4:
      EXPECT_GT(halfhalf, 0.1);  // next to nothing is left
      break;
    default:
      EXPECT_GT(halfhalf, 2 * fp32);
      EXPECT_LT(halfhalf, 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(Papers, SplitModelTypes,
                         testing::Values(ExponentType{1, -15, 14, -15, 14}, ExponentType{2, -15, 14, -35, -15},
                                         ExponentType{3, -35, -15, -35, -15}, ExponentType{4, -15, 14, -45, -35}),
                         [](const auto& info) { return "Type" + std::to_string(info.param.type); });

TEST(SplitModel, SmallIntegersAreExactInEverySchemeAndShape) {
  const auto a = integer_matrix<float>(5, 37, 9, 1), b = integer_matrix<float>(37, 7, 9, 2);
  const Matrix<float> exact = conventional(a, b);
  for (const Scheme& s : split::schemes()) {
    const model::Engine& engine = split::engine_of(s).engine;
    EXPECT_EQ(difference(product(s, engine, a, b), exact), "") << s.name;
    EXPECT_EQ(difference(product(s, engine, a, b, 2), exact), "") << s.name;
    const Matrix<float> at = padded(transposed(a), 3), bt = padded(transposed(b), 1);
    Matrix<float> c(5, 7, 2);
    split::multiply(s, engine, Op::transpose, Op::conjugate_transpose, 5, 7, 37, at.data(), at.ld(), bt.data(), bt.ld(),
                    c.data(), c.ld());
    EXPECT_EQ(difference(c, exact), "") << s.name;
    EXPECT_EQ(c.broken_guard(), "") << s.name;
  }
}

TEST(SplitModel, ScaledSchemesTakeEveryExponentOfFp32) {
  Matrix<float> a = integer_matrix<float>(4, 20, 9, 3), b = integer_matrix<float>(20, 4, 9, 4);
  const Matrix<float> exact = conventional(a, b);
  const int row[4] = {120, -140, 0, -30}, column[4] = {-143, 3, 110, -100};
  for (std::int64_t l = 0; l < 20; ++l)
    for (std::int64_t i = 0; i < 4; ++i)
      a(i, l) = std::ldexp(a(i, l), row[i]), b(l, i) = std::ldexp(b(l, i), column[i]);
  const auto expected = Matrix<float>::of(
      4, 4, [&](auto i, auto j) { return static_cast<float>(std::ldexp(double{exact(i, j)}, row[i] + column[j])); });
  for (const Scheme& s : split::schemes()) {
    if (!s.scaled) continue;
    EXPECT_EQ(difference(product(s, a, b), expected), "") << s.name;
  }
}

TEST(SplitModel, InfinitiesAndNansGoWhereIeeeSendsThem) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Matrix<float> a = integer_matrix<float>(4, 20, 9, 5), b = integer_matrix<float>(20, 4, 9, 6);
  a(0, 3) = inf, a(1, 5) = nan, b(7, 2) = -inf;
  b(3, 1) = 0, a(2, 7) = 1e-30f;
  for (const Scheme& s : split::schemes()) {
    if (!s.scaled) continue;
    EXPECT_EQ(difference_but_for_nans(product(s, a, b), conventional(a, b)), "") << s.name;
  }
}

TEST(SplitModel, RunsOutsideReduceTheBiasOfOneSignedData) {
  const auto positive = [](std::uint64_t seed) {
    Random random(seed);
    const auto element = [&](auto, auto) { return random.uniform(); };
    Operands<float> x;
    x.a = Matrix<float>::of(16, 2048, element);
    x.b = Matrix<float>::of(2048, 16, element);
    return x;
  };
  const auto with_run = [&](int run) {
    Scheme s = find_scheme("halfhalf_sep");
    s.sums[0].run = run;
    return mean_residual(positive, [&](const auto& a, const auto& b) { return product(s, a, b); });
  };
  const double run32 = with_run(32), run64 = with_run(64), run128 = with_run(128);
  EXPECT_LT(run32, run64);
  EXPECT_LT(run64, run128);
  EXPECT_LE(run64, mean_residual(positive, conventional));
}

// 1 in the first run, 2^-25 in each of eight others: alone, none moves a sum that is rounded to nearest.
TEST(SplitModel, WhatRoundingTakesOutsideIsKept) {
  const auto element = [](auto l, float other) { return l % 32 != 5 ? 0 : l == 5 ? 1.0f : other; };
  const auto a = Matrix<float>::of(1, 9 * 32, [&](auto, auto l) { return element(l, 0x1p-13f); });
  const auto b = Matrix<float>::of(9 * 32, 1, [&](auto l, auto) { return element(l, 0x1p-12f); });
  EXPECT_EQ(product("tf32tf32_sep", a, b)(0, 0), 1.0f);
  EXPECT_EQ(product("bf16x6_sep", a, b)(0, 0), 1.0f + 0x1p-22f);
  EXPECT_EQ(product("bf16x6_short", a, b)(0, 0), 1.0f + 0x1p-22f);
}

TEST(SplitModel, ThreePartsTimesAPermutationAreExact) {
  for (const std::int64_t n : {20, 100}) {
    const auto a = scattered_matrix<float>(n, n, 4, 3);
    const auto p = Matrix<float>::of(n, n, [&](auto i, auto j) { return (i + 7) % n == j ? 1.0f : 0.0f; });
    for (const char* name : {"bf16x6_sep", "bf16x6_short"}) {
      const Matrix<float> c = product(name, a, p);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          ASSERT_EQ(c(i, j), a(i, (j - 7 + n) % n)) << name << ", " << i << ", " << j;
    }
  }
}

// A kernel may walk further than k, over zeros.
TEST(SplitModel, RunsOfZerosBehindKChangeNoBit) {
  const auto with_zeros = [](const Matrix<float>& x, std::int64_t rows, std::int64_t columns) {
    return Matrix<float>::of(rows, columns,
                             [&](auto i, auto j) { return i < x.rows() && j < x.columns() ? x(i, j) : 0.0f; });
  };
  for (const double width : {0.5, 4.0})
    for (const std::int64_t k : {70, 333}) {
      const auto a = scattered_matrix<float>(150, k, width, 7), b = scattered_matrix<float>(k, 100, width, 8);
      for (const char* name : {"bf16x6_sep", "bf16x6_short"})
        for (const std::int64_t more : {32, 96})
          EXPECT_EQ(difference(product(name, with_zeros(a, 150, k + more), with_zeros(b, k + more, 100)),
                               product(name, a, b)),
                    "")
              << name << ", k = " << k << " and " << more;
    }
}

// Largest elements carry such products: the residual is that of a handful of entries. Root mean squares of many draws.
TEST(SplitModel, VeryWideDataHaveNoLargerResidualThanAChainInPieces) {
  const auto in_pieces = [](const Matrix<float>& a, const Matrix<float>& b) {
    return Matrix<float>::of(a.rows(), b.columns(), [&](auto i, auto j) {
      float total = 0;
      for (std::int64_t piece = 0; piece < 4; ++piece) {
        float sum = 0;
        for (std::int64_t l = piece * a.columns() / 4; l < (piece + 1) * a.columns() / 4; ++l)
          sum = std::fma(a(i, l), b(l, j), sum);
        total += sum;
      }
      return total;
    });
  };
  for (const std::int64_t k : {64, 512, 2048}) {
    const char* name = k < 256 ? "bf16x6_short" : "bf16x6_sep";
    double ours = 0, conventional_pieces = 0, tf32 = 0;
    for (std::uint64_t draw = 1; draw <= (k < 2048 ? 64 : 24); ++draw) {
      const auto a = scattered_matrix<float>(16, k, 4, draw), b = scattered_matrix<float>(k, 16, 4, draw + 1000);
      const auto square = [&](const Matrix<float>& c) { return std::pow(residual(a, b, c), 2); };
      ours += square(product(name, a, b)), tf32 += square(product("tf32tf32_sep", a, b));
      conventional_pieces += square(in_pieces(a, b));
    }
    EXPECT_LE(ours, conventional_pieces) << k;
    EXPECT_GT(tf32, conventional_pieces) << k;
  }
}

TEST(SplitModel, ArgumentsThatDoNotFitAreErrors) {
  const Matrix<float> a = integer_matrix<float>(4, 4, 9, 5);
  Matrix<float> c(4, 4);
  const Scheme& s = find_scheme("halfhalf");
  const auto with = [&](const Scheme& scheme, const char* engine, std::int64_t lda, std::int64_t ldb = 4,
                        std::int64_t ldc = 4) {
    split::multiply(scheme, model::find_engine(engine).engine, Op::none, Op::none, 4, 4, 4, a.data(), lda, a.data(),
                    ldb, c.data(), ldc);
  };
  EXPECT_THROW(with(s, "hopper-wgmma-bf16-fp32", 4), Error);
  EXPECT_THROW(with(s, "hopper-wgmma-fp16-fp32", 3), Error);
  EXPECT_THROW(with(s, "hopper-wgmma-fp16-fp32", 4, 3), Error);
  EXPECT_THROW(with(s, "hopper-wgmma-fp16-fp32", 4, 4, 3), Error);
  Scheme odd = s;
  odd.step = 24;
  EXPECT_THROW(with(odd, "hopper-wgmma-fp16-fp32", 4), Error);
  odd = s;
  odd.sums[0].carry = split::Carry::exact;  // what joins it is 2^11 smaller
  EXPECT_THROW(with(odd, "hopper-wgmma-fp16-fp32", 4), Error);
}

}  // namespace
}  // namespace vernier::test::replay_test
