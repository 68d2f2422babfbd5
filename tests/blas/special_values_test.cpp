// NaN and infinity go where floating point sends them, and finite entries do not notice.
#include <sys/mman.h>

#include <cmath>

#include "fixture.hpp"
#include "support/bound.hpp"
#include "support/special.hpp"

namespace vernier::test::special_values_test {
namespace {

// The rows of x without a NaN or an infinity.
template <class T>
std::vector<std::int64_t> finite_rows(const Matrix<T>& x) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < x.rows(); ++i) {
    bool finite = true;
    for (std::int64_t j = 0; j < x.columns(); ++j) finite = finite && std::isfinite(x(i, j));
    if (finite) rows.push_back(i);
  }
  return rows;
}

template <class T>
Matrix<T> selected(const Matrix<T>& x, const std::vector<std::int64_t>& rows) {
  return Matrix<T>::of(static_cast<std::int64_t>(rows.size()), x.columns(),
                       [&](auto i, auto j) { return x(rows[static_cast<std::size_t>(i)], j); });
}

class SpecialValues : public PerEngine {
 protected:
  // Entries that a NaN or an infinity reaches are as IEEE arithmetic has them; the others keep the bound.
  template <class T>
  void expect_ieee(const Matrix<T>& a, const Matrix<T>& b) {
    const auto out = multiply<T>({.a = a, .b = b}, options<T>());
    std::int64_t wrong = 0;
    for (std::int64_t j = 0; j < b.columns(); ++j)
      for (std::int64_t i = 0; i < a.rows(); ++i)
        if (const auto special = special_value(a, b, i, j)) {
          const T got = out.c(i, j);
          const bool same = std::isnan(*special) ? std::isnan(got) : got == *special;
          if (!same && wrong++ < 3)
            ADD_FAILURE() << "(" << i << ", " << j << "): got " << got << ", expected " << *special;
        }
    EXPECT_EQ(wrong, 0);
    const auto rows = finite_rows(a), columns = finite_rows(transposed(b));
    const auto finite_a = selected(a, rows), finite_b = transposed(selected(transposed(b), columns));
    const auto finite_c = transposed(selected(transposed(selected(out.c, rows)), columns));
    EXPECT_EQ(broken_bound(options<T>().contract, finite_a, finite_b, finite_c), "");
    EXPECT_EQ(out.report.nonfinite_rows, a.rows() - static_cast<std::int64_t>(rows.size()));
    EXPECT_EQ(out.report.nonfinite_columns, b.columns() - static_cast<std::int64_t>(columns.size()));
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, SpecialValues, testing::ValuesIn(engine_cases()), ReadableName());

TEST_P(SpecialValues, OfOneTermFollowTheTableOfIeee) {
  with_type([this]<class T>(T) {
    const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
    const T tiny = std::numeric_limits<T>::denorm_min(), huge = std::numeric_limits<T>::max();
    const std::vector<T> values = {nan, infinity, -infinity, T{0}, -T{0}, T{1}, T{-2}, tiny, -tiny, huge, -huge};
    const auto size = static_cast<std::int64_t>(values.size());
    const auto a = Matrix<T>::of(size, 1, [&](auto i, auto) { return values[static_cast<std::size_t>(i)]; });
    const auto b = transposed(a);
    const auto out = multiply<T>({.a = a, .b = b}, options<T>()).c;
    for (std::int64_t j = 0; j < size; ++j)
      for (std::int64_t i = 0; i < size; ++i) {
        const T expected = a(i, 0) * b(0, j);
        EXPECT_TRUE(std::isnan(expected) ? std::isnan(out(i, j)) : out(i, j) == expected)
            << a(i, 0) << " * " << b(0, j) << " gave " << out(i, j);
      }
  });
}

TEST_P(SpecialValues, OfTwoTermsFollowIeee) {
  with_type([this]<class T>(T) {
    const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
    const std::vector<T> values = {nan, infinity, -infinity, T{0}, T{1}, T{-1}};
    const std::int64_t size = 6;
    // All pairs as rows of A, and as columns of B: infinities of both signs in one sum among them.
    const auto a = Matrix<T>::of(
        size * size, 2, [&](auto i, auto l) { return values[static_cast<std::size_t>(l == 0 ? i % size : i / size)]; });
    expect_ieee(a, transposed(a));
  });
}

TEST_P(SpecialValues, InOnePlaceReachTheirRowOrColumnAlone) {
  with_type([this]<class T>(T) {
    const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
    for (const T value : {nan, infinity, -infinity}) {
      for (const auto& [i, l] : {std::pair<int, int>{0, 0}, {31, 63}, {32, 64}, {64, 129}}) {
        auto a = scattered_matrix<T>(65, 130, 0.5, 50), b = scattered_matrix<T>(130, 67, 0.5, 51);
        b(l, 3) = 0;  // 0 * inf
        a(i, l) = value;
        SCOPED_TRACE(joined("value ", described(value), " at (", i, ", ", l, ")"));
        expect_ieee(a, b);
        expect_ieee(transposed(b), transposed(a));
      }
    }
  });
}

TEST_P(SpecialValues, ScatteredOverBothOperandsFollowIeee) {
  with_type([this]<class T>(T) {
    const T infinity = std::numeric_limits<T>::infinity();
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(joined("seed ", seed));
      Random random(seed);
      auto a = scattered_matrix<T>(50, 70, 0.5, seed), b = scattered_matrix<T>(70, 45, 0.5, seed + 100);
      for (int count = 0; count < 12; ++count) {
        T& in_a = a(random.integer(0, 49), random.integer(0, 69));
        in_a = count % 4 == 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(random.sign()) * infinity;
        T& in_b = b(random.integer(0, 69), random.integer(0, 44));
        in_b = count % 3 == 0 ? T{0} : static_cast<T>(random.sign()) * infinity;
      }
      expect_ieee(a, b);
    }
  });
}

TEST_P(SpecialValues, EverywhereLeaveNothingFinite) {
  with_type([this]<class T>(T) {
    for (const T value : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
      const auto all = Matrix<T>::of(33, 33, [&](auto, auto) { return value; });
      expect_ieee(all, all);
      expect_ieee(all, scattered_matrix<T>(33, 20, 0.5, 52));
    }
  });
}

TEST_P(SpecialValues, OfAlphaBetaAndCFollowIeee) {
  with_type([this]<class T>(T) {
    const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
    auto a = scattered_matrix<T>(12, 9, 0.5, 53), b = scattered_matrix<T>(9, 10, 0.5, 54);
    for (std::int64_t l = 0; l < 9; ++l) a(4, l) = 0;
    a(5, 2) = infinity;
    auto c = scattered_matrix<T>(12, 10, 0.5, 55);
    c(0, 0) = nan, c(1, 1) = infinity, c(2, 2) = -infinity, c(5, 3) = -infinity, c(4, 4) = infinity;
    const auto product = multiply<T>({.a = a, .b = b}, options<T>()).c;
    for (const T alpha : {T{1}, T{-1}, infinity, -infinity, nan})
      for (const T beta : {T{0}, T{1}, T{-2}, infinity, nan}) {
        const auto out = multiply<T>({.a = a, .b = b, .alpha = alpha, .beta = beta, .c = c}, options<T>()).c;
        EXPECT_EQ(difference_but_for_nans(out, combined(alpha, product, beta, c)), "")
            << "alpha " << alpha << ", beta " << beta;
      }
  });
}

TEST_P(SpecialValues, InCAreNotReadWhenBetaIsZero) {
  with_type([this]<class T>(T) {
    const auto a = scattered_matrix<T>(40, 30, 0.5, 56), b = scattered_matrix<T>(30, 50, 0.5, 57);
    const auto expected =
        multiply<T>({.a = a, .b = b, .c = Matrix<T>::of(40, 50, [](auto, auto) { return 1; })}, options<T>()).c;
    for (const T old : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
      const auto c = Matrix<T>::of(40, 50, [&](auto, auto) { return old; });
      EXPECT_EQ(difference(multiply<T>({.a = a, .b = b, .c = c}, options<T>()).c, expected), "");
      for (const T beta : {T{0}, -T{0}})
        EXPECT_EQ(difference(multiply<T>({.a = a, .b = b, .alpha = 0, .beta = beta, .c = c}, options<T>()).c,
                             Matrix<T>::of(40, 50, [](auto, auto) { return 0; })),
                  "");
    }
  });
}

TEST_P(SpecialValues, AndAnythingElseInAAndBAreNotReadWhenAlphaOrKIsZero) {
  with_type([this]<class T>(T) {
    // Memory that cannot be read: one look ends the process.
    constexpr std::size_t bytes = 1 << 20;
    void* const closed = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(closed, MAP_FAILED);
    const T* const x = static_cast<const T*>(closed);
    const auto c = scattered_matrix<T>(20, 20, 0.5, 58);
    Matrix<T> out = c;
    gemm<T>(Op::none, Op::transpose, 20, 20, 30, 0, x, 20, x, 20, T{0.5}, out.data(), 20, options<T>());
    EXPECT_EQ(difference(out, combined<T>(0, c, T{0.5}, c)), "");
    out = c;
    gemm<T>(Op::transpose, Op::none, 20, 20, 0, 7, x, 1, x, 1, T{-3}, out.data(), 20, options<T>());
    EXPECT_EQ(difference(out, combined<T>(0, c, -3, c)), "");
    out = c;
    gemm<T>(Op::none, Op::none, 0, 20, 30, 1, x, 1, x, 30, 0, out.data(), 20, options<T>());
    gemm<T>(Op::none, Op::none, 20, 0, 30, 1, x, 20, x, 30, 0, out.data(), 20, options<T>());
    EXPECT_EQ(difference(out, c), "");
    munmap(closed, bytes);
  });
}

// (1e308, 1e308) (10, -10)^T is 0; on the way it overflows. The integer scheme serves it, and the report of a native
// product says what its bound is for.
TEST(Range, OfAnExactZeroThatOverflowsOnTheWayIsToldOrServed) {
  const double a[] = {1e308, 1e308}, b[] = {10, -10};
  double c = 7;
  Options options{.contract = Contract::fp64()};
  options.contract.reproducible = true;
  const Report served = gemm(Op::none, Op::none, 1, 1, 2, 1.0, a, 1, b, 2, 0.0, &c, 1, options);
  EXPECT_EQ(c, 0);
  EXPECT_EQ(served.text().find("overflows"), std::string::npos) << served.text();
  options = {.contract = Contract::fp64(), .engine = "native"};
  const Report native = gemm(Op::none, Op::none, 1, 1, 2, 1.0, a, 1, b, 2, 0.0, &c, 1, options);
  EXPECT_FALSE(std::isfinite(c));
  EXPECT_NE(native.text().find("where no product and no sum overflows or underflows"), std::string::npos)
      << native.text();
}

}  // namespace
}  // namespace vernier::test::special_values_test
