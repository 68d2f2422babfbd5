// LU on modelled engines: the bounds hold, and the precisions come in the order that the papers report.
#include "vernier/block_fma.hpp"

#include <gtest/gtest.h>

#include "support/compare.hpp"
#include "systems.hpp"

namespace vernier::test::modelled_lu_test {
namespace {

constexpr double u16 = 0x1p-11, u32 = 0x1p-24;
using model::Format;

model::Engine tc32(int b = 4) { return model::block_fma(Format::fp16, Format::fp32, b, 24, 24, 24); }
model::Engine tc16(int b = 4) { return model::block_fma(Format::fp16, Format::fp16, b, 24, 11, 11); }
model::Engine standard_fp16() { return model::block_fma(Format::fp16, Format::fp16, 1, 11, 11, 11); }
model::Engine standard_fp32() { return model::block_fma(Format::fp32, Format::fp32, 1, 24, 24, 24); }

Matrix<double> uniform_matrix(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  return Matrix<double>::of(n, n, [&](auto, auto) { return 2 * random.uniform() - 1; });
}

Matrix<double> factors_of(const ModelledLu& result, std::int64_t n) {
  return Matrix<double>::of(n, n, [&](auto i, auto j) { return result.lu[static_cast<std::size_t>(i + j * n)]; });
}

// The largest |PA - LU| / (|L||U|).
double error_of(const Matrix<double>& a, const ModelledLu& result) {
  EXPECT_EQ(result.info, 0);
  return lu_error(a, factors_of(result, a.rows()), result.pivots);
}

double normwise_error(const Matrix<double>& a, const ModelledLu& result) {
  const std::int64_t n = a.rows();
  Matrix<double> pa = padded(a, 0);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) std::swap(pa(i, j), pa(result.pivots[static_cast<std::size_t>(i)] - 1, j));
  const auto lu = factors_of(result, n);
  double error = 0, size = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t p = 0; p <= std::min(i, j); ++p) sum += (p == i ? 1 : lu(i, p)) * lu(p, j);
      error += (pa(i, j) - sum) * (pa(i, j) - sum);
      size += a(i, j) * a(i, j);
    }
  return std::sqrt(error / size);
}

// LU of floats as the textbook has it, with divisions.
Pivots textbook(Matrix<float>& a) {
  Pivots pivots;
  const std::int64_t n = a.rows();
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t pivot = j;
    for (std::int64_t i = j + 1; i < n; ++i)
      if (std::abs(a(i, j)) > std::abs(a(pivot, j))) pivot = i;
    pivots.push_back(pivot + 1);
    for (std::int64_t l = 0; l < n; ++l) std::swap(a(j, l), a(pivot, l));
    for (std::int64_t i = j + 1; i < n; ++i) {
      a(i, j) /= a(j, j);
      for (std::int64_t l = j + 1; l < n; ++l) a(i, l) -= a(i, j) * a(j, l);
    }
  }
  return pivots;
}

// With fp32 arithmetic throughout, the width of the panels does not show in a bit.
TEST(ModelledLu, InFp32IsTheLuOfFloats) {
  const std::int64_t n = 16;
  const auto a = scattered_matrix<float>(n, n, 0.5, 1);
  const auto wide = Matrix<double>::of(n, n, [&](auto i, auto j) { return a(i, j); });
  for (const auto& [outer, inner] : {std::pair{4, 4}, {8, 2}, {16, 16}}) {
    const ModelledLu result = modelled_right_looking_lu({standard_fp32(), outer, inner}, n, wide.data(), n);
    auto lu = padded(a, 0);
    EXPECT_EQ(result.pivots, textbook(lu));
    EXPECT_EQ(difference(Matrix<float>::of(n, n, [&](auto i, auto j) { return factors_of(result, n)(i, j); }), lu), "");
  }
}

TEST(ModelledLu, BoundsHold) {
  for (const std::int64_t n : {5, 64, 150}) {
    const auto a = uniform_matrix(n, static_cast<std::uint64_t>(n));
    for (const int b : {4, 16}) {
      const BlockFmaUnits units{u16, u32, u32, u32, b};
      for (const auto& [outer, inner] : {std::pair<int, int>{b, b}, {64, b}, {32, 32}}) {
        const double bound = block_lu_bound(units, n, inner, u32, 0);
        EXPECT_LE(error_of(a, modelled_right_looking_lu({tc32(b), outer, inner}, n, a.data(), n)), bound) << n;
        const double stored = block_lu_bound(units, n, inner, u32, u16);
        EXPECT_LE(error_of(a, modelled_left_looking_lu({tc32(b), outer, inner}, n, a.data(), n)), stored) << n;
      }
    }
    const double bound16 = block_lu_bound({u16, u32, u16, u16, 4}, n, 4, u16, u16);
    EXPECT_LE(error_of(a, modelled_right_looking_lu({tc16(), 4, 4}, n, a.data(), n)), bound16) << n;
  }
}

// TC32 stays at the roundoff of its inputs where fp16 and TC16 grow; fp16-stored factors cost next to nothing.
TEST(ModelledLu, PrecisionsComeInTheOrderOfThePapers) {
  const std::int64_t n = 200;
  const auto a = uniform_matrix(n, 3);
  const auto right = [&](const model::Engine& engine, std::int64_t outer, std::int64_t inner) {
    return normwise_error(a, modelled_right_looking_lu({engine, outer, inner}, n, a.data(), n));
  };
  const double half = right(standard_fp16(), 4, 4), sixteen = right(tc16(), 4, 4), thirty_two = right(tc32(), 4, 4);
  EXPECT_LT(right(standard_fp32(), 4, 4), 1e-3 * thirty_two);
  EXPECT_LT(1.2 * thirty_two, sixteen);
  EXPECT_LT(sixteen, half);
  EXPECT_NEAR(right(tc32(), 64, 4) / thirty_two, 1, 0.1);  // the double panel hierarchy
  EXPECT_LT(right(tc32(), 64, 64), 1.1 * thirty_two);      // panels in fp32
  const double stored = normwise_error(a, modelled_left_looking_lu({tc32(), 64, 4}, n, a.data(), n));
  EXPECT_LT(stored, 1.1 * thirty_two);
}

TEST(ModelledLu, LeftLookingFactorsAreNumbersOfTheInputFormat) {
  const auto a = uniform_matrix(40, 5);
  const ModelledLu result = modelled_left_looking_lu({tc32(), 16, 4}, 40, a.data(), 40);
  for (const double x : result.lu) EXPECT_EQ(model::decode(Format::fp16, model::encode(Format::fp16, x)), x);
}

TEST(ModelledLu, ZeroPivotsAreTold) {
  Matrix<double> a = uniform_matrix(20, 6);
  for (std::int64_t i = 0; i < 20; ++i) a(i, 9) = 0;
  EXPECT_EQ(modelled_right_looking_lu({tc32(), 8, 4}, 20, a.data(), 20).info, 10);
  EXPECT_EQ(modelled_left_looking_lu({tc32(), 8, 4}, 20, a.data(), 20).info, 10);
}

}  // namespace
}  // namespace vernier::test::modelled_lu_test
