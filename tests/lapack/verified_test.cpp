// Enclosures against rational arithmetic: none may miss the exact answer.
#include "vernier/verified.hpp"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lapack/verified/enclose.hpp"
#include "lapack/verified/upward.hpp"
#include "support/exact.hpp"
#include "support/random.hpp"

namespace vernier::test::verified_test {
namespace {

using Square = std::vector<double>;
using Rationals = std::vector<mpq_class>;

std::size_t at(std::int64_t i, std::int64_t j, std::int64_t ld) { return static_cast<std::size_t>(i + j * ld); }

Square scattered(std::int64_t count, std::uint64_t seed, double phi = 0.5) {
  Random r(seed);
  Square x(static_cast<std::size_t>(count));
  for (double& e : x) e = r.scattered(phi);
  return x;
}

// Gauss and Jordan on [A B], and the determinant of A.
Rationals exact_solution(std::int64_t n, std::int64_t columns, const Square& a, const Square& b,
                         mpq_class& determinant) {
  Rationals m(static_cast<std::size_t>(n * (n + columns)));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) m[at(i, j, n)] = a[at(i, j, n)];
    for (std::int64_t j = 0; j < columns; ++j) m[at(i, n + j, n)] = b[at(i, j, n)];
  }
  determinant = 1;
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t pivot = j;
    while (m[at(pivot, j, n)] == 0) ++pivot;
    if (pivot != j) {
      determinant = -determinant;
      for (std::int64_t l = 0; l < n + columns; ++l) std::swap(m[at(j, l, n)], m[at(pivot, l, n)]);
    }
    determinant *= m[at(j, j, n)];
    const mpq_class inverse = 1 / m[at(j, j, n)];
    for (std::int64_t l = j; l < n + columns; ++l) m[at(j, l, n)] *= inverse;
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == j || m[at(i, j, n)] == 0) continue;
      const mpq_class factor = m[at(i, j, n)];
      for (std::int64_t l = j; l < n + columns; ++l) m[at(i, l, n)] -= factor * m[at(j, l, n)];
    }
  }
  return {m.begin() + static_cast<std::ptrdiff_t>(n * n), m.end()};
}

Square identity(std::int64_t n) {
  Square x(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) x[at(i, i, n)] = 1;
  return x;
}

struct Family {
  const char* name;
  Square a;
  bool verifiable;
};

std::vector<Family> families(std::int64_t n, std::uint64_t seed) {
  std::vector<Family> list{{"random", scattered(n * n, seed), true}, {"wide", scattered(n * n, seed + 1, 4), true}};
  Square graded = scattered(n * n, seed + 2), vandermonde(graded.size()), hilbert(graded.size()),
         near_singular = graded;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      graded[at(i, j, n)] = std::ldexp(graded[at(i, j, n)], static_cast<int>(3 * i - 2 * j));
      vandermonde[at(i, j, n)] = std::pow(1 + static_cast<double>(i) / static_cast<double>(n), static_cast<double>(j));
      hilbert[at(i, j, n)] = 1 / static_cast<double>(i + j + 1);
    }
  for (std::int64_t i = 0; i < n; ++i)
    near_singular[at(i, n - 1, n)] = near_singular[at(i, 0, n)] + std::ldexp(near_singular[at(i, n - 1, n)], -30);
  list.push_back({"graded", graded, true});
  list.push_back({"near singular", near_singular, true});
  list.push_back({"Vandermonde", vandermonde, n <= 8});
  list.push_back({"Hilbert", hilbert, n <= 8});
  return list;
}

TEST(VerifiedSolve, EnclosesTheExactSolutionOrSaysNo) {
  for (const std::int64_t n : {1, 7, 24})
    for (const Family& f : families(n == 1 ? 2 : n, 100 + static_cast<std::uint64_t>(n))) {
      const std::int64_t size = n == 1 ? 2 : n, columns = 2;
      const Square b = scattered(size * columns, 7);
      mpq_class determinant;
      const Rationals exact = exact_solution(size, columns, f.a, b, determinant);
      Square low(b.size(), 3), high(b.size(), -3);
      const VerifiedReport report =
          verified_solve(size, columns, f.a.data(), size, b.data(), size, low.data(), high.data(), size);
      EXPECT_TRUE(report.verified || !f.verifiable) << f.name << ' ' << n << report.text();
      for (std::size_t e = 0; e < exact.size(); ++e) {
        if (!report.verified) {
          EXPECT_EQ(low[e], 3) << "outputs are untouched";
          continue;
        }
        EXPECT_LE(mpq_class(low[e]), exact[e]) << f.name << ' ' << n;
        EXPECT_GE(mpq_class(high[e]), exact[e]) << f.name << ' ' << n;
        if (f.name == std::string("random")) {
          EXPECT_LE(high[e] - low[e], 0x1p-50 * std::fabs(exact[e].get_d())) << n;
        }
      }
    }
}

// |R||A| asks for more bits of R A than residues hold of exponents as wide.
TEST(VerifiedSolve, ServesDataThatAreTooWideForBits) {
  const double a[] = {0x1p40, 0x1p190, 0x1p-33, 0x1p121}, b[] = {0x1.cp40, 0x1.ap193}, x[] = {1, 0x1.8p72};
  double low[2], high[2];
  const VerifiedReport report = verified_solve(2, 1, a, 2, b, 2, low, high, 2);
  ASSERT_TRUE(report.verified) << report.text();
  for (int i = 0; i < 2; ++i) {
    EXPECT_LE(low[i], x[i]);
    EXPECT_GE(high[i], x[i]);
    EXPECT_LE(high[i] - low[i], 0x1p-51 * x[i]);
  }
}

// Large enough for proofs by factors, and by R A: conditions of some 1e5, 1e9 and 1e14.
TEST(VerifiedSolve, EnclosesKnownSolutionsOfLargerSystems) {
  constexpr std::int64_t n = 260;
  struct Case {
    int bits, apart;
    std::int64_t columns;
    double most;  // contraction
  };
  for (const auto& [bits, apart, columns, most] :
       {Case{20, 0, 2, 0x1p-8}, {20, 19, 2, 1}, {34, 33, 2, 1}, {34, 33, 9, 1}}) {
    Random r(31);
    const auto count = static_cast<std::size_t>(n * columns);
    Square a(n * n), x(count), b(count, 0), low(count), high(count);
    for (double& e : a) e = static_cast<double>(r.integer(-(std::int64_t{1} << bits), std::int64_t{1} << bits));
    for (std::int64_t i = 0; apart != 0 && i < n; ++i)
      a[at(i, 1, n)] = a[at(i, 0, n)] + std::round(std::ldexp(a[at(i, 1, n)], -apart));
    for (double& e : x) e = static_cast<double>(r.integer(-1000, 1000));
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t l = 0; l < n; ++l)
        for (std::int64_t i = 0; i < n; ++i) b[at(i, j, n)] += a[at(i, l, n)] * x[at(l, j, n)];  // whole numbers
    const VerifiedReport report = verified_solve(n, columns, a.data(), n, b.data(), n, low.data(), high.data(), n);
    ASSERT_TRUE(report.verified) << report.text();
    EXPECT_LT(report.contraction, most);
    for (std::size_t e = 0; e < x.size(); ++e) {
      EXPECT_LE(low[e], x[e]);
      EXPECT_GE(high[e], x[e]);
      EXPECT_LE(high[e] - low[e], 0x1p-48 * std::max(1.0, std::fabs(x[e]))) << apart << ' ' << columns;
    }
  }
}

TEST(VerifiedSolve, BoundsTheNormOfTheInverse) {
  for (const std::int64_t n : {1, 5, 24}) {
    const Square a = scattered(n * n, 17), b = scattered(2 * n, 18);
    mpq_class determinant, norm = 0;
    const Rationals inverse = exact_solution(n, n, a, identity(n), determinant);
    for (std::int64_t i = 0; i < n; ++i) {
      mpq_class sum = 0;
      for (std::int64_t j = 0; j < n; ++j) sum += abs(inverse[at(i, j, n)]);
      norm = std::max(norm, sum);
    }
    Square low(b.size()), high(b.size());
    double bound = 0;
    const VerifiedReport report =
        prove_solution({n, 2, a.data(), b.data(), n, n, low.data(), high.data(), n, &bound}, {});
    ASSERT_TRUE(report.verified);
    EXPECT_LE(norm, mpq_class(bound));
    EXPECT_LE(bound, norm.get_d() * (1 + 2 * report.contraction + 1e-12));
  }
}

TEST(VerifiedSolve, TakesNoEquations) {
  const double* const none = nullptr;
  EXPECT_TRUE(verified_solve(0, 2, none, 1, none, 1, nullptr, nullptr, 1).verified);
  EXPECT_TRUE(verified_inverse(0, none, 1, nullptr, nullptr, 1).verified);
}

TEST(VerifiedInverse, EnclosesTheExactInverse) {
  for (const Family& f : families(12, 200)) {
    mpq_class determinant;
    const Rationals exact = exact_solution(12, 12, f.a, identity(12), determinant);
    Square low(144), high(144);
    const VerifiedReport report = verified_inverse(12, f.a.data(), 12, low.data(), high.data(), 12);
    EXPECT_TRUE(report.verified || !f.verifiable) << f.name << report.text();
    for (std::size_t e = 0; report.verified && e < 144; ++e) {
      EXPECT_LE(mpq_class(low[e]), exact[e]) << f.name;
      EXPECT_GE(mpq_class(high[e]), exact[e]) << f.name;
    }
  }
}

mpq_class scaled(double x, std::int64_t exponent) {
  mpq_class value = x;
  return exponent < 0 ? mpq_class(value >> static_cast<unsigned long>(-exponent))
                      : mpq_class(value << static_cast<unsigned long>(exponent));
}

TEST(VerifiedDeterminant, EnclosesTheExactDeterminant) {
  for (const std::int64_t n : {3, 20})
    for (const Family& f : families(n, 300)) {
      mpq_class exact;
      exact_solution(n, 0, f.a, {}, exact);
      DeterminantInterval d;
      const VerifiedReport report = verified_determinant(n, f.a.data(), n, d);
      EXPECT_TRUE(report.verified || !f.verifiable) << f.name << report.text();
      if (!report.verified) continue;
      EXPECT_LE(scaled(d.low, d.exponent), exact) << f.name;
      EXPECT_GE(scaled(d.high, d.exponent), exact) << f.name;
      EXPECT_LT(d.high - d.low, 1e-3) << f.name;
    }
  const double singular[4] = {1, 2, 2, 4};
  DeterminantInterval d;
  EXPECT_FALSE(verified_determinant(2, singular, 2, d).verified);
}

TEST(VerifiedDefinite, BoundsTheLeastEigenvalue) {
  // The second difference matrix: least eigenvalue 2 - 2 cos(pi / (n + 1)).
  const std::int64_t n = 60;
  Square a(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    a[at(i, i, n)] = 2;
    if (i + 1 < n) a[at(i + 1, i, n)] = -1;
  }
  const double least = 2 - 2 * std::cos(M_PI / 61);
  double bound = -1;
  EXPECT_TRUE(verified_definite(n, a.data(), n, bound).verified);
  EXPECT_GT(bound, 0.2 * least);
  EXPECT_LE(bound, least * (1 + 1e-12));
  for (std::int64_t i = 0; i < n; ++i) a[at(i, i, n)] -= least * 1.0001;
  const VerifiedReport report = verified_definite(n, a.data(), n, bound);
  EXPECT_FALSE(report.verified);
  EXPECT_EQ(bound, 0);
  EXPECT_NE(report.reason, "");
}

// The sharp product of interval matrices, entry by entry: the sum of the ranges of the products.
void exact_range(std::int64_t k, const double* al, const double* ah, std::int64_t a_step, const double* bl,
                 const double* bh, mpq_class& low, mpq_class& high) {
  low = high = 0;
  for (std::int64_t l = 0; l < k; ++l) {
    const mpq_class p[4] = {mpq_class(al[l * a_step]) * bl[l], mpq_class(al[l * a_step]) * bh[l],
                            mpq_class(ah[l * a_step]) * bl[l], mpq_class(ah[l * a_step]) * bh[l]};
    low += *std::min_element(p, p + 4), high += *std::max_element(p, p + 4);
  }
}

TEST(IntervalProducts, EncloseAllProductsAndAreAtMostTwiceAsWide) {
  const std::int64_t m = 12, n = 9, k = 30;
  for (const double width : {0.0, 1e-12, 1e-3, 1.0}) {
    Square al = scattered(m * k, 11), bl = scattered(k * n, 12), ah = al, bh = bl, cl(m * n), ch(m * n), cm(m * n),
           cr(m * n);
    Random r(13);
    for (double& x : ah) x += width * r.uniform();
    for (double& x : bh) x += width * r.uniform();
    interval_gemm_ends(Op::none, Op::none, m, n, k, al.data(), ah.data(), m, bl.data(), bh.data(), k, cl.data(),
                       ch.data(), m);
    Square am(al.size()), ar(al.size()), bm(bl.size()), br(bl.size());
    for (std::size_t e = 0; e < al.size(); ++e)
      am[e] = al[e] / 2 + ah[e] / 2, ar[e] = std::nextafter(std::max(ah[e] - am[e], am[e] - al[e]), 1e9);
    for (std::size_t e = 0; e < bl.size(); ++e)
      bm[e] = bl[e] / 2 + bh[e] / 2, br[e] = std::nextafter(std::max(bh[e] - bm[e], bm[e] - bl[e]), 1e9);
    interval_gemm(Op::none, Op::none, m, n, k, am.data(), ar.data(), m, bm.data(), br.data(), k, cm.data(), cr.data(),
                  m);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        mpq_class low, high;
        exact_range(k, al.data() + i, ah.data() + i, m, bl.data() + j * k, bh.data() + j * k, low, high);
        const double c_low = cl[at(i, j, m)], c_high = ch[at(i, j, m)], mid = cm[at(i, j, m)], rad = cr[at(i, j, m)];
        EXPECT_LE(mpq_class(c_low), low);
        EXPECT_GE(mpq_class(c_high), high);
        EXPECT_LE(mpq_class(mid) - rad, low);
        EXPECT_GE(mpq_class(mid) + rad, high);
        const double best = mpq_class(high - low).get_d(), unit = std::fabs(mid) * 0x1p-52;
        EXPECT_LE(c_high - c_low, 2 * best + 4 * unit);
        EXPECT_LE(2 * rad, 2 * best + 60 * unit);
        if (width == 0) {
          EXPECT_LE(c_high, std::nextafter(c_low, 1e9));
        }
      }
  }
}

TEST(VerifiedDefinite, DoesNotReadTheUpperTriangle) {
  const double a[4] = {2, -1, NAN, 2};
  double bound = 0;
  EXPECT_TRUE(verified_definite(2, a, 2, bound).verified);
  EXPECT_LE(bound, 1);
  const double bad[4] = {2, NAN, 0, 2};
  EXPECT_THROW(static_cast<void>(verified_definite(2, bad, 2, bound)), Error);
}

TEST(VerifiedDeterminant, EnclosesWhereInversesOfFactorsAreSubnormal) {
  for (const double x : {0x1.3p1023, 0x1.3p-1023}) {
    const double a[4] = {x, x / 4, -x / 2, x};
    DeterminantInterval d;
    if (!verified_determinant(2, a, 2, d).verified) continue;
    const mpq_class exact = mpq_class(x) * x * 9 / 8;
    EXPECT_LE(scaled(d.low, d.exponent), exact);
    EXPECT_GE(scaled(d.high, d.exponent), exact);
  }
}

TEST(IntervalProducts, HaveInfiniteRadiiWhereMagnitudesOverflow) {
  const double most = std::numeric_limits<double>::max(), mid[2] = {0, 0}, rad[2] = {0, 0x1p-600}, b[2] = {most, most};
  double c = 1, r = 1;
  interval_gemm(Op::none, Op::none, 1, 1, 2, mid, rad, 1, b, b, 2, &c, &r, 1);
  EXPECT_EQ(c, 0);
  EXPECT_EQ(r, std::numeric_limits<double>::infinity());
}

TEST(IntervalProducts, AddEndsUpwardsWhereSumsOverflow) {
  const double most = std::numeric_limits<double>::max(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum_up(most, most), infinity);
  EXPECT_EQ(sum_up(-most, -most), -most);
  EXPECT_EQ(sum_down(most, most), most);
  EXPECT_EQ(sum_down(-infinity, 1), -infinity);
}

TEST(IntervalProducts, RefuseWhatIsNoInterval) {
  double x[1] = {1}, y[1] = {0}, bad[1] = {-1}, c[1] = {5}, d[1] = {6};
  EXPECT_THROW(interval_gemm_ends(Op::none, Op::none, 1, 1, 1, x, y, 1, x, x, 1, c, d, 1), Error);
  EXPECT_THROW(interval_gemm(Op::none, Op::none, 1, 1, 1, x, bad, 1, x, nullptr, 1, c, d, 1), Error);
  EXPECT_EQ(c[0], 5);
}

}  // namespace
}  // namespace vernier::test::verified_test
