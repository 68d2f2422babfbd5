// Cholesky of a block on the diagonal, thread by thread on the host, against its definition.
#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "cuda/launch.hpp"
#include "lapack/cholesky/diagonal.cuh"

namespace vernier::cholesky_diagonal_test {
namespace {

template <class T>
class DiagonalBlock : public testing::Test {
 protected:
  static constexpr int n = cuda::diagonal_order, ld = 2 * n, first = n;  // the second block of a matrix of two

  // The upper triangle of a symmetric matrix; NaN below.
  DiagonalBlock() : given_(static_cast<std::size_t>(ld * ld), std::numeric_limits<T>::quiet_NaN()) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int i = 0; i < n; ++i)
      for (int j = i; j < n; ++j) at(given_, i, j) = static_cast<T>(uniform(random) + (i == j ? 30 : 0));
  }

  static T& at(std::vector<T>& a, int i, int j) { return a[static_cast<std::size_t>((first + i) * ld + first + j)]; }

  int factor(std::vector<T>& a, int order) {
    int info = INT_MAX;
    cuda::factor_diagonal<T>({{a.data(), ld}, first, order, &info}, nullptr);
    return info == INT_MAX ? 0 : info;
  }

  std::vector<T> given_;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(DiagonalBlock, Types);

TYPED_TEST(DiagonalBlock, HoldsTheFactorAndBelowItTheUnitTriangle) {
  using T = TypeParam;
  constexpr int n = cuda::diagonal_order;
  std::vector<T> a = this->given_;
  EXPECT_EQ(this->factor(a, 2 * n), 0);
  const double u = std::numeric_limits<T>::epsilon() / 2;
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) {
      double sum = 0, size = 0;
      for (int k = 0; k <= i; ++k) {
        const double term = static_cast<double>(this->at(a, k, i)) * static_cast<double>(this->at(a, k, j));
        sum += term;
        size += std::abs(term);
      }
      ASSERT_LE(std::abs(sum - static_cast<double>(this->at(this->given_, i, j))), (n + 2) * u * size)
          << i << ", " << j;
      if (j == i) continue;
      const double unit = static_cast<double>(this->at(a, i, j)) / static_cast<double>(this->at(a, i, i));
      ASSERT_LE(std::abs(static_cast<double>(this->at(a, j, i)) - unit), 4 * u * std::abs(unit)) << j << ", " << i;
    }
}

TYPED_TEST(DiagonalBlock, TellsTheFirstPivotThatIsNotPositiveAndLeavesTheRowsBeforeIt) {
  using T = TypeParam;
  constexpr int n = cuda::diagonal_order;
  std::vector<T> good = this->given_;
  ASSERT_EQ(this->factor(good, 2 * n), 0);
  for (const int bad : {0, 1, 31, 127})
    for (const T value : {T(0), T(-1), std::numeric_limits<T>::quiet_NaN()}) {
      std::vector<T> a = this->given_;
      this->at(a, bad, bad) = value;
      if (bad + 2 < n) this->at(a, bad + 2, bad + 2) = -5;
      EXPECT_EQ(this->factor(a, 2 * n), n + bad + 1) << value;
      for (int i = 0; i < bad; ++i)
        for (int j = i; j < n; ++j) ASSERT_EQ(this->at(a, i, j), this->at(good, i, j)) << i << ", " << j;
    }
}

// 1 / pivot overflows, and 0 times that would be no number.
TYPED_TEST(DiagonalBlock, TakesPivotsBelowTheNormalRange) {
  using T = TypeParam;
  constexpr int n = cuda::diagonal_order, small = 5;
  const T tiny = std::numeric_limits<T>::min() / 1024;
  std::vector<T> a = this->given_;
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) this->at(a, i, j) = i != j ? T(0) : i == small ? tiny : T(1);
  EXPECT_EQ(this->factor(a, 2 * n), 0);
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j)
      ASSERT_EQ(this->at(a, i, j), i != j ? T(0) : i == small ? std::sqrt(tiny) : T(1)) << i << ", " << j;
}

TYPED_TEST(DiagonalBlock, PaddingIsNotJudged) {
  constexpr int n = cuda::diagonal_order;
  auto a = this->given_;
  this->at(a, 100, 100) = 0;
  EXPECT_EQ(this->factor(a, n + 100), 0);
  EXPECT_EQ(this->factor(a = this->given_, n), 0);
}

}  // namespace
}  // namespace vernier::cholesky_diagonal_test
