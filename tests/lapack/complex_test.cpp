// Factorisations and solve() of complex matrices, against sums in 64 bits of significand.
#include <gtest/gtest.h>

#include <complex>

#include "support/error_message.hpp"
#include "systems.hpp"

namespace vernier::test::complex_test {
namespace {

using Wide = std::complex<long double>;

template <class T>
struct Grid {  // a matrix by columns
  std::int64_t rows, columns;
  std::vector<T> x = std::vector<T>(static_cast<std::size_t>(rows * columns));

  T& operator()(std::int64_t i, std::int64_t j) { return x[static_cast<std::size_t>(i + j * rows)]; }
  T operator()(std::int64_t i, std::int64_t j) const { return x[static_cast<std::size_t>(i + j * rows)]; }
};

template <class T>
Grid<T> scattered(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  Random random(seed);
  Grid<T> a{rows, columns};
  for (T& z : a.x) {
    const double re = random.scattered(0.5);
    z = T(static_cast<Real<T>>(re), static_cast<Real<T>>(random.scattered(0.5)));
  }
  return a;
}

template <class T>
Grid<T> definite(std::int64_t n, std::uint64_t seed) {
  const Grid<T> g = scattered<T>(n, n, seed);
  Grid<T> a{n, n};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      Wide sum = i == j ? 1 : 0;
      for (std::int64_t l = 0; l < n; ++l) sum += Wide(g(i, l)) * std::conj(Wide(g(j, l)));
      a(i, j) = T(sum);
    }
  return a;
}

template <class T>
Wide element(Op op, const Grid<T>& a, std::int64_t i, std::int64_t j) {
  const Wide z(op == Op::none ? a(i, j) : a(j, i));
  return op == Op::conjugate_transpose ? std::conj(z) : z;
}

// The largest |B - op(A) X| / (|A| max |X| + max |B|) of a column, by moduli.
template <class T>
double backward_error_of(Op op, const Grid<T>& a, const T* x, const T* b) {
  long double residual = 0, norm = 0, most_x = 0, most_b = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    Wide r(b[i]);
    long double row = 0;
    for (std::int64_t j = 0; j < a.rows; ++j) {
      r -= element(op, a, i, j) * Wide(x[j]);
      row += std::abs(element(op, a, i, j));
    }
    if (std::isnan(std::abs(r))) return std::numeric_limits<double>::quiet_NaN();
    residual = std::max(residual, std::abs(r));
    norm = std::max(norm, row);
    most_x = std::max(most_x, std::abs(Wide(x[i])));
    most_b = std::max(most_b, std::abs(Wide(b[i])));
  }
  return residual == 0 ? 0 : static_cast<double>(residual / (norm * most_x + most_b));
}

template <class T>
double worst_backward_error(Op op, const Grid<T>& a, const Grid<T>& x, const Grid<T>& b) {
  double worst = 0;
  for (std::int64_t c = 0; c < b.columns; ++c)
    worst = worse(worst, backward_error_of(op, a, x.x.data() + c * x.rows, b.x.data() + c * b.rows));
  return worst;
}

template <class T>
class ComplexLapack : public testing::Test {
 protected:
  using R = Real<T>;
  static std::vector<Options> contracts() {
    const std::string own = std::is_same_v<R, float> ? "fp32" : "fp64";
    return {with_contract(own.c_str()), with_contract((own + "+reproducible").c_str())};
  }
};
using ComplexTypes = testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ComplexLapack, ComplexTypes);

constexpr Op ops[] = {Op::none, Op::transpose, Op::conjugate_transpose};

// [1, i; 2 i, 3]: the second row has the larger |Re| + |Im|. L(2, 1) = 1 / (2 i) = -i / 2, U(2, 2) = i + 3 i / 2.
TYPED_TEST(ComplexLapack, TwoByTwoByHand) {
  using T = TypeParam;
  T a[] = {1, T(0, 2), T(0, 1), 3};
  std::int64_t pivots[2];
  ASSERT_EQ(getrf(2, 2, a, 2, pivots), 0);
  EXPECT_EQ(pivots[0], 2);
  EXPECT_EQ(a[0], T(0, 2));
  EXPECT_EQ(a[1], T(0, -0.5f));
  EXPECT_EQ(a[2], T(3));
  EXPECT_EQ(a[3], T(0, 2.5f));
}

TYPED_TEST(ComplexLapack, FactorsArePALUWithinTheirBound) {
  using T = TypeParam;
  for (const Options& options : this->contracts())
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {17, 17}, {90, 40}, {40, 90}, {200, 200}}) {
      const Grid<T> a = scattered<T>(m, n, static_cast<std::uint64_t>(m + n));
      Grid<T> lu = a, pa = a;
      Pivots pivots(static_cast<std::size_t>(std::min(m, n)));
      ASSERT_EQ(getrf(m, n, lu.x.data(), m, pivots.data(), options), 0);
      for (std::int64_t i = 0; i < std::min(m, n); ++i)
        for (std::int64_t j = 0; j < n; ++j) std::swap(pa(i, j), pa(pivots[static_cast<std::size_t>(i)] - 1, j));
      double worst = 0;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i) {
          Wide sum = 0;
          long double size = 0;
          for (std::int64_t p = 0; p <= std::min({i, j, std::min(m, n) - 1}); ++p) {
            const Wide term = (p == i ? Wide(1) : Wide(lu(i, p))) * Wide(lu(p, j));
            sum += term;
            size += std::abs(term);
          }
          worst = worse(worst, static_cast<double>(std::abs(Wide(pa(i, j)) - sum) / size));
        }
      // Of real matrices min(m, n) u; a complex product takes two roundings more, and a division some.
      EXPECT_LE(worst, (2 * static_cast<double>(std::min(m, n)) + 10) * unit_roundoff<Real<T>>) << m << " x " << n;
    }
}

TYPED_TEST(ComplexLapack, SystemsAreSolvedWithEveryOp) {
  using T = TypeParam;
  for (const Options& options : this->contracts())
    for (const std::int64_t n : {1, 33, 150}) {
      const Grid<T> a = scattered<T>(n, n, 3), b = scattered<T>(n, 5, 4);
      for (const Op op : ops) {
        Grid<T> lu = a, x = b;
        Pivots pivots(static_cast<std::size_t>(n));
        ASSERT_EQ(getrf(n, n, lu.x.data(), n, pivots.data(), options), 0);
        getrs(op, n, 5, lu.x.data(), n, pivots.data(), x.x.data(), n, options);
        EXPECT_LE(worst_backward_error(op, a, x, b), 20 * static_cast<double>(n) * unit_roundoff<Real<T>>);
      }
      Grid<T> lu = a, x = b;
      Pivots pivots(static_cast<std::size_t>(n));
      ASSERT_EQ(gesv(n, 5, lu.x.data(), n, pivots.data(), x.x.data(), n, options), 0);
      EXPECT_LE(worst_backward_error(Op::none, a, x, b), 20 * static_cast<double>(n) * unit_roundoff<Real<T>>);
    }
}

TYPED_TEST(ComplexLapack, HermitianMatricesAreFactorisedAndSolved) {
  using T = TypeParam;
  constexpr T ignored(7, 7);
  for (const Options& options : this->contracts())
    for (const std::int64_t n : {1, 30, 170})
      for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        const Grid<T> a = definite<T>(n, 6), b = scattered<T>(n, 3, 8);
        Grid<T> factor = a, x = b;
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i) {
            if (i == j) factor(i, j) += T(0, 5);  // not read
            if (uplo == Uplo::lower ? i < j : i > j) factor(i, j) = ignored;
          }
        ASSERT_EQ(posv(uplo, n, 3, factor.x.data(), n, x.x.data(), n, options), 0);
        EXPECT_LE(worst_backward_error(Op::none, a, x, b), 20 * static_cast<double>(n) * unit_roundoff<Real<T>>);
        for (std::int64_t j = 0; j < n; ++j) {
          EXPECT_EQ(factor(j, j).imag(), 0);
          EXPECT_GT(factor(j, j).real(), 0);
          if (j > 0) {
            EXPECT_EQ(uplo == Uplo::lower ? factor(0, j) : factor(j, 0), ignored);
          }
        }
      }
  Grid<T> a = definite<T>(40, 6);
  a(25, 25) = -1;
  EXPECT_EQ(potrf(Uplo::lower, 40, a.x.data(), 40), 26);
}

TYPED_TEST(ComplexLapack, ReproducibleFactorsDependOnNoThreads) {
  using T = TypeParam;
  const std::int64_t n = 130;
  const Grid<T> a = scattered<T>(n, n, 3), h = definite<T>(n, 4);
  std::vector<Grid<T>> factors, roots;
  for (const int threads : {1, 3}) {
    const Options options =
        with_contract(std::is_same_v<Real<T>, float> ? "fp32+reproducible" : "fp64+reproducible", threads);
    factors.push_back(a);
    roots.push_back(h);
    Pivots pivots(static_cast<std::size_t>(n));
    ASSERT_EQ(getrf(n, n, factors.back().x.data(), n, pivots.data(), options), 0);
    ASSERT_EQ(potrf(Uplo::upper, n, roots.back().x.data(), n, options), 0);
  }
  EXPECT_EQ(factors[0].x, factors[1].x);
  EXPECT_EQ(roots[0].x, roots[1].x);
}

template <class T>
SolveReport solved(Op op, const Grid<T>& a, const Grid<T>& b, Grid<T>& x, SolveOptions options = {}) {
  options.products.threads = 2;
  return solve<T>(op, a.rows, b.columns, a.x.data(), a.rows, b.x.data(), b.rows, x.x.data(), x.rows, options);
}

TYPED_TEST(ComplexLapack, CertificatesAreTrue) {
  using T = TypeParam;
  for (const auto& [n, nrhs] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {40, 3}, {220, 2}, {90, 40}}) {
    const Grid<T> a = scattered<T>(n, n, 5), b = scattered<T>(n, nrhs, 6);
    for (const Factors factors : {Factors::automatic, Factors::fp32, Factors::fp64})
      for (const Op op : ops) {
        Grid<T> x{n, nrhs};
        const SolveReport report =
            solved(op, a, b, x, {.factors = factors, .condition = true, .forward_error = n == 40});
        EXPECT_EQ(report.verdict, Verdict::ok) << report.text();
        EXPECT_GE(report.condition, 1);
        for (std::int64_t c = 0; c < nrhs; ++c) {
          const SolveColumn& column = report.columns[static_cast<std::size_t>(c)];
          const double error = backward_error_of(op, a, x.x.data() + c * n, b.x.data() + c * n);
          EXPECT_LE(error, column.backward_error * (1 + 1e-10) + 1e-19);
          EXPECT_LE(column.backward_error, report.tolerance);
        }
      }
  }
}

// Rows and columns of very different size, and entries near the ends of the range.
TYPED_TEST(ComplexLapack, BadlyScaledSystemsAreSolved) {
  using T = TypeParam;
  const std::int64_t n = 60;
  const int reach = std::is_same_v<Real<T>, float> ? 12 : 60;
  for (const int exponent : {0, std::is_same_v<Real<T>, float> ? 60 : 900}) {
    Grid<T> a = scattered<T>(n, n, 5), x{n, 1};
    const Grid<T> b = scattered<T>(n, 1, 6);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        a(i, j) *= std::ldexp(Real<T>{1}, static_cast<int>((i * 7919 + j * 104729) % reach) + exponent);
    const SolveReport report = solved(Op::none, a, b, x, {.factors = Factors::fp32});
    EXPECT_EQ(report.verdict, Verdict::ok) << report.text();
    EXPECT_LE(backward_error_of(Op::none, a, x.x.data(), b.x.data()), report.tolerance);
  }
}

TYPED_TEST(ComplexLapack, WhatCannotBeSolvedIsSaidAndNothingIsWritten) {
  using T = TypeParam;
  Grid<T> a{2, 2}, x{2, 1};
  Grid<T> b = scattered<T>(2, 1, 7);
  a.x = {1, 2, T(0, 1), T(0, 2)};
  x.x = {7, 7};
  EXPECT_EQ(solved(Op::none, a, b, x).verdict, Verdict::singular);
  EXPECT_EQ(message([&] { (void)solved(Op::none, a, b, x, {.factors = Factors::fp16}); }),
            "solve: factors = fp16: expected auto, fp32 or fp64 for a complex system");
  a.x[2] = T(0, std::numeric_limits<Real<T>>::infinity());
  EXPECT_EQ(message([&] { (void)solved(Op::none, a, b, x); }),
            "solve: A(1, 2) is an infinity: expected a finite number");
  a.x[2] = 0;
  b.x[1] = T(0, std::numeric_limits<Real<T>>::quiet_NaN());
  EXPECT_EQ(message([&] { (void)solved(Op::none, a, b, x); }), "solve: B(2, 1) is a NaN: expected a finite number");
  EXPECT_EQ(x.x, (std::vector<T>{7, 7}));
}

}  // namespace
}  // namespace vernier::test::complex_test
