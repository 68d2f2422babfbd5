// Matrices of dd in two arrays: the bits of those in one.
#include "vernier/quad_arrays.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/quad_values.hpp"
#include "support/random.hpp"

namespace vernier::test::quad_arrays_test {
namespace {

constexpr std::int64_t ld = 9;

// The same elements in one array and in two; `ld` rows of `columns`.
struct Both {
  std::vector<dd> one;
  std::vector<double> hi, lo;

  Both(std::int64_t columns, std::uint64_t seed, double diagonal = 0) {
    Random r(seed);
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < ld; ++i) {
        dd x = random_quad(r, 0.5, static_cast<const dd*>(nullptr));
        if (i == j) x.hi += diagonal;
        one.push_back(x), hi.push_back(x.hi), lo.push_back(x.lo);
      }
  }
  DdArrays arrays() { return {hi.data(), lo.data()}; }
  void expect_same() const {
    for (std::size_t e = 0; e < one.size(); ++e) EXPECT_EQ(one[e], dd(hi[e], lo[e])) << e;
  }
};

TEST(QuadArrays, HaveTheBitsOfOneArray) {
  constexpr std::int64_t m = 7, n = 5, k = 6;
  for (const Op opa : {Op::none, Op::transpose})
    for (const Op opb : {Op::none, Op::transpose})
      for (const double beta : {0.0, -1.5}) {
        Both a(9, 1), b(9, 2), c(n, 3);
        if (beta == 0) c.hi[0] = c.lo[1] = NAN;
        quad_gemm(opa, opb, m, n, k, 2.5, a.one.data(), ld, b.one.data(), ld, beta, c.one.data(), ld);
        const QuadReport report =
            quad_gemm(opa, opb, m, n, k, 2.5, a.arrays(), ld, b.arrays(), ld, beta, c.arrays(), ld);
        EXPECT_GT(report.moduli, 0);
        c.expect_same();
      }
}

TEST(QuadArrays, FactorAndSolveAsOneArray) {
  constexpr std::int64_t n = 8, few = 3;
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    Both f(n, 4, 20), turned(n, 7), d(n, 6);
    EXPECT_THROW(quad_syrk(uplo, Op::transpose, n, ld + 1, 1, turned.arrays(), ld, 1, d.arrays(), ld), Error);
    quad_syrk(uplo, Op::transpose, n, few, 1, turned.one.data(), ld, 1, d.one.data(), ld);
    quad_syrk(uplo, Op::transpose, n, few, 1, turned.arrays(), ld, 1, d.arrays(), ld);
    d.expect_same();
    EXPECT_EQ(quad_potrf(uplo, n, f.one.data(), ld), quad_potrf(uplo, n, f.arrays(), ld));
    f.expect_same();
    for (const Side side : {Side::left, Side::right}) {
      Both x(n, 8);
      const std::int64_t rows = side == Side::left ? n : few, columns = side == Side::left ? few : n;
      quad_trsm(side, uplo, Op::none, Diag::non_unit, rows, columns, 3, f.one.data(), ld, x.one.data(), ld);
      quad_trsm(side, uplo, Op::none, Diag::non_unit, rows, columns, 3, f.arrays(), ld, x.arrays(), ld);
      x.expect_same();
    }
  }
  Both a(n, 9), b(few, 10), lu = a, x(few, 11);
  std::vector<std::int64_t> one(n), two(n);
  EXPECT_EQ(quad_getrf(n, n, lu.one.data(), ld, one.data()), quad_getrf(n, n, lu.arrays(), ld, two.data()));
  EXPECT_EQ(one, two);
  lu.expect_same();
  const QuadSolveReport report = quad_solve(n, few, a.arrays(), ld, b.arrays(), ld, x.arrays(), ld);
  EXPECT_TRUE(report.ok) << report.text();
  EXPECT_TRUE(quad_solve(n, few, a.one.data(), ld, b.one.data(), ld, x.one.data(), ld).ok);
  x.expect_same();
  EXPECT_EQ(quad_gesv(n, few, a.one.data(), ld, one.data(), b.one.data(), ld),
            quad_gesv(n, few, a.arrays(), ld, two.data(), b.arrays(), ld));
  a.expect_same();
  b.expect_same();
}

TEST(QuadArrays, RefuseWhatIsNotThere) {
  Both a(4, 12), c(4, 13);
  const Both before = c;
  EXPECT_THROW(quad_gemm(Op::none, Op::none, 4, 4, 4, 1, ConstDdArrays(a.hi.data(), nullptr), ld, a.arrays(), ld, 0,
                         c.arrays(), ld),
               Error);
  EXPECT_THROW(static_cast<void>(quad_getrf(4, 4, c.arrays(), 3, nullptr)), Error);
  EXPECT_THROW(static_cast<void>(quad_getrf(4, 4, c.arrays(), ld, nullptr)), Error);
  QuadOptions exact;
  exact.contract = QuadContract::parse("exact");
  EXPECT_THROW(static_cast<void>(quad_potrf(Uplo::lower, 4, c.arrays(), ld, exact)), Error);
  EXPECT_EQ(c.hi, before.hi);
  EXPECT_EQ(c.lo, before.lo);
}

}  // namespace
}  // namespace vernier::test::quad_arrays_test
