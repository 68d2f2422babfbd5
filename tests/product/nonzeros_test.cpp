// Products by the nonzero elements of an operand: the bound, C around and beside them, and what is left to others.
#include "product/native/nonzeros.hpp"

#include <gtest/gtest.h>
#if VERNIER_X86
#include <xmmintrin.h>
#endif

#include <cmath>
#include <functional>
#include <limits>

#include "base/cpu_features.hpp"
#include "product/arguments.hpp"
#include "support/bound.hpp"
#include "support/compare.hpp"
#include "support/generators.hpp"

namespace vernier::test::nonzeros_test {
namespace {

constexpr NonzeroRequest generous{.threads = 2, .seconds = 1e9, .bytes = std::size_t{1} << 30};

class Nonzeros : public testing::Test {
 protected:
  void SetUp() override {
    if (!missing_features(InstructionSet::avx512_vnni).empty()) GTEST_SKIP() << "no AVX-512";
  }
};

Matrix<double> sparse(std::int64_t rows, std::int64_t columns, double share, std::uint64_t seed) {
  Random random(seed);
  return Matrix<double>::of(rows, columns,
                            [&](auto, auto) { return random.uniform() < share ? random.scattered(1) : 0.0; });
}

struct Result {
  bool done;
  Matrix<double> c;
};

// alpha A B + beta C, of operands that lie transposed or not.
Result multiplied(const Matrix<double>& a, const Matrix<double>& b, Op opa = Op::none, Op opb = Op::none,
                  double alpha = 1, double beta = 0, const Matrix<double>& c = {}, NonzeroRequest limits = generous) {
  const std::int64_t m = a.rows(), n = b.columns(), k = a.columns();
  const Matrix<double> x = stored(opa, a, 3), y = stored(opb, b, 5);
  Result out{false, beta == 0 ? Matrix<double>(m, n, 2) : padded(c, 2)};
  const GemmProblem<double> problem{rows_of(opa, x.data(), m, k, x.ld()),
                                    columns_of(opb, y.data(), n, k, y.ld()),
                                    {alpha, beta, out.c.data(), out.c.ld()}};
  const std::function<void(double)> nobody;
  Progress progress(nobody);
  out.done = multiply_nonzeros(problem, limits, progress);
  EXPECT_EQ(out.c.broken_guard(), "");
  return out;
}

TEST_F(Nonzeros, KeepTheBound) {
  struct Shape {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Shape{1, 1, 1}, {31, 65, 100}, {64, 32, 257}, {100, 33, 1000}, {3, 200, 8192}})
    for (const bool left : {true, false}) {
      const Matrix<double> few = sparse(left ? m : k, left ? k : n, 0.1, 1),
                           all = scattered_matrix<double>(left ? k : m, left ? n : k, 1, 2), &a = left ? few : all,
                           &b = left ? all : few;
      const ExactProduct<double> exact(a, b);
      for (const Op opa : {Op::none, Op::transpose})
        for (const Op opb : {Op::none, Op::transpose}) {
          const Result out = multiplied(a, b, opa, opb);
          if (m * n * k == 1 && !out.done) continue;  // its one element is not 0
          ASSERT_TRUE(out.done) << m << " " << n << " " << k << " " << left;
          EXPECT_EQ(broken_bound(Contract::fp64(), a, b, exact, out.c), "");
        }
    }
}

TEST_F(Nonzeros, AddUpBesideC) {
  const Matrix<double> a = sparse(70, 90, 0.1, 3), b = scattered_matrix<double>(90, 50, 1, 4),
                       c = scattered_matrix<double>(70, 50, 1, 5);
  const Matrix<double> product = multiplied(a, b).c;
  const Result out = multiplied(a, b, Op::transpose, Op::none, -2, 0.75, c);
  ASSERT_TRUE(out.done);
  EXPECT_EQ(difference(out.c, Matrix<double>::of(
                                  70, 50, [&](auto i, auto j) { return std::fma(-2, product(i, j), 0.75 * c(i, j)); })),
            "");
}

// 700 terms in parts of 20, which go to two sums in turns, by their definition; one sum after another has other bits.
TEST_F(Nonzeros, SumInParts) {
  constexpr std::int64_t k = 7000, terms = 700, part = 20;
  const auto a = Matrix<double>::of(
      40, k, [](auto i, auto l) { return l % (k / terms) == 0 ? 1 + 0.001 * static_cast<double>(i + l) : 0; });
  const Matrix<double> b = scattered_matrix<double>(k, 33, 1, 6);
  const Result out = multiplied(a, b);
  ASSERT_TRUE(out.done);
  int alike = 0;
  for (std::int64_t j = 0; j < 33; ++j)
    for (std::int64_t i = 0; i < 40; ++i) {
      double sum[2] = {}, straight = 0;
      for (std::int64_t first = 0; first < terms; first += part) {
        double of_part = 0;
        for (std::int64_t e = first; e < std::min(first + part, terms); ++e) {
          const std::int64_t l = e * (k / terms);
          of_part = std::fma(a(i, l), b(l, j), of_part);
          straight = std::fma(a(i, l), b(l, j), straight);
        }
        sum[first / part % 2] += of_part;
      }
      ASSERT_EQ(out.c(i, j), sum[0] + sum[1]);
      alike += straight == sum[0] + sum[1];
    }
  EXPECT_LT(alike, 33 * 40 / 2);
}

TEST_F(Nonzeros, NanAndInfinitiesOfTheSparseOperandShow) {
  Matrix<double> a = sparse(40, 60, 0.1, 6);
  const Matrix<double> b = scattered_matrix<double>(60, 40, 1, 7);
  a(3, 5) = std::numeric_limits<double>::infinity();
  a(9, 59) = std::numeric_limits<double>::quiet_NaN();
  const Result out = multiplied(a, b);
  ASSERT_TRUE(out.done);
  for (std::int64_t j = 0; j < 40; ++j) {
    EXPECT_EQ(out.c(3, j), b(5, j) > 0 ? INFINITY : -INFINITY);
    EXPECT_TRUE(std::isnan(out.c(9, j)));
    EXPECT_TRUE(std::isfinite(out.c(8, j)));
  }
}

#if VERNIER_X86
TEST_F(Nonzeros, SubnormalElementsCountInThreadsThatFlush) {
  Matrix<double> a = sparse(70, 60, 0.1, 8), b = scattered_matrix<double>(60, 40, 1, 9);
  for (std::int64_t i = 0; i < 70; ++i)
    for (std::int64_t l = 0; l < 60; ++l) a(i, l) *= 0x1p-1060;
  for (std::int64_t l = 0; l < 60; ++l)
    for (std::int64_t j = 0; j < 40; ++j) b(l, j) *= 0x1p900;
  const auto flush = [](bool on) {
    constexpr unsigned flushes = 0x8040;
#pragma omp parallel num_threads(2)
    _mm_setcsr(on ? _mm_getcsr() | flushes : _mm_getcsr() & ~flushes);
  };
  const Result usual = multiplied(a, b);
  flush(true);
  const Result out = multiplied(a, b);
  flush(false);
  ASSERT_TRUE(usual.done && out.done);
  EXPECT_NE(usual.c(0, 0) + usual.c(1, 0) + usual.c(2, 0), 0);
  EXPECT_EQ(difference(out.c, usual.c), "");
}
#endif

void expect_left(const Matrix<double>& a, const Matrix<double>& b, const NonzeroRequest& limits = generous) {
  const Matrix<double> c = scattered_matrix<double>(a.rows(), b.columns(), 1, 9);
  const Result out = multiplied(a, b, Op::none, Op::none, 1, 1, c, limits);
  EXPECT_FALSE(out.done);
  EXPECT_EQ(difference(out.c, c), "");
}

TEST_F(Nonzeros, LeaveOtherProductsAlone) {
  const Matrix<double> few = sparse(64, 64, 0.1, 10), all = scattered_matrix<double>(64, 64, 1, 11);
  expect_left(all, all);
  expect_left(sparse(64, 64, 0.3, 12), all);
  for (const double x : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Matrix<double> b = all;  // 0 times it shows
    b(63, 63) = x;
    expect_left(few, b);
    expect_left(transposed(b), transposed(few));
  }
  expect_left(few, all, {.threads = 2, .seconds = 1e-9, .bytes = generous.bytes});
  expect_left(few, all, {.threads = 2, .seconds = 1e9, .bytes = 4096});
  expect_left(sparse(2, 8193, 0.1, 13), scattered_matrix<double>(8193, 2, 1, 14));
  for (std::uint64_t seed = 20; seed < 30; ++seed)  // few at the places that are looked at, or not
    expect_left(sparse(64, 512, 0.21, seed), scattered_matrix<double>(512, 64, 1, 15));
}

}  // namespace
}  // namespace vernier::test::nonzeros_test
