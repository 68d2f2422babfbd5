#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "exact_sample.hpp"

namespace vernier::cli::exact_sample_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

// 1 x k times k x 1.
template <class T>
Product<T> dot(const std::vector<T>& x, const std::vector<T>& y) {
  Product<T> p;
  p.m = p.n = 1;
  p.k = static_cast<std::int64_t>(x.size());
  p.a = {x.data(), 1, 1};
  p.b = {y.data(), 1, p.k};
  return p;
}

template <class T>
SampledError error_of(const Product<T>& p, T value) {
  return ExactSample<T>(p, 10, 1).errors({&value, 1, 1});
}

TEST(ExactSample, SeesWhatCancellationHides) {
  const std::vector<double> x = {1e16, 1, -1e16}, y = {1, 1, 1};
  EXPECT_EQ(error_of(dot(x, y), 1.0).max, 0);
  EXPECT_DOUBLE_EQ(error_of(dot(x, y), 0.0).max, 1 / 2e16);
}

TEST(ExactSample, KeepsProductsThatDoubleRounds) {
  const double a = 1 + 0x1p-52;  // a^2 = 1 + 2^-51 + 2^-104
  const std::vector<double> x = {a, -1}, y = {a, 1 + 0x1p-51};
  EXPECT_EQ(error_of(dot(x, y), 0x1p-104).max, 0);
  EXPECT_NEAR(error_of(dot(x, y), 0.0).max, 0x1p-105, 0x1p-150);
}

TEST(ExactSample, KeepsTermsFarApart) {
  const std::vector<double> x = {0x1p500, 0x1p-400, -0x1p500}, y = {0x1p500, 0x1p-400, 0x1p500};
  EXPECT_EQ(error_of(dot(x, y), 0x1p-800).max, 0);
  EXPECT_DOUBLE_EQ(error_of(dot(x, y), 0x1p960).max, 0x1p-41);
}

TEST(ExactSample, TakesAlphaAndBeta) {
  const std::vector<double> x = {3}, y = {5}, c0 = {7};
  Product<double> p = dot(x, y);
  p.alpha = -2;
  p.beta = 4;
  p.c0 = {c0.data(), 1, 1};
  EXPECT_EQ(error_of(p, -2.0).max, 0);
  EXPECT_DOUBLE_EQ(error_of(p, -1.0).max, 1.0 / 58);
}

TEST(ExactSample, ReadsNeitherOperandWhenAlphaIsZero) {
  const std::vector<double> x = {nan}, y = {5};
  Product<double> p = dot(x, y);
  p.alpha = 0;
  EXPECT_EQ(error_of(p, 0.0).max, 0);
  EXPECT_EQ(error_of(p, nan).max, inf);
}

TEST(ExactSample, WantsSpecialValuesInTheirPlaces) {
  const std::vector<double> infinite = {inf, 1}, undefined = {nan, 1}, y = {2, 3};
  EXPECT_EQ(error_of(dot(infinite, y), inf).max, 0);
  EXPECT_EQ(error_of(dot(infinite, y), inf).compared, 0);
  EXPECT_EQ(error_of(dot(infinite, y), -inf).max, inf);
  EXPECT_EQ(error_of(dot(infinite, y), 1.0).max, inf);
  EXPECT_EQ(error_of(dot(undefined, y), nan).max, 0);
  EXPECT_EQ(error_of(dot(undefined, y), 1.0).max, inf);
  EXPECT_EQ(error_of(dot(y, y), nan).max, inf);
}

TEST(ExactSample, WantsZeroWhereEveryTermIsZero) {
  const std::vector<float> x = {0, 0}, y = {1, 2};
  EXPECT_EQ(error_of(dot(x, y), 0.0f).max, 0);
  EXPECT_EQ(error_of(dot(x, y), 1e-30f).max, inf);
}

TEST(ExactSample, LooksAtEveryEntryOfASmallMatrixAndAtNoMoreThanAsked) {
  const std::vector<double> a(12, 1.0), b(15, 1.0);
  Product<double> p{4, 5, 3, {a.data(), 1, 4}, {b.data(), 1, 3}};
  std::vector<double> c(20, 3.0);
  c[19] = 4;
  const SampledError all = ExactSample<double>(p, 20, 1).errors({c.data(), 1, 4});
  EXPECT_EQ(all.compared, 20);
  EXPECT_DOUBLE_EQ(all.max, 1.0 / 3);
  EXPECT_DOUBLE_EQ(all.mean, 1.0 / 60);
  EXPECT_EQ(ExactSample<double>(p, 7, 1).errors({c.data(), 1, 4}).samples, 7);
}

TEST(ExactSample, FollowsTheStepsOfAView) {
  const std::vector<double> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  const std::vector<double> by_rows = {1 * 5 + 2 * 7, 1 * 6 + 2 * 8, 3 * 5 + 4 * 7, 3 * 6 + 4 * 8};
  Product<double> p{2, 2, 2, {a.data(), 2, 1}, {b.data(), 2, 1}};
  EXPECT_EQ(ExactSample<double>(p, 4, 1).errors({by_rows.data(), 2, 1}).max, 0);
  EXPECT_GT(ExactSample<double>(p, 4, 1).errors({by_rows.data(), 1, 2}).max, 0);
}

// (1 + 2i)(3 + 4i) + (5 + 6i)(7 - 8i) = -5 + 10i + 83 + 2i
TEST(ExactSample, ComparesThePartsOfComplexEntriesOneByOne) {
  using Z = std::complex<double>;
  const std::vector<Z> x = {{1, 2}, {5, 6}}, y = {{3, 4}, {7, -8}};
  const Product<Z> p = dot(x, y);
  const SampledError right = error_of(p, Z{78, 12});
  EXPECT_EQ(right.max, 0);
  EXPECT_EQ(right.compared, 2);
  EXPECT_DOUBLE_EQ(error_of(p, Z{79, 12}).max, 1.0 / (3 + 8 + 35 + 48));
  EXPECT_DOUBLE_EQ(error_of(p, Z{78, 13}).max, 1.0 / (4 + 6 + 40 + 42));
  EXPECT_DOUBLE_EQ(error_of(p, Z{78, 13}).mean, 0.5 / (4 + 6 + 40 + 42));
}

TEST(ExactSample, SeesWhatCancelsBetweenRealAndImaginaryParts) {
  using Z = std::complex<float>;
  const float a = 1 + 0x1p-23f;  // a^2 - (1 + 2^-22) = 2^-46
  const std::vector<Z> x = {{a, 1}, {1, 0}}, y = {{a, 1}, {-0x1p-22f, 0}};
  EXPECT_EQ(error_of(dot(x, y), Z{0x1p-46f, 2 * a}).max, 0);
  EXPECT_GT(error_of(dot(x, y), Z{0, 2 * a}).max, 0x1p-48);
}

}  // namespace
}  // namespace vernier::cli::exact_sample_test
