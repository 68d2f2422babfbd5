// getrf, getrs, gesv, potrf, potrs, posv: small cases by hand, then all shapes against what they factor.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <tuple>

#include "lapack/lu/getrf.hpp"
#include "support/compare.hpp"
#include "support/error_message.hpp"
#include "systems.hpp"

namespace vernier::test::factor_test {
namespace {

template <class T>
class Factor : public testing::Test {
 protected:
  Options ordinary() const { return with_contract(std::is_same_v<T, float> ? "fp32" : "fp64"); }
  Options reproducible(int threads = 2) const {
    return with_contract(std::is_same_v<T, float> ? "fp32+reproducible" : "fp64+reproducible", threads);
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Factor, Types);

// ---- by hand -------------------------------------------------------------------------------------------------------

TYPED_TEST(Factor, LuOfTwoByTwo) {
  TypeParam a[] = {1, 2, 3, 4};  // (1 3 / 2 4): rows are exchanged
  std::int64_t pivots[2];
  EXPECT_EQ(getrf<TypeParam>(2, 2, a, 2, pivots), 0);
  EXPECT_EQ(pivots[0], 2);
  EXPECT_EQ(pivots[1], 2);
  EXPECT_EQ(a[0], 2);
  EXPECT_EQ(a[1], TypeParam(0.5));
  EXPECT_EQ(a[2], 4);
  EXPECT_EQ(a[3], 1);
}

TYPED_TEST(Factor, TiesGoToTheFirstRow) {
  TypeParam a[] = {0, -3, 3, -3, 1, 1, 1, 1, 1, 2, 3, 4, 4, 3, 2, 1};
  std::int64_t pivots[4];
  (void)getrf<TypeParam>(4, 4, a, 4, pivots);
  EXPECT_EQ(pivots[0], 2);
}

TYPED_TEST(Factor, SolvesTwoByTwoAndItsTranspose) {
  TypeParam a[] = {1, 2, 3, 4};
  TypeParam b[] = {7, 10};  // x = (1, 2)
  std::int64_t pivots[2];
  EXPECT_EQ(gesv<TypeParam>(2, 1, a, 2, pivots, b, 2), 0);
  EXPECT_EQ(b[0], 1);
  EXPECT_EQ(b[1], 2);
  TypeParam c[] = {5, 11};  // A^T x = c
  getrs<TypeParam>(Op::transpose, 2, 1, a, 2, pivots, c, 2);
  EXPECT_EQ(c[0], 1);
  EXPECT_EQ(c[1], 2);
}

TYPED_TEST(Factor, CholeskyOfTwoByTwo) {
  TypeParam lower[] = {4, 2, -99, 5}, upper[] = {4, -99, 2, 5};
  EXPECT_EQ(potrf<TypeParam>(Uplo::lower, 2, lower, 2), 0);
  EXPECT_EQ(potrf<TypeParam>(Uplo::upper, 2, upper, 2), 0);
  const TypeParam expected_lower[] = {2, 1, -99, 2}, expected_upper[] = {2, -99, 1, 2};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(lower[i], expected_lower[i]);
    EXPECT_EQ(upper[i], expected_upper[i]);
  }
}

// ---- shapes --------------------------------------------------------------------------------------------------------

TYPED_TEST(Factor, LuReproducesMatricesOfEveryShape) {
  for (const auto& [m, n] : {std::tuple{1, 1},
                             {1, 9},
                             {9, 1},
                             {16, 16},
                             {17, 17},
                             {33, 32},
                             {5, 40},
                             {40, 5},
                             {64, 200},
                             {200, 64},
                             {129, 131},
                             {300, 300},
                             {257, 100},
                             {16, 33},
                             {1, 17},
                             {17, 40},
                             {33, 64}}) {
    const auto a = scattered_matrix<TypeParam>(m, n, 0.5, static_cast<std::uint64_t>(100 * m + n));
    for (const Options& options : {this->ordinary(), this->reproducible()}) {
      Matrix<TypeParam> lu = padded(a, 3);
      Pivots pivots(static_cast<std::size_t>(std::min(m, n)), -1);
      EXPECT_EQ(getrf<TypeParam>(m, n, lu.data(), lu.ld(), pivots.data(), options), 0);
      EXPECT_EQ(lu.broken_guard(), "");
      EXPECT_LE(lu_error(a, lu, pivots), (std::min(m, n) + 1) * unit_roundoff<TypeParam>) << m << " x " << n;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = j + 1; i < m; ++i) EXPECT_LE(std::abs(lu(i, j)), 1);
    }
  }
}

// Of every number of panels, with rows to skip, by as many threads as may wait for each other.
TEST(FactorAhead, LuOfThreadsThatTakeColumnsHasTheUsualPivots) {
  for (const std::int64_t n : {1, 31, 32, 33, 127, 128, 129, 300, 420})
    for (const int threads : {1, 2, 3, 7}) {
      const auto a = scattered_matrix<double>(n, n, 0.5, static_cast<std::uint64_t>(n));
      Matrix<double> lu = padded(a, 3), usual = padded(a, 3);
      Pivots pivots(static_cast<std::size_t>(n), -1), expected = pivots;
      EXPECT_EQ(factor_lu_ahead(with_contract("fp64", threads), n, lu.data(), lu.ld(), pivots.data()), 0);
      EXPECT_EQ(getrf<double>(n, n, usual.data(), usual.ld(), expected.data(), with_contract("fp64")), 0);
      EXPECT_EQ(pivots, expected) << n;
      EXPECT_EQ(lu.broken_guard(), "");
      EXPECT_LE(lu_error(a, lu, pivots), static_cast<double>(n + 1) * unit_roundoff<double>) << n << ' ' << threads;
    }
}

TEST(FactorAhead, TheFirstColumnThatIsZeroIsTold) {
  for (const std::int64_t zero : {0, 40, 150, 299}) {
    Matrix<double> a = scattered_matrix<double>(300, 300, 0.5, 5);
    for (const std::int64_t column : {zero, std::int64_t{299}})
      for (std::int64_t i = 0; i < 300; ++i) a(i, column) = 0;
    Pivots pivots(300);
    EXPECT_EQ(factor_lu_ahead(with_contract("fp64", 2), 300, a.data(), a.ld(), pivots.data()), zero + 1);
  }
}

TYPED_TEST(Factor, SolutionsOfEveryShapeHaveSmallBackwardErrors) {
  for (const auto& [n, nrhs] : {std::tuple{1, 1}, {16, 3}, {17, 1}, {100, 7}, {130, 200}, {300, 2}}) {
    const auto a = scattered_matrix<TypeParam>(n, n, 0.5, static_cast<std::uint64_t>(n));
    const auto b = scattered_matrix<TypeParam>(n, nrhs, 0.5, static_cast<std::uint64_t>(n + 1));
    for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose}) {
      Matrix<TypeParam> lu = padded(a, 2), x = padded(b, 5);
      Pivots pivots(static_cast<std::size_t>(n));
      ASSERT_EQ(getrf<TypeParam>(n, n, lu.data(), lu.ld(), pivots.data(), this->ordinary()), 0);
      getrs<TypeParam>(op, n, nrhs, lu.data(), lu.ld(), pivots.data(), x.data(), x.ld(), this->ordinary());
      EXPECT_EQ(x.broken_guard(), "");
      EXPECT_LE(backward_error(op, a, x, b), 20 * n * unit_roundoff<TypeParam>) << n << " op " << static_cast<char>(op);
    }
  }
}

TYPED_TEST(Factor, CholeskyReproducesTheMatrixAndLeavesTheOtherTriangle) {
  for (const std::int64_t n : {1, 2, 24, 25, 97, 200, 260}) {
    const auto a = definite_matrix<TypeParam>(n, static_cast<std::uint64_t>(n));
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      for (const Options& options : {this->ordinary(), this->reproducible()}) {
        Matrix<TypeParam> factor = padded(a, 1);
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i)
            if (i != j && (i < j) == (uplo == Uplo::lower)) factor(i, j) = poison<TypeParam>();
        EXPECT_EQ(potrf<TypeParam>(uplo, n, factor.data(), factor.ld(), options), 0);
        EXPECT_EQ(factor.broken_guard(), "");
        EXPECT_LE(cholesky_error(uplo, a, factor), (n + 2) * unit_roundoff<TypeParam>) << n;
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i)
            if (i != j && (i < j) == (uplo == Uplo::lower)) {
              EXPECT_EQ(bits_of(factor(i, j)), bits_of(poison<TypeParam>()));
            }
        auto b = scattered_matrix<TypeParam>(n, 3, 0.5, 8), x = padded(b, 4);
        potrs<TypeParam>(uplo, n, 3, factor.data(), factor.ld(), x.data(), x.ld(), options);
        EXPECT_LE(backward_error(Op::none, a, x, b), 10 * n * unit_roundoff<TypeParam>);
      }
    }
  }
}

// ---- the same bits -------------------------------------------------------------------------------------------------

TYPED_TEST(Factor, ReproducibleFactorsDoNotDependOnThreadsOrEngines) {
  const std::int64_t n = 150;
  const auto a = scattered_matrix<TypeParam>(n, n, 0.5, 4);
  const auto spd = definite_matrix<TypeParam>(n, 5);
  Matrix<TypeParam> first, first_cholesky;
  for (const EngineInfo& engine : engines()) {
    if (!engine.supported) continue;
    for (const int threads : {1, 3}) {
      Options options = this->reproducible(threads);
      options.engine = engine.name;
      Matrix<TypeParam> lu = padded(a, 0), cholesky = padded(spd, 0);
      Pivots pivots(static_cast<std::size_t>(n));
      EXPECT_EQ(getrf<TypeParam>(n, n, lu.data(), n, pivots.data(), options), 0);
      EXPECT_EQ(potrf<TypeParam>(Uplo::lower, n, cholesky.data(), n, options), 0);
      if (first.rows() == 0) {
        first = lu;
        first_cholesky = cholesky;
      }
      EXPECT_EQ(difference(lu, first), "") << engine.name << " " << threads;
      EXPECT_EQ(difference(cholesky, first_cholesky), "") << engine.name << " " << threads;
    }
  }
}

// ---- info ----------------------------------------------------------------------------------------------------------

TYPED_TEST(Factor, InfoNamesTheFirstZeroPivot) {
  for (const std::int64_t n : {3, 40, 150}) {
    for (const std::int64_t zero : {std::int64_t{0}, n / 2, n - 1}) {
      // Upper triangular after a permutation of rows, with one zero on the diagonal.
      const auto order = Random(static_cast<std::uint64_t>(n + zero)).permutation(n);
      auto u = Matrix<TypeParam>::of(n, n, [&](auto i, auto j) { return i > j ? 0 : i == j ? 2 : (i + j) % 3 - 1; });
      u(zero, zero) = 0;
      Matrix<TypeParam> a = rows_in_order(u, order), b = scattered_matrix<TypeParam>(n, 2, 0.5, 6), before = b;
      Pivots pivots(static_cast<std::size_t>(n));
      EXPECT_EQ(gesv<TypeParam>(n, 2, a.data(), n, pivots.data(), b.data(), n, this->ordinary()), zero + 1) << n;
      EXPECT_EQ(difference(b, before), "") << "B is left alone";
    }
  }
}

TYPED_TEST(Factor, InfoOfCholeskyNamesTheFirstMinorThatIsNotPositive) {
  for (const std::int64_t n : {3, 60, 150})
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
      for (const std::int64_t bad : {std::int64_t{0}, n / 2, n - 1})
        for (const TypeParam value : {TypeParam(-1), TypeParam(0), poison<TypeParam>()}) {
          auto a = definite_matrix<TypeParam>(n, 7);
          a(bad, bad) = value;
          auto b = scattered_matrix<TypeParam>(n, 1, 0.5, 6), before = b;
          EXPECT_EQ(posv<TypeParam>(uplo, n, 1, a.data(), n, b.data(), n, this->ordinary()), bad + 1) << n;
          EXPECT_EQ(difference(b, before), "");
        }
}

TYPED_TEST(Factor, NanAndInfinitySpreadAndTheRoutinesReturn) {
  for (const std::int64_t n : {5, 100})
    for (const TypeParam value : {poison<TypeParam>(), std::numeric_limits<TypeParam>::infinity()})
      for (const Options& options : {this->ordinary(), this->reproducible()}) {
        auto a = scattered_matrix<TypeParam>(n, n, 0.5, 8), b = scattered_matrix<TypeParam>(n, 1, 0.5, 9);
        a(n / 2, 0) = value;
        Pivots pivots(static_cast<std::size_t>(n));
        (void)gesv<TypeParam>(n, 1, a.data(), n, pivots.data(), b.data(), n, options);
        if (std::isnan(value)) {
          EXPECT_TRUE(std::isnan(b(0, 0)));
        }
        for (std::int64_t i = 0; i < n; ++i) {
          EXPECT_GT(pivots[static_cast<std::size_t>(i)], i);
          EXPECT_LE(pivots[static_cast<std::size_t>(i)], n);
        }
      }
}

// ---- beyond 32 bits ------------------------------------------------------------------------------------------------

// Columns so far apart that no 32-bit integer counts the distance; memory stands behind the pages in use alone.
class FarColumns {
 public:
  FarColumns(std::int64_t n, std::int64_t ld) : bytes_(static_cast<std::size_t>(n * ld) * sizeof(float)) {
    address_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~FarColumns() {
    if (given()) munmap(address_, bytes_);
  }
  FarColumns(const FarColumns&) = delete;
  FarColumns& operator=(const FarColumns&) = delete;
  bool given() const { return address_ != MAP_FAILED; }
  float* data() const { return static_cast<float*>(address_); }

 private:
  std::size_t bytes_;
  void* address_;
};

TEST(FactorFar, LeadingDimensionsBeyond32Bits) {
  const std::int64_t n = 120, ld = (std::int64_t{1} << 31) + 40;
  const FarColumns lu(n, ld), cholesky(n, ld), x(3, ld);
  ASSERT_TRUE(lu.given() && cholesky.given() && x.given()) << "address space for columns 8 GiB apart";
  const auto a = scattered_matrix<float>(n, n, 0.5, 1), spd = definite_matrix<float>(n, 2);
  const auto b = scattered_matrix<float>(n, 3, 0.5, 3);
  const auto spread = [ld](const Matrix<float>& from, float* to) {
    for (std::int64_t j = 0; j < from.columns(); ++j) std::copy_n(&from(0, j), from.rows(), to + j * ld);
  };
  const auto gathered = [ld](const float* from, std::int64_t columns) {
    return Matrix<float>::of(n, columns, [&](auto i, auto j) { return from[i + j * ld]; });
  };
  spread(a, lu.data());
  spread(spd, cholesky.data());
  spread(b, x.data());
  Pivots pivots(static_cast<std::size_t>(n));
  EXPECT_EQ(getrf<float>(n, n, lu.data(), ld, pivots.data()), 0);
  EXPECT_LE(lu_error(a, gathered(lu.data(), n), pivots), (n + 1) * unit_roundoff<float>);
  getrs<float>(Op::none, n, 3, lu.data(), ld, pivots.data(), x.data(), ld);
  EXPECT_LE(backward_error(Op::none, a, gathered(x.data(), 3), b), 20 * n * unit_roundoff<float>);
  EXPECT_EQ(potrf<float>(Uplo::lower, n, cholesky.data(), ld), 0);
  EXPECT_LE(cholesky_error(Uplo::lower, spd, gathered(cholesky.data(), n)), (n + 2) * unit_roundoff<float>);
}

// ---- arguments -----------------------------------------------------------------------------------------------------

TYPED_TEST(Factor, ArgumentsAreNamedInTheOrderOfLapack) {
  using T = TypeParam;
  T a[4] = {1, 0, 0, 1}, b[4] = {};
  std::int64_t p[2] = {1, 2};
  const auto bad_op = static_cast<Op>('X');
  const auto bad_uplo = static_cast<Uplo>('X');
  EXPECT_EQ(message([&] { (void)getrf<T>(-1, -1, a, 0, p); }), "getrf: m = -1: expected 0 or more");
  EXPECT_EQ(message([&] { (void)getrf<T>(2, -1, a, 0, p); }), "getrf: n = -1: expected 0 or more");
  EXPECT_EQ(message([&] { (void)getrf<T>(2, 2, nullptr, 2, p); }), "getrf: A is null");
  EXPECT_EQ(message([&] { (void)getrf<T>(2, 2, a, 1, p); }), "getrf: lda = 1: expected at least 2");
  EXPECT_EQ(message([&] { (void)getrf<T>(2, 2, a, 2, nullptr); }), "getrf: pivots is null");
  EXPECT_EQ(message([&] { getrs<T>(bad_op, -1, -1, a, 0, p, b, 0); }),
            "getrs: op = 88: expected none, transpose or conjugate_transpose");
  EXPECT_EQ(message([&] { getrs<T>(Op::none, 2, -1, a, 0, p, b, 0); }), "getrs: nrhs = -1: expected 0 or more");
  EXPECT_EQ(message([&] { getrs<T>(Op::none, 2, 1, a, 2, p, b, 1); }), "getrs: ldb = 1: expected at least 2");
  EXPECT_EQ(message([&] {
              std::int64_t foreign[2] = {1, 3};
              getrs<T>(Op::none, 2, 1, a, 2, foreign, b, 2);
            }),
            "getrs: pivots[1] = 3: expected 2 to 2");
  EXPECT_EQ(message([&] { (void)gesv<T>(2, 1, a, 2, p, b, 1); }), "gesv: ldb = 1: expected at least 2");
  EXPECT_EQ(message([&] { (void)potrf<T>(bad_uplo, -1, a, 0); }), "potrf: uplo = 88: expected upper or lower");
  EXPECT_EQ(message([&] { potrs<T>(Uplo::upper, 2, 1, a, 2, nullptr, 2); }), "potrs: B is null");
  EXPECT_EQ(message([&] { (void)posv<T>(Uplo::upper, 2, 1, a, 1, b, 2); }), "posv: lda = 1: expected at least 2");
  Options unknown;
  unknown.engine = "abacus";
  EXPECT_NE(message([&] { (void)getrf<T>(2, 2, a, 2, p, unknown); }), "no error");
  EXPECT_EQ(a[0], 1);
}

TYPED_TEST(Factor, NothingIsTouchedWhereThereIsNothing) {
  EXPECT_EQ(getrf<TypeParam>(0, 5, nullptr, 1, nullptr), 0);
  EXPECT_EQ(getrf<TypeParam>(5, 0, nullptr, 5, nullptr), 0);
  EXPECT_EQ(gesv<TypeParam>(0, 3, nullptr, 1, nullptr, nullptr, 1), 0);
  EXPECT_EQ(potrf<TypeParam>(Uplo::upper, 0, nullptr, 1), 0);
  getrs<TypeParam>(Op::none, 3, 0, nullptr, 3, nullptr, nullptr, 3);
  potrs<TypeParam>(Uplo::lower, 0, 3, nullptr, 1, nullptr, 1);
}

}  // namespace
}  // namespace vernier::test::factor_test
