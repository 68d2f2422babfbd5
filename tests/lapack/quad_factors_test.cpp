// Factors in dd and binary128, and solutions by them, against exact integers.
#include <gtest/gtest.h>

#include "quad_sums.hpp"

namespace vernier::test::quad_factors_test {
namespace {

#if defined(__SIZEOF_FLOAT128__)
TEST(QuadFactors, ServeBinary128) {
  const std::int64_t n = 60, ld = n + 1;  // two panels
  Random random(5);
  const auto elements = [&](std::int64_t count) {
    std::vector<binary128> x(static_cast<std::size_t>(count));
    for (binary128& e : x) e = random_quad(random, 0.5, static_cast<const binary128*>(nullptr));
    return x;
  };
  const std::vector<binary128> a = elements(ld * n), b = elements(ld);
  std::vector<binary128> lu = a, x = b, s(a.size());
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  ASSERT_EQ(quad_gesv(n, 1, lu.data(), ld, pivots.data(), x.data(), ld), 0);
  quad_syrk(Uplo::lower, Op::none, n, n, 1, a.data(), ld, 0, s.data(), ld);
  std::vector<binary128> l = s;
  for (binary128& e : l) e *= 0x1p900, e *= 0x1p901;  // far beyond double
  ASSERT_EQ(quad_potrf(Uplo::lower, n, l.data(), ld), 0);
  for (std::int64_t i = 0; i < n; ++i) {
    Difference residual, square;
    for (std::int64_t j = 0; j < n; ++j) residual.add(a[at(i, j, ld)], x[at(j, 0, ld)]);
    residual.subtract(b[at(i, 0, ld)]);
    EXPECT_LE(residual.relative(), 8 * static_cast<double>(n) * 0x1p-111) << i;
    for (std::int64_t j = 0; j <= i / 2; ++j) square.add(l[at(i, j, ld)], l[at(i / 2, j, ld)]);
    square.subtract(s[at(i, i / 2, ld)] * 0x1p900 * 0x1p901);
    EXPECT_LE(square.relative(), static_cast<double>(n) * 0x1p-111) << i;
  }
  l = s;
  l[at(40, 40, ld)] = -l[at(40, 40, ld)];
  EXPECT_EQ(quad_potrf(Uplo::lower, n, l.data(), ld), 41);
  QuadOptions options;
  options.contract = QuadContract::parse("exact");
  EXPECT_THROW(static_cast<void>(quad_getrf(n, n, l.data(), ld, pivots.data(), options)), Error);
}
#endif

TEST(QuadFactors, LuMultipliesBackToThePermutedMatrix) {
  const std::int64_t n = 110;  // three panels
  const Entries a = random_entries(n * n, 1);
  Entries lu = a;
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  ASSERT_EQ(quad_getrf(n, n, lu.data(), n, pivots.data()), 0);
  Entries permuted = a;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t l = 0; l < n; ++l)
      std::swap(permuted[at(j, l, n)], permuted[at(pivots[static_cast<std::size_t>(j)] - 1, l, n)]);
  for (std::int64_t j = 0; j < n; j += 7)
    for (std::int64_t i = 0; i < n; i += 5) {
      Difference d;
      for (std::int64_t l = 0; l <= std::min(i, j); ++l) d.add(l == i ? dd(1) : lu[at(i, l, n)], lu[at(l, j, n)]);
      d.subtract(permuted[at(i, j, n)]);
      EXPECT_LE(d.relative(), static_cast<double>(n) * 0x1p-104) << i << ' ' << j;
    }
}

TEST(QuadFactors, TakeAnyHighAndLow) {  // [1 2; 3 4], each number in the low part
  Entries a{dd(0, 1), dd(0, 3), dd(0, 2), dd(0, 4)}, b{dd(0, 5), dd(0, 11)};
  std::int64_t pivots[2];
  ASSERT_EQ(quad_gesv(2, 1, a.data(), 2, pivots, b.data(), 2), 0);
  EXPECT_NEAR(b[0].hi, 1, 1e-15);
  EXPECT_NEAR(b[1].hi, 2, 1e-15);
  Entries s{dd(0, 4)};
  ASSERT_EQ(quad_potrf(Uplo::lower, 1, s.data(), 1), 0);
  EXPECT_EQ(s[0], dd(2));
  const Entries t{dd(0, 3)};
  Entries x{dd(0, 6)};
  quad_trsm(Side::left, Uplo::lower, Op::none, Diag::non_unit, 1, 1, 1, t.data(), 1, x.data(), 1);
  EXPECT_EQ(x[0], dd(2));
}

TEST(QuadFactors, RefuseOptionsBeforeTheFirstWrite) {
  const std::int64_t n = 60;  // more than one panel
  const Entries a = random_entries(n * n, 8);
  QuadOptions engine, bits, threads;
  engine.engine = "no_such_engine", threads.threads = -1;
  bits.contract = {.kind = QuadContract::Kind::bits, .bits_asked = 3};
  for (const QuadOptions& options : {engine, bits, threads}) {
    Entries x = a, b = a;
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
    EXPECT_THROW(static_cast<void>(quad_getrf(n, n, x.data(), n, pivots.data(), options)), Error);
    EXPECT_THROW(static_cast<void>(quad_potrf(Uplo::lower, n, x.data(), n, options)), Error);
    EXPECT_THROW(static_cast<void>(quad_gesv(n, n, x.data(), n, pivots.data(), b.data(), n, options)), Error);
    EXPECT_THROW(quad_trsm(Side::left, Uplo::lower, Op::none, Diag::unit, n, n, 1, a.data(), n, b.data(), n, options),
                 Error);
    EXPECT_EQ(x, a);
    EXPECT_EQ(b, a);
  }
}

TEST(QuadFactors, CholeskyMultipliesBack) {
  const std::int64_t n = 100;
  const Entries g = random_entries(n * n, 2);
  Entries a(g.size());
  quad_syrk(Uplo::lower, Op::none, n, n, 1, g.data(), n, 0, a.data(), n);
  for (std::int64_t i = 0; i < n; ++i) a[at(i, i, n)].hi += static_cast<double>(n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < j; ++i) a[at(i, j, n)] = a[at(j, i, n)];
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    Entries factor = a;
    ASSERT_EQ(quad_potrf(uplo, n, factor.data(), n), 0);
    for (std::int64_t j = 0; j < n; j += 9)
      for (std::int64_t i = j; i < n; i += 4) {
        Difference d;
        for (std::int64_t l = 0; l <= j; ++l)
          d.add(factor[uplo == Uplo::lower ? at(i, l, n) : at(l, i, n)],
                factor[uplo == Uplo::lower ? at(j, l, n) : at(l, j, n)]);
        d.subtract(a[at(i, j, n)]);
        EXPECT_LE(d.relative(), static_cast<double>(n) * 0x1p-104) << i << ' ' << j;
      }
  }
  a[at(60, 60, n)] = dd(-1);
  Entries factor = a;
  EXPECT_EQ(quad_potrf(Uplo::lower, n, factor.data(), n), 61);
}

TEST(QuadFactors, TrianglesSolveOnBothSides) {
  const std::int64_t m = 60, n = 53;
  for (const Side side : {Side::left, Side::right})
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
      for (const Op op : {Op::none, Op::transpose})
        for (const Diag diag : {Diag::non_unit, Diag::unit}) {
          const std::int64_t size = side == Side::left ? m : n;
          Entries t = random_entries(size * size, 3), b = random_entries(m * n, 4), x = b;
          for (dd& e : t) e = dd(e.hi / 64, e.lo / 64);
          for (std::int64_t i = 0; i < size; ++i) t[at(i, i, size)] = dd(2 + static_cast<double>(i % 3));
          quad_trsm(side, uplo, op, diag, m, n, -2, t.data(), size, x.data(), m);
          const auto element = [&](std::int64_t i, std::int64_t l) -> dd {
            if (op != Op::none) std::swap(i, l);
            if (i == l) return diag == Diag::unit ? dd(1) : t[at(i, i, size)];
            return (uplo == Uplo::lower) == (i > l) ? t[at(i, l, size)] : dd();
          };
          for (std::int64_t j = 0; j < n; j += 8)
            for (std::int64_t i = 0; i < m; i += 7) {
              Difference d;
              for (std::int64_t l = 0; l < size; ++l)
                side == Side::left ? d.add(element(i, l), x[at(l, j, m)]) : d.add(x[at(i, l, m)], element(l, j));
              d.subtract(dd(-2 * b[at(i, j, m)].hi, -2 * b[at(i, j, m)].lo));
              EXPECT_LE(d.relative(), static_cast<double>(size) * 0x1p-103);
            }
        }
}

}  // namespace
}  // namespace vernier::test::quad_factors_test
