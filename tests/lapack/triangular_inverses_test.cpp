// Inverses of both triangles of LU against rational arithmetic: no bound is below what it bounds.
#include "lapack/verified/triangular_inverses.hpp"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "lapack/lu/getrf.hpp"
#include "lapack/verified/approximate_inverse.hpp"
#include "lapack/verified/upward.hpp"
#include "support/random.hpp"

namespace vernier::test::triangular_inverses_test {
namespace {

using Numbers = std::vector<double>;
using Rationals = std::vector<mpq_class>;

std::size_t at(std::int64_t i, std::int64_t j, std::int64_t n) { return static_cast<std::size_t>(i + j * n); }

// P A = L U + E and Y, X near the triangles' inverses.
struct Proof {
  std::int64_t n;
  Numbers a, factors, inverses;
  Regularity result;
  double estimate;
};

Proof prove(std::int64_t n, const Numbers& a, const Options& options = {}) {
  Proof p{n, a, a, Numbers(a.size(), NAN), {}, 0};
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  EXPECT_EQ(factor_lu(Level3<double>(usual_products(options)), n, n, p.factors.data(), n, pivots.data()), 0);
  swap_rows(1, n, p.a.data(), n, 0, n, pivots.data(), SwapOrder::forward);
  invert_triangle(Uplo::upper, n, p.factors.data(), p.inverses.data(), options);
  FactorProof proof(n, p.factors.data(), p.inverses.data(), options);
  p.estimate = proof.estimate();
  invert_triangle(Uplo::lower, n, p.factors.data(), p.inverses.data(), options);
  proof.prove(4, p.result);
  return p;
}

mpq_class entry(const Numbers& square, Uplo uplo, std::int64_t i, std::int64_t j, std::int64_t n) {
  if (uplo == Uplo::upper) return i <= j ? mpq_class(square[at(i, j, n)]) : mpq_class(0);
  return i == j ? mpq_class(1) : i > j ? mpq_class(square[at(i, j, n)]) : mpq_class(0);
}

Rationals times(std::int64_t n, const Numbers& square, Uplo uplo, const Rationals& x) {
  Rationals y(x.size());
  const auto columns = static_cast<std::int64_t>(x.size()) / n;
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t l = 0; l < n; ++l) y[at(i, j, n)] += entry(square, uplo, i, l, n) * x[at(l, j, n)];
  return y;
}

Rationals exact(const Numbers& x) { return Rationals(x.begin(), x.end()); }

// Entries some 2^of_rows apart from row to row, 2^of_columns from column to column.
Numbers graded(std::int64_t n, int of_rows, int of_columns, std::uint64_t seed) {
  Random r(seed);
  Numbers a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      a[at(i, j, n)] = std::ldexp(r.scattered(0.5), static_cast<int>(i) * of_rows + static_cast<int>(j) * of_columns);
  return a;
}

// |I - Y X P A| v <= sums <= contraction v, exactly.
void expect_bounds(const Proof& p) {
  const Rationals product = times(p.n, p.inverses, Uplo::upper, times(p.n, p.inverses, Uplo::lower, exact(p.a)));
  for (std::int64_t i = 0; i < p.n; ++i) {
    mpq_class sum = 0;
    for (std::int64_t j = 0; j < p.n; ++j)
      sum += abs(mpq_class(i == j ? 1 : 0) - product[at(i, j, p.n)]) * p.result.weight[static_cast<std::size_t>(j)];
    const double bound = p.result.sums[static_cast<std::size_t>(i)];
    EXPECT_LE(sum, mpq_class(bound)) << i;
    EXPECT_LE(mpq_class(bound),
              mpq_class(p.result.contraction) * mpq_class(p.result.weight[static_cast<std::size_t>(i)]))
        << i;
  }
}

TEST(TriangularInverses, ProveWhatRationalArithmeticFinds) {
  for (const std::int64_t n : {1, 2, 16, 17, 65, 90})
    for (const auto& [of_rows, of_columns] : {std::pair{0, 0}, {1, -2}}) {
      const Proof p = prove(n, graded(n, of_rows, of_columns, 40 + static_cast<std::uint64_t>(n)));
      EXPECT_LT(p.result.contraction, 1e-5) << n << ' ' << of_rows;
      EXPECT_LT(p.estimate, p.result.contraction * (1 + 0x1p-40)) << n << ' ' << of_rows;
      EXPECT_GT(p.estimate, p.result.contraction / 64) << n << ' ' << of_rows;
      expect_bounds(p);
    }
}

TEST(TriangularInverses, BoundSubnormalNumbers) {
  constexpr std::int64_t n = 20;
  Numbers a = graded(n, 0, 0, 3);
  for (double& e : a) e = std::ldexp(e, -1010);
  const Proof p = prove(n, a);
  EXPECT_LT(p.result.contraction, 1e-6);
  expect_bounds(p);
  for (double& e : a) e = std::ldexp(e, -50);
  EXPECT_EQ(prove(n, a).result.contraction, infinity) << "inverses overflow";
}

TEST(TriangularInverses, TellBeforeXWhatIsHopeless) {
  constexpr std::int64_t n = 80;
  Numbers a = graded(n, 0, 0, 5);
  for (std::int64_t i = 0; i < n; ++i) a[at(i, 1, n)] = a[at(i, 0, n)] + std::ldexp(a[at(i, 1, n)], -46);
  const Proof near = prove(n, a);
  EXPECT_GT(near.estimate, 0.01);
  EXPECT_GT(near.result.contraction, 0.5);
  for (double& e : a) e = std::ldexp(e, 300);  // scales do not show
  EXPECT_EQ(prove(n, a).estimate, near.estimate);
}

TEST(TriangularInverses, AreWrittenWholeByAnyThreads) {
  constexpr std::int64_t n = 333;
  for (const int threads : {1, 3}) {
    const Proof p = prove(n, graded(n, 0, 0, 6), {.threads = threads});
    for (const double e : p.inverses) ASSERT_TRUE(std::isfinite(e)) << threads;  // they were NaN
    EXPECT_LT(p.result.contraction, 1e-3);
  }
  expect_bounds(prove(100, graded(100, 0, 0, 7), {.threads = 3}));
}

TEST(TriangularInverses, MultiplyFewColumnsAndMany) {
  constexpr std::int64_t n = 70;
  const Proof p = prove(n, graded(n, 0, 0, 8));
  const Options options;
  ApproximateInverse inverse;
  inverse.n = n, inverse.memory = std::make_unique<SquareMemory>(n);
  std::copy(p.inverses.begin(), p.inverses.end(), inverse.memory->data());
  inverse.rows.resize(n);
  std::iota(inverse.rows.begin(), inverse.rows.end(), std::int64_t{0});
  for (const std::int64_t columns : {std::int64_t{1}, by_loop, by_loop + 1, 2 * by_loop + 1}) {
    Random r(9);
    Numbers x(static_cast<std::size_t>(n * columns)), error;
    for (double& e : x) e = r.scattered(1);
    const Rationals z = times(n, p.inverses, Uplo::upper, times(n, p.inverses, Uplo::lower, exact(x)));
    const Numbers near = inverse.near(columns, x, options);
    Numbers above = magnitudes_of(x);
    inverse.bounds(columns, above, x, error, options);
    double most = 0;
    for (std::size_t e = 0; e < z.size(); ++e) {
      EXPECT_LE(abs(z[e] - mpq_class(near[e])), mpq_class(error[e])) << columns << ' ' << e;
      EXPECT_LE(abs(z[e]), mpq_class(above[e]));
      most = std::max(most, error[e] / above[e]);
    }
    EXPECT_LT(most, 0x1p-44);
  }
}

}  // namespace
}  // namespace vernier::test::triangular_inverses_test
