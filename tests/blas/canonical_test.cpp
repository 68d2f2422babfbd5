// C = RN(alpha T + RN(beta C)) from the T of alpha = 1, beta = 0, bit by bit; and T where it has one right value.
#include <cmath>

#include "fixture.hpp"
#include "support/bound.hpp"

namespace vernier::test::canonical_test {
namespace {

class Canonical : public PerEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, Canonical, testing::ValuesIn(engine_cases()), ReadableName());

TEST_P(Canonical, OneFusedMultiplyAddJoinsAlphaTAndBetaC) {
  with_type([this]<class T>(T) {
    const std::int64_t m = 37, n = 41, k = 50;
    const auto a = scattered_matrix<T>(m, k, 0.5, 1), b = scattered_matrix<T>(k, n, 0.5, 2);
    const auto c = scattered_matrix<T>(m, n, 0.5, 3);
    const auto product = multiply<T>({.a = a, .b = b}, options<T>()).c;
    const T third = T{1} / 3;
    for (const T alpha : {T{0}, T{1}, T{-1}, T{2.5}, third, T{-1e-3}, std::numeric_limits<T>::min(), T{1e30}})
      for (const T beta : {T{0}, T{1}, T{-1}, T{0.5}, -third, T{1e30}, std::numeric_limits<T>::denorm_min()}) {
        const auto out = multiply<T>({.a = a, .b = b, .alpha = alpha, .beta = beta, .c = c}, options<T>());
        EXPECT_EQ(difference(out.c, combined(alpha, product, beta, c)), "") << "alpha " << alpha << ", beta " << beta;
      }
  });
}

// alpha T and beta C cancel to their rounding errors: two roundings instead of a fused one would show in every entry.
TEST_P(Canonical, CancellationBetweenAlphaTAndBetaCShowsTheRoundings) {
  with_type([this]<class T>(T) {
    const auto a = scattered_matrix<T>(20, 30, 0.5, 4), b = scattered_matrix<T>(30, 20, 0.5, 5);
    const auto product = multiply<T>({.a = a, .b = b}, options<T>()).c;
    const T alpha = T{1} / 3, beta = T{-1} / 3;
    const auto expected = combined(alpha, product, beta, product);
    int nonzero = 0;
    for (std::int64_t i = 0; i < 20; ++i) nonzero += expected(i, i) != 0 ? 1 : 0;
    EXPECT_GT(nonzero, 10);
    const auto out = multiply<T>({.a = a, .b = b, .alpha = alpha, .beta = beta, .c = product}, options<T>());
    EXPECT_EQ(difference(out.c, expected), "");
  });
}

// Integers whose sums need more than the significand: T is the exact sum rounded once, ties included.
TEST_P(Canonical, ProductsOfIntegersAreRoundedOnceToNearestEven) {
  with_type([this]<class T>(T) {
    const int bits = std::numeric_limits<T>::digits - 5;
    for (const auto& [m, n, k] : {std::tuple{9, 8, 1}, {17, 19, 2}, {33, 31, 64}, {40, 40, 300}}) {
      const auto a = integer_matrix<T>(m, k, std::int64_t{1} << bits, 6), b = integer_matrix<T>(k, n, 1 << 10, 7);
      const auto expected = ExactProduct<T>(a, b).rounded();
      EXPECT_EQ(difference(multiply<T>({.a = a, .b = b}, options<T>()).c, expected), "") << "k = " << k;
    }
  });
}

TEST_P(Canonical, HalfwayCasesGoToTheEvenNeighbour) {
  with_type([this]<class T>(T) {
    const T big = std::ldexp(T{1}, std::numeric_limits<T>::digits);  // the spacing of numbers from here on is 2
    //        (big, 1) . (1, x)
    const auto a = Matrix<T>::of(1, 2, [&](auto, auto l) { return l == 0 ? big : T{1}; });
    const T x[] = {0, 1, 2, 3, 5, -1, -3};
    const auto b = Matrix<T>::of(2, 7, [&](auto l, auto j) { return l == 0 ? T{1} : x[j]; });
    const T expected[] = {big, big, big + 2, big + 4, big + 4, big - 1, big - 3};
    const auto row = Matrix<T>::of(1, 7, [&](auto, auto j) { return expected[j]; });
    EXPECT_EQ(difference(multiply<T>({.a = a, .b = b}, options<T>(Contract::bits(60))).c, row), "");
  });
}

TEST_P(Canonical, AnExactSumOfZeroIsPositiveZero) {
  with_type([this]<class T>(T) {
    // Zeros of both signs, x - x, and nothing but negative zeros.
    const auto a = Matrix<T>::of(3, 2, [](auto i, auto l) {
      return i == 0 ? -T{0} : i == 1 ? T{3} : l == 0 ? T{0} : -T{0};
    });
    const auto b = Matrix<T>::of(2, 3, [](auto l, auto j) {
      return j == 0 ? (l == 0 ? T{7} : T{-7}) : j == 1 ? -T{0} : T{0};
    });
    const auto zero = Matrix<T>::of(3, 3, [](auto, auto) { return T{0}; });
    Matrix<T> c = multiply<T>({.a = a, .b = b}, options<T>()).c;
    EXPECT_EQ(difference(c, zero), "");
    // alpha T keeps alpha's sign when nothing is added, and disappears in a sum with +0.
    EXPECT_EQ(difference(multiply<T>({.a = a, .b = b, .alpha = -2}, options<T>()).c, combined<T>(-2, zero, 0, zero)),
              "");
    EXPECT_TRUE(std::signbit(multiply<T>({.a = a, .b = b, .alpha = -2}, options<T>()).c(0, 0)));
    EXPECT_EQ(difference(multiply<T>({.a = a, .b = b, .alpha = -2, .beta = 1, .c = zero}, options<T>()).c, zero), "");
  });
}

TEST_P(Canonical, NothingToMultiplyScalesC) {
  with_type([this]<class T>(T) {
    auto c = scattered_matrix<T>(6, 7, 0.5, 8);
    c(1, 2) = std::numeric_limits<T>::quiet_NaN();
    c(3, 4) = std::numeric_limits<T>::infinity();
    c(5, 6) = -T{0};
    const Matrix<T> any = integer_matrix<T>(6, 7, 3, 9);
    for (const T beta : {T{0}, T{1}, T{-1}, T{0.3}}) {
      const auto expected = combined<T>(0, any, beta, c);
      const auto no_k = multiply<T>({.a = Matrix<T>(6, 0), .b = Matrix<T>(0, 7), .beta = beta, .c = c}, options<T>());
      EXPECT_EQ(difference_but_for_nans(no_k.c, expected), "") << "k = 0, beta " << beta;
      EXPECT_EQ(no_k.report.plan.scheme, "none");
      const auto no_alpha = multiply<T>(
          {.a = integer_matrix<T>(6, 5, 9, 1), .b = integer_matrix<T>(5, 7, 9, 2), .alpha = 0, .beta = beta, .c = c},
          options<T>());
      EXPECT_EQ(difference_but_for_nans(no_alpha.c, expected), "") << "alpha = 0, beta " << beta;
    }
  });
}

// Integers times a power of two that puts the results among the subnormal numbers: exact, then rounded once.
TEST_P(Canonical, SubnormalResultsAreRoundedOnce) {
  with_type([this]<class T>(T) {
    const int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;  // log2 of the smallest
    for (const int drop : {0, 1, 5, 12, 16}) {
      // Results of about 20 bits, the last drop of them below the smallest subnormal number.
      const int up = (least - drop) / 2, rest = least - drop - up;
      auto a = integer_matrix<T>(21, 40, 255, 10), b = integer_matrix<T>(40, 23, 255, 11);
      a = Matrix<T>::of(21, 40, [&](auto i, auto l) { return std::ldexp(a(i, l), up); });
      b = Matrix<T>::of(40, 23, [&](auto l, auto j) { return std::ldexp(b(l, j), rest); });
      const auto expected = ExactProduct<T>(a, b).rounded();
      ASSERT_NE(difference(expected, multiply<T>({.a = a, .b = b, .alpha = 0}, options<T>()).c), "") << "all are zero";
      EXPECT_EQ(difference(multiply<T>({.a = a, .b = b}, options<T>()).c, expected), "") << drop << " bits dropped";
    }
  });
}

TEST_P(Canonical, ResultsPastTheLargestNumberAreInfiniteAndThoseBeforeAreNot) {
  with_type([this]<class T>(T) {
    const T top = std::numeric_limits<T>::max(), infinity = std::numeric_limits<T>::infinity();
    const T half_ulp = std::ldexp(T{1}, std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::digits - 1);
    // (top, half an ulp of it) . (1, y): y = 1 is the tie that rounds to infinity. Integers of two significands' width.
    const auto a =
        Matrix<T>::of(2, 2, [&](auto i, auto l) { return (i == 0 ? T{1} : T{-1}) * (l == 0 ? top : half_ulp); });
    const T y[] = {T{-0.5}, 0, T{0.5}, T{0.75}, 1, 2};
    const auto b = Matrix<T>::of(2, 6, [&](auto l, auto j) { return l == 0 ? T{1} : y[j]; });
    const auto expected =
        Matrix<T>::of(2, 6, [&](auto i, auto j) { return (i == 0 ? T{1} : T{-1}) * (j < 4 ? top : infinity); });
    ASSERT_EQ(difference(ExactProduct<T>(a, b).rounded(), expected), "");
    EXPECT_EQ(difference(multiply<T>({.a = a, .b = b}, options<T>(Contract::bits(64))).c, expected), "");
  });
}

// A partial sum overflows, the result does not: a conventional product has NaN or infinity here.
TEST_P(Canonical, OverflowInsideTheSumDoesNotReachTheResult) {
  with_type([this]<class T>(T) {
    const T large = std::ldexp(T{1}, std::numeric_limits<T>::max_exponent - 2);
    const T row[] = {large, large, -large, -large, 3};
    const auto a = Matrix<T>::of(4, 5, [&](auto, auto l) { return row[l]; });
    const auto b = Matrix<T>::of(5, 4, [](auto l, auto j) { return l == 4 ? static_cast<T>(j) : T{16}; });
    const auto out = multiply<T>({.a = a, .b = b}, options<T>()).c;
    EXPECT_EQ(broken_bound(default_contract<T>(), a, b, out), "");
    for (std::int64_t j = 0; j < 4; ++j) EXPECT_TRUE(std::isfinite(out(0, j)));
  });
}

}  // namespace
}  // namespace vernier::test::canonical_test
