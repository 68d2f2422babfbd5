// Systems solved to the digits of dd, and proofs of their errors, against exact integers.
#include <gtest/gtest.h>

#include <cmath>

#include "quad_sums.hpp"
#include "residue/quad/dd_arithmetic.hpp"

namespace vernier::test::quad_solve_test {
namespace {

TEST(QuadSolve, BoundsTheBackwardErrorWhereTheNormOverflows) {
  const double a[4] = {0x1.1p1023, 0x1.2p1023, 0x1.8p1022, 0x1.cp1023}, b[2] = {0x1.3p1022, 0x1.7p1021};
  Entries x(2);
  const QuadSolveReport report = quad_solve(2, 1, a, 2, b, 2, x.data(), 2);
  mpz_class worst = 0;
  for (int i = 0; i < 2; ++i) {
    const mpz_class residual = (exact_value(b[i]) << unit_shift) - exact_value(a[i]) * exact_value_of(x[0]) -
                               exact_value(a[i + 2]) * exact_value_of(x[1]);
    worst = std::max(worst, mpz_class(abs(residual)));
  }
  const mpz_class norm = exact_value(0x1.1p1023) + exact_value(0x1.8p1022),
                  other = exact_value(0x1.2p1023) + exact_value(0x1.cp1023),
                  size = std::max(mpz_class(abs(exact_value_of(x[0]))), mpz_class(abs(exact_value_of(x[1]))));
  const mpz_class divisor = std::max(norm, other) * size + (exact_value(b[0]) << unit_shift);
  EXPECT_GE(report.backward_error, mpq_class(worst, divisor).get_d());
  EXPECT_TRUE(report.ok) << report.text();
}

// A = the Hilbert matrix times the least common multiple of its denominators, X = ones: both exact.
TEST(QuadSolve, SolvesTheHilbertMatrixToAllDigits) {
  for (const auto& [n, factors] : {std::pair<std::int64_t, const char*>{8, "fp64"}, {14, "dd"}, {18, "dd"}}) {
    mpz_class multiple = 1;
    for (unsigned long d = 2; d < static_cast<unsigned long>(2 * n); ++d)
      mpz_lcm_ui(multiple.get_mpz_t(), multiple.get_mpz_t(), d);
    std::vector<double> a(static_cast<std::size_t>(n * n));
    Entries b(static_cast<std::size_t>(n)), x(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      mpz_class sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const mpz_class entry = multiple / static_cast<unsigned long>(i + j + 1);
        ASSERT_LT(entry, mpz_class(1) << 53);
        a[at(i, j, n)] = entry.get_d();
        sum += entry;
      }
      b[static_cast<std::size_t>(i)] =
          rounded_to(sum << unit_shift, exact_unit, Rounding::nearest, static_cast<const dd*>(nullptr));
    }
    const QuadSolveReport report = quad_solve(n, 1, a.data(), n, b.data(), n, x.data(), n, {.verified = true});
    EXPECT_TRUE(report.ok) << report.text();
    EXPECT_EQ(report.factors, factors) << n;
    EXPECT_TRUE(report.verified);
    for (const dd& e : x) EXPECT_LE(std::fabs((e.hi - 1) + e.lo), report.forward_error) << report.text();
    if (n < 18) {
      EXPECT_LE(report.forward_error, 1e-28) << report.text();
    }
  }
}

TEST(QuadSolve, ReachesTheLastDigitOfManyRightHandSides) {
  const std::int64_t n = 90, columns = 5;
  const Entries a = random_entries(n * n, 6), b = random_entries(n * columns, 7);
  Entries x(b.size());
  const QuadSolveReport report = quad_solve(n, columns, a.data(), n, b.data(), n, x.data(), n);
  ASSERT_TRUE(report.ok) << report.text();
  EXPECT_EQ(report.factors, "fp64");
  EXPECT_LE(report.forward_error, 0x1p-103);
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t i = 0; i < n; i += 11) {
      Difference d;
      for (std::int64_t l = 0; l < n; ++l) d.add(a[at(i, l, n)], x[at(l, c, n)]);
      d.subtract(b[at(i, c, n)]);
      EXPECT_LE(d.relative(), 0x1p-103);
    }
}

// Integers, whose last column is nearly the sum of two others, times a known X; in dd with a small share of each more.
TEST(QuadSolve, ProvesItsForwardError) {
  for (const bool wide : {false, true})
    for (const int bits : {10, 18, 26}) {
      const std::int64_t n = 60, columns = 3;
      Random random(static_cast<std::uint64_t>(bits));
      Entries a(static_cast<std::size_t>(n * n)), x(static_cast<std::size_t>(n * columns));
      std::vector<double> leads(a.size());
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
          double& lead = leads[at(i, j, n)];
          lead = std::rint(std::ldexp(random.scattered(0), bits));
          if (j == n - 1) lead = leads[at(i, 0, n)] + leads[at(i, 1, n)] + static_cast<double>(i % 3 - 1);
          a[at(i, j, n)] = dd(lead, wide ? static_cast<double>(i * j % 19 - 9) * 0x1p-40 : 0);
        }
      std::vector<mpq_class> known;
      Entries b(x.size());
      for (std::size_t e = 0; e < x.size(); ++e) known.emplace_back(static_cast<long>(e * e % 97) - 48);
      for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t i = 0; i < n; ++i) {
          mpq_class sum = 0;
          for (std::int64_t j = 0; j < n; ++j)
            sum += (mpq_class(a[at(i, j, n)].hi) + a[at(i, j, n)].lo) * known[at(j, c, n)];
          dd& e = b[at(i, c, n)];
          e.hi = sum.get_d(), e.lo = mpq_class(sum - e.hi).get_d();
          ASSERT_EQ(mpq_class(e.hi) + e.lo, sum);  // so that X is the exact solution
        }
      const QuadOptions proved{.verified = true};
      const QuadSolveReport report = wide ? quad_solve(n, columns, a.data(), n, b.data(), n, x.data(), n, proved)
                                          : quad_solve(n, columns, leads.data(), n, b.data(), n, x.data(), n, proved);
      ASSERT_TRUE(report.ok && report.verified) << report.text();
      EXPECT_LT(report.forward_error, 0x1p-100) << report.text();
      for (std::int64_t c = 0; c < columns; ++c) {
        mpq_class error = 0, size = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          const mpq_class got = mpq_class(x[at(i, c, n)].hi) + x[at(i, c, n)].lo;
          error = std::max(error, mpq_class(abs(got - known[at(i, c, n)]))), size = std::max(size, mpq_class(abs(got)));
        }
        EXPECT_LE(error, size * report.forward_error);
      }
    }
}

// Solutions that come near the least and the largest numbers, or pass them, lose digits; neither error hides that, nor
// does a column beside another.
TEST(QuadSolve, TellsWhatTheRangeOfDoubleTakes) {
  const double values[] = {0x1p-399,       0x1p-405,  0x1p-960, 0x1p-990, 1e-310,
                           11 * 0x1p-1074, 0x1p-1074, 1.0,      0x1p500,  0x1.6p1019};
  for (const double a : {3.0, 0.85, 3 * 0x1p560, 3 * 0x1p-230, 3 * 0x1p-600, 3 * 0x1p-1000})
    for (const double b : values)
      for (const double beside : {1.0, 0x1p-245, 0x1.6p1019}) {
        const double both[] = {b, beside};
        dd x[2];
        const QuadSolveReport report = quad_solve(1, 2, &a, 1, both, 1, x, 1, {.threads = 1, .verified = true});
        for (int c = 0; c < 2; ++c) {
          if (!std::isfinite(x[c].hi)) {
            EXPECT_FALSE(report.ok || report.verified) << report.text();
            continue;
          }
          const mpq_class got = mpq_class(x[c].hi) + x[c].lo, error = abs(got - mpq_class(both[c]) / a);
          if (report.verified && std::isfinite(report.forward_error)) {
            EXPECT_LE(error, abs(got) * report.forward_error) << a << ' ' << both[c] << '\n' << report.text();
          }
          if (std::isfinite(report.backward_error)) {
            EXPECT_LE(error * a, (abs(got) * a + both[c]) * report.backward_error) << a << ' ' << both[c] << '\n'
                                                                                   << report.text();
          }
        }
      }
}

// x with A x = b, by Gauss and Jordan.
std::vector<mpq_class> exact_solution(std::int64_t n, const Entries& a, const Entries& b) {
  const auto value = [](const dd& e) { return mpq_class(mpq_class(e.hi) + e.lo); };
  std::vector<mpq_class> m, x;
  for (const dd& e : a) m.push_back(value(e));
  for (const dd& e : b) x.push_back(value(e));
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t pivot = j;
    while (m[at(pivot, j, n)] == 0) ++pivot;
    for (std::int64_t l = 0; l < n; ++l) std::swap(m[at(j, l, n)], m[at(pivot, l, n)]);
    std::swap(x[at(j, 0, n)], x[at(pivot, 0, n)]);
    for (std::int64_t i = 0; i < n; ++i) {
      const mpq_class factor = m[at(i, j, n)] / m[at(j, j, n)];
      if (i == j || factor == 0) continue;
      for (std::int64_t l = j; l < n; ++l) m[at(i, l, n)] -= factor * m[at(j, l, n)];
      x[at(i, 0, n)] -= factor * x[at(j, 0, n)];
    }
  }
  for (std::int64_t i = 0; i < n; ++i) x[at(i, 0, n)] /= m[at(i, i, n)];
  return x;
}

// |A||X|, or a bound of |A^-1|, passes the largest number.
TEST(QuadSolve, ProvesNothingByProductsThatOverflow) {
  const std::vector<double> matrices[] = {{-2, -1, -2, 1, -2, 1, 0, 0, 0, 0, 1, 1, -2, -2, -2, 2},
                                          {-0x0.676e782b09e39p-1022, 15 * 0x1p-1074, -8 * 0x1p-1074,
                                           -0x1.3d037ebafe85p-1}},
                            sides[] = {{0x1.04p+497, 0x1.4ap-3, -0x1.f5p+1019, -0x1p-1072},
                                       {-0x1.5598d3d676a85p-968, 0x1.ea7b147bad96ap-989}};
  for (int k = 0; k < 2; ++k) {
    const auto n = static_cast<std::int64_t>(sides[k].size());
    Entries x(sides[k].size());
    const QuadSolveReport report =
        quad_solve(n, 1, matrices[k].data(), n, sides[k].data(), n, x.data(), n, {.threads = 1, .verified = true});
    const std::vector<mpq_class> exact =
        exact_solution(n, Entries(matrices[k].begin(), matrices[k].end()), Entries(sides[k].begin(), sides[k].end()));
    mpq_class error = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const mpq_class got = mpq_class(x[i].hi) + x[i].lo;
      error = std::max(error, mpq_class(abs(got - exact[i]))), size = std::max(size, mpq_class(abs(got)));
    }
    if (report.verified && std::isfinite(report.forward_error)) {
      EXPECT_LE(error, size * report.forward_error) << report.text();
    }
  }
}

// Rows that differ from one another by 2^-digits alone, columns 2^grade apart, all of them 2^scale.
TEST(QuadSolve, ProvesNoErrorThatIsTooSmall) {
  int proved = 0, asked = 0;
  for (const std::int64_t n : {1, 2, 5, 9})
    for (const int digits : {0, 20, 40, 47})
      for (const int grade : {0, 9})
        for (const int scale : {0, -930, 900})
          for (const bool wide : {false, true}) {
            Random random(static_cast<std::uint64_t>(++asked));
            Entries a(static_cast<std::size_t>(n * n)), b(static_cast<std::size_t>(n)), x(b.size());
            std::vector<double> leads;
            for (std::int64_t j = 0; j < n; ++j) {
              const double same = digits == 0 ? 0 : random.scattered(0.5);
              for (std::int64_t i = 0; i < n; ++i) {
                const int exponent = scale + grade * static_cast<int>(j);
                const double lead = std::ldexp(same + std::ldexp(random.scattered(0.5), -digits), exponent);
                leads.push_back(lead);
                a[at(i, j, n)] = dd(lead, wide ? lead * 0x1p-54 * random.uniform() : 0);
              }
            }
            for (dd& e : b) e = dd(random.scattered(0.5), random.scattered(0.5) * 0x1p-54);
            const QuadOptions verified{.threads = 1, .verified = true};
            const QuadSolveReport report = wide ? quad_solve(n, 1, a.data(), n, b.data(), n, x.data(), n, verified)
                                                : quad_solve(n, 1, leads.data(), n, b.data(), n, x.data(), n, verified);
            if (!report.verified) continue;
            ++proved;
            const std::vector<mpq_class> known = exact_solution(n, a, b);
            mpq_class error = 0, size = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
              const mpq_class got = mpq_class(x[i].hi) + x[i].lo;
              error = std::max(error, mpq_class(abs(got - known[i]))), size = std::max(size, mpq_class(abs(got)));
            }
            EXPECT_LE(error, size * report.forward_error) << report.text();
            EXPECT_LE(report.forward_error, 1e-28) << report.text();
          }
  EXPECT_EQ(proved, asked);
}

// Below some 2^-960 a dd has no room for its low part: tiny matrices are solved as if they were not.
TEST(QuadSolve, SolvesTinySystemsAsOthers) {
  const std::int64_t n = 20;
  Random random(5);
  std::vector<double> a, b, tiny_a, tiny_b;
  for (std::int64_t e = 0; e < n * n; ++e) a.push_back(random.scattered(0.5)), tiny_a.push_back(a.back() * 0x1p-950);
  for (std::int64_t e = 0; e < n; ++e) b.push_back(random.scattered(0.5)), tiny_b.push_back(b.back() * 0x1p-970);
  Entries x(static_cast<std::size_t>(n)), tiny_x(x.size());
  ASSERT_TRUE(quad_solve(n, 1, a.data(), n, b.data(), n, x.data(), n).ok);
  const QuadSolveReport report = quad_solve(n, 1, tiny_a.data(), n, tiny_b.data(), n, tiny_x.data(), n);
  EXPECT_TRUE(report.ok) << report.text();
  EXPECT_LT(report.forward_error, 1e-28);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const dd back(tiny_x[i].hi * 0x1p20, tiny_x[i].lo * 0x1p20);
    EXPECT_LE(std::fabs((back.hi - x[i].hi) + (back.lo - x[i].lo)), 0x1p-100 * std::fabs(x[i].hi)) << i;
  }
}

// A third row of multiples of two others, which dd holds exactly: factors in dd end with a zero, those of fp64 do not.
TEST(QuadSolve, KeepsASolutionWhereItFindsNoProof) {
  Random random(9);
  const auto draw = [&] { return std::ldexp(static_cast<double>(random.integer(1, (1 << 29) - 1)), -29); };
  int kept = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const double a = draw(), b = draw(), c = draw(), f = std::floor(draw() * 0x1p28) * 0x1p-29,
                 g = std::floor(draw() * 0x1p28) * 0x1p-29;
    const auto product = [](double x, double y) { return dd(x * y, std::fma(x, y, -(x * y))); };
    const Entries m = {
        dd(1), dd(0), dd(f), dd(a), dd(1), product(f, a) + dd(g), dd(b), dd(c), product(f, b) + product(g, c)};
    const Entries right = {dd(1) + dd(a) + dd(b), dd(1) + dd(c), m[2] + m[5] + m[8]};
    for (const bool verified : {false, true}) {
      Entries x(3, dd(7));
      const QuadSolveReport report =
          quad_solve(3, 1, m.data(), 3, right.data(), 3, x.data(), 3, {.threads = 1, .verified = verified});
      EXPECT_FALSE(report.verified);
      EXPECT_EQ(report.ok, report.info == 0) << report.text();
      EXPECT_EQ(report.ok, x[0].hi != 7) << report.text();
      kept += report.ok && verified ? 1 : 0;
    }
  }
  EXPECT_GT(kept, 0);
}

TEST(QuadSolve, SaysWhereAMatrixIsSingular) {
  const double a[4] = {1, 2, 2, 4};
  const dd b[2] = {dd(1), dd(1)};
  dd x[2] = {dd(7), dd(7)};
  const QuadSolveReport report = quad_solve(2, 1, a, 2, b, 2, x, 2);
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(report.info, 2);
  EXPECT_EQ(x[0], dd(7));
  const double bad[1] = {NAN};
  EXPECT_THROW((void)quad_solve(1, 1, bad, 1, b, 1, x, 1), Error);
}

}  // namespace
}  // namespace vernier::test::quad_solve_test
