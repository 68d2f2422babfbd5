// LU whose factors are stored in a short format.
#include "lapack/lu/stored_lu.hpp"

#include <gtest/gtest.h>

#include "systems.hpp"

namespace vernier::test::stored_lu_test {
namespace {

template <class Format>
class StoredFactorsOf : public testing::Test {};
using Formats = testing::Types<StoredBf16, StoredFp16>;
TYPED_TEST_SUITE(StoredFactorsOf, Formats);

template <class Format>
struct Stored {
  std::vector<typename Format::Word> lu;
  Pivots pivots;
  StoredLu result;
};

template <class Format>
Stored<Format> factored(const Matrix<float>& a) {
  const std::int64_t n = a.rows();
  Stored<Format> s{
      std::vector<typename Format::Word>(static_cast<std::size_t>(n * n)), Pivots(static_cast<std::size_t>(n)), {}};
  const auto columns = [&](std::int64_t first, std::int64_t count, float* out) {
    for (std::int64_t j = 0; j < count; ++j)
      for (std::int64_t i = 0; i < n; ++i) out[i + j * n] = a(i, first + j);
  };
  s.result = factor_stored_lu<Format>(Level3<float>(with_contract("fp32")), n, columns, s.lu.data(), s.pivots.data());
  return s;
}

template <class Format>
double stored(float x) {
  Matrix<float> a(1, 1);
  a(0, 0) = x;
  return static_cast<double>(factored<Format>(a).lu[0]);
}

TYPED_TEST(StoredFactorsOf, NumbersAreRoundedToNearestEven) {
  const auto ulp = static_cast<float>(2 * TypeParam::unit_roundoff);
  EXPECT_EQ(stored<TypeParam>(1 + ulp / 2), 1.0);
  EXPECT_EQ(stored<TypeParam>(1 + 3 * ulp / 2), 1.0 + 2 * static_cast<double>(ulp));
  EXPECT_EQ(stored<TypeParam>(-(1 + ulp / 2 + ulp / 8)), -(1.0 + static_cast<double>(ulp)));
  EXPECT_EQ(stored<TypeParam>(2 - ulp / 4), 2.0);
}

TYPED_TEST(StoredFactorsOf, FactorsHaveTheAccuracyOfTheFormat) {
  for (const std::int64_t n : {1, 17, 256, 300, 600}) {
    const auto a = scattered_matrix<float>(n, n, 0, static_cast<std::uint64_t>(n));
    const Stored<TypeParam> s = factored<TypeParam>(a);
    ASSERT_EQ(s.result.info, 0);
    ASSERT_FALSE(s.result.overflow);
    Matrix<float> lu(n, n);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        lu(i, j) = static_cast<float>(static_cast<double>(s.lu[static_cast<std::size_t>(i + j * n)]));
    // One rounding of L and one of U, and fp32 sums.
    const double u = TypeParam::unit_roundoff;
    EXPECT_LE(lu_error(a, lu, s.pivots), 2 * u + u * u + static_cast<double>(n) * 0x1p-24) << n;
  }
}

TYPED_TEST(StoredFactorsOf, WhatLeavesTheRangeIsTold) {
  Matrix<float> a(2, 2);
  a(0, 0) = a(1, 1) = 1;
  a(1, 0) = 0;
  a(0, 1) = std::numeric_limits<float>::max();  // rounds beyond the largest number of every format
  EXPECT_TRUE(factored<TypeParam>(a).result.overflow);
  a(0, 1) = 2;
  EXPECT_FALSE(factored<TypeParam>(a).result.overflow);
}

}  // namespace
}  // namespace vernier::test::stored_lu_test
