// Products of proofs beside norms against exact sums: theorem 5 holds for any number of bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "blas/plan.hpp"
#include "lapack/level3.hpp"
#include "lapack/lu/getrf.hpp"
#include "lapack/verified/triangular_inverses.hpp"
#include "number/long_accumulator.hpp"
#include "residue/residues.hpp"
#include "support/random.hpp"

namespace vernier::test::remainder_test {
namespace {

using Square = std::vector<double>;

std::size_t at(std::int64_t i, std::int64_t j, std::int64_t n) { return static_cast<std::size_t>(i + j * n); }

// phi 8: rows and columns of few large elements.
Square scattered(std::int64_t n, double phi, std::uint64_t seed) {
  Random r(seed);
  Square x(static_cast<std::size_t>(n * n));
  for (double& e : x) e = r.scattered(phi);
  return x;
}

// Reflections of a diagonal.
Square ill_conditioned(std::int64_t n, double condition) {
  Square a(static_cast<std::size_t>(n * n)), v(static_cast<std::size_t>(n));
  Random r(7);
  for (std::int64_t i = 0; i < n; ++i)
    a[at(i, i, n)] = std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1));
  for (const bool rows : {true, false, true, false}) {
    double squares = 0;
    for (double& e : v) e = r.scattered(0.5), squares += e * e;
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t l = 0; l < n; ++l) sum += v[at(l, 0, n)] * a[rows ? at(l, i, n) : at(i, l, n)];
      for (std::int64_t l = 0; l < n; ++l) a[rows ? at(l, i, n) : at(i, l, n)] -= 2 / squares * sum * v[at(l, 0, n)];
    }
  }
  return a;
}

TEST(Remainder, ProductsBesideNormsKeepTheirShare) {
  for (const std::int64_t n : {1, 60, 150})
    for (const double phi : {0.5, 8.0})
      for (const int bits : {24, 31, 45, 53, 58, 59, 60, 61, 62, 75, 110}) {
        const double root = std::sqrt(static_cast<double>(n));
        const RemainderBits asked = remainder_by_norms(n, std::ldexp(0.9, bits - 3) / root);
        ASSERT_TRUE(asked.enough);
        ASSERT_EQ(asked.contract.bits_asked, bits);
        const Square r = scattered(n, phi, 1), a = scattered(n, phi, 2);
        Square c(r.size());
        gemm<double>(Op::none, Op::none, n, n, n, 1, r.data(), n, a.data(), n, 0, c.data(), n,
                     {.contract = asked.contract, .threads = 2});
        const std::vector<double> rows = row_norms(n, r.data(), {.threads = 2}),
                                  columns = column_norms(n, a.data(), n, {.threads = 2});
        int beyond = 0;
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; i += 7) {
            LongAccumulator error;
            for (std::int64_t l = 0; l < n; ++l) error.add_product(r[at(i, l, n)], a[at(l, j, n)]);
            error.add_product(-c[at(i, j, n)], 1);
            const double size = rows[at(i, 0, n)] * columns[at(j, 0, n)], own = std::fabs(c[at(i, j, n)]) * 0x1p-53;
            const double off = std::fabs(error.rounded<double>());
            ASSERT_LE(off, asked.share * size * (1 + 0x1p-40) + own) << n << ' ' << bits << ' ' << i << ' ' << j;
            beyond += off > asked.share * size * 0x1p-12 + own ? 1 : 0;
          }
        EXPECT_TRUE(beyond > 0 || n == 1 || bits > 53) << n << ' ' << bits << ": more bits than were asked for";
      }
}

// R by rows of factors of A, whose singular values go down to 1 / condition.
TEST(Remainder, FewModuliHoldEntriesThatAreNearTheIdentity) {
  int wrapped = 0;
  for (const double condition : {1e10, 1e12, 1e14})
    for (const std::int64_t n : {40, 170, 300}) {
      const Square a = ill_conditioned(n, condition);
      const Options options{.threads = 2};
      Square f = a, x(a.size());
      std::vector<std::int64_t> pivots(a.size());
      Options usual = usual_products(options);
      ASSERT_EQ(factor_lu(Level3<double>(usual), n, n, f.data(), n, pivots.data()), 0);
      invert_triangle(Uplo::upper, n, f.data(), x.data(), options);
      const std::vector<double> columns = column_norms(n, a.data(), n, options);
      const RemainderRange range(n, f.data(), x.data(), columns, options);
      for (std::int64_t j = 0; j < n; ++j) std::fill(x.begin() + j * (n + 1) + 1, x.begin() + (j + 1) * n, 0.0);
      usual.contract.reproducible = true;
      Level3<double>::of_one_thread(usual).solve({Side::right, Uplo::lower, Op::none, Diag::unit}, n, n, f.data(), n,
                                                 x.data(), n);
      const std::vector<double> rows = row_norms(n, x.data(), options);
      const double share = range.share(x.data(), rows);
      EXPECT_LT(share, 0x1p-30) << condition;
      Square pa = a;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) std::swap(pa[at(i, j, n)], pa[at(pivots[at(i, 0, n)] - 1, j, n)]);
      for (const int moduli : {5, 8, 9, 10, 12}) {
        const int budget = norm_budget_within(moduli, n, share);
        const double norm = std::exp2(budget / 32.0), root = std::sqrt(static_cast<double>(n)) / 2 * (1 + 0x1p-40);
        ASSERT_LT(norm_budget_within(moduli, n, 1), budget);
        Square few(a.size(), 3.0);
        const GemmCall<double> call{Op::none, Op::none, n, n, n, -1, x.data(), n, pa.data(), n, 0, few.data(), n};
        std::vector<int> row_scales(rows.size()), column_scales(rows.size());
        ASSERT_TRUE(gemm_within(call, moduli, share, {row_scales.data(), column_scales.data()}, {.threads = 2}));
        int beyond = 0;
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = j % 11; i < n; i += 11) {
            const double row = rows[at(i, 0, n)], column = columns[at(j, 0, n)],
                         row_half = std::ldexp(root, -row_scales[at(i, 0, n)]),
                         column_half = std::ldexp(root, -column_scales[at(j, 0, n)]),
                         modulo = std::exp2(log2_product_of_moduli(moduli) - row_scales[at(i, 0, n)] -
                                            column_scales[at(j, 0, n)]);
            for (const double scaled :
                 {std::ldexp(row, row_scales[at(i, 0, n)]), std::ldexp(column, column_scales[at(j, 0, n)])}) {
              ASSERT_LE(scaled, norm * (1 + 0x1p-30));
              ASSERT_GT(scaled, norm / 2.1);
            }
            LongAccumulator exact;
            exact.add_product(i == j ? 1 : 0, 1);
            for (std::int64_t l = 0; l < n; ++l) exact.add_product(x[at(i, l, n)], -pa[at(l, j, n)]);
            const double off = exact.rounded<double>(), found = few[at(i, j, n)] + (i == j ? 1 : 0),
                         e = i == j ? std::remainder(found, modulo) : found;
            const double bound = row_half * column + (row + row_half) * column_half;
            ASSERT_LE(std::fabs(off), share * row * column);
            ASSERT_LE(std::fabs(e - off), bound + std::fabs(e) * 0x1p-52 + (i == j ? (1 + modulo) * 0x1p-41 : 0))
                << condition << ' ' << n << ' ' << moduli << ' ' << i << ' ' << j;
            beyond += std::fabs(e - off) > bound * 0x1p-10 ? 1 : 0;
            wrapped += std::fabs(found - e) > modulo / 2 ? 1 : 0;
          }
        EXPECT_TRUE(beyond > 0 || norm > 0x1p58) << moduli << ": more bits than so many hold";
      }
    }
  EXPECT_GT(wrapped, 30);
}

TEST(Remainder, WhatIsTooWideForARangeHasNone) {
  constexpr std::int64_t n = 20;
  Square f = scattered(n, 0.5, 4), x = f;
  const std::vector<double> rows = row_norms(n, x.data(), {});
  std::vector<double> columns = rows;
  EXPECT_LT(RemainderRange(n, f.data(), x.data(), columns, {}).share(x.data(), rows), 100);
  columns[3] = 0x1p-300;
  EXPECT_EQ(RemainderRange(n, f.data(), x.data(), columns, {}).share(x.data(), rows), INFINITY);
  columns[3] = 1, f[at(2, 2, n)] = INFINITY;
  EXPECT_EQ(RemainderRange(n, f.data(), x.data(), columns, {}).share(x.data(), rows), INFINITY);
  f[at(2, 2, n)] = 1, x[at(3, 2, n)] = NAN;
  EXPECT_EQ(RemainderRange(n, f.data(), x.data(), columns, {}).share(x.data(), rows), INFINITY);
}

TEST(Remainder, MoreBitsThanResiduesHoldAreRefused) {
  EXPECT_FALSE(remainder_by_norms(100, 0x1p105).enough);
  EXPECT_FALSE(remainder_by_norms(1000000, 1).enough);
  EXPECT_FALSE(remainder_by_norms(100, INFINITY).enough);
}

TEST(Remainder, NormsAreBoundedFromAbove) {
  constexpr std::int64_t n = 67;
  for (const int exponent : {0, 500, -530, -1060}) {
    Square x = scattered(n, 1, 3);
    for (double& e : x) e = std::ldexp(e, exponent);
    const std::vector<double> rows = row_norms(n, x.data(), {.threads = 3}),
                              columns = column_norms(n, x.data(), n, {.threads = 3});
    for (std::int64_t i = 0; i < n; ++i) {
      double row = 0, column = 0;  // scaled, rounded to nearest: the bounds are above by more than that
      for (std::int64_t l = 0; l < n; ++l) {
        row = std::hypot(row, std::ldexp(x[at(i, l, n)], -exponent));
        column = std::hypot(column, std::ldexp(x[at(l, i, n)], -exponent));
      }
      EXPECT_GE(std::ldexp(rows[at(i, 0, n)], -exponent), row * (1 - 0x1p-45));
      EXPECT_GE(std::ldexp(columns[at(i, 0, n)], -exponent), column * (1 - 0x1p-45));
      if (exponent == 0) {
        EXPECT_LE(rows[at(i, 0, n)], row * (1 + 0x1p-40));
        EXPECT_LE(columns[at(i, 0, n)], column * (1 + 0x1p-40));
      }
    }
  }
}

}  // namespace
}  // namespace vernier::test::remainder_test
