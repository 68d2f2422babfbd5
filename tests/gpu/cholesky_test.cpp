// Cholesky and its solvers on a GPU, against their definitions and the CPU.
#include "gpu/fixture.hpp"
#include "lapack/systems.hpp"
#include "vernier/cuda_lapack.hpp"

namespace vernier::test::cholesky_test {
namespace {

constexpr Uplo both[] = {Uplo::lower, Uplo::upper};

// Diagonally dominant: cheap to make, of any size.
template <class T>
Matrix<T> dominant_matrix(std::int64_t n, std::uint64_t seed) {
  Matrix<T> a = scattered_matrix<T>(n, n, 0, seed);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
    a(j, j) = static_cast<T>(2 * n);
  }
  return a;
}

// One triangle of A, NaN in the other.
template <class T>
Matrix<T> triangle_of(Uplo uplo, const Matrix<T>& a) {
  Matrix<T> triangle = padded(a, 3);
  for (std::int64_t j = 0; j < a.columns(); ++j)
    for (std::int64_t i = 0; i < a.rows(); ++i)
      if (uplo == Uplo::lower ? i < j : i > j) triangle(i, j) = std::numeric_limits<T>::quiet_NaN();
  return triangle;
}

template <class T>
std::int64_t potrf_on_gpu(Uplo uplo, Matrix<T>& a) {
  const DeviceCopy<T> device(a);
  const std::int64_t info = cuda::potrf(uplo, a.rows(), device.data(), a.ld());
  device.read(a);
  EXPECT_EQ(a.broken_guard(), "");
  return info;
}

template <class T>
class CholeskyOnGpu : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CholeskyOnGpu, Types);

TYPED_TEST(CholeskyOnGpu, TheFactorMultipliesToTheMatrixAndTheOtherTriangleIsLeftAlone) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 31, 128, 129, 300, 640}) {
    const Matrix<T> a = definite_matrix<T>(n, 3 + static_cast<std::uint64_t>(n));
    for (const Uplo uplo : both) {
      Matrix<T> factor = triangle_of(uplo, a);
      EXPECT_EQ(potrf_on_gpu(uplo, factor), 0) << n;
      EXPECT_LE(cholesky_error(uplo, a, factor), static_cast<double>(n + 2) * unit_roundoff<T>) << n;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_EQ(std::isnan(factor(i, j)), uplo == Uplo::lower ? i < j : i > j) << i << ", " << j;
    }
  }
}

TYPED_TEST(CholeskyOnGpu, ManyBlocksAreFactorisedOneBesideTheUpdateOfTheOthers) {
  using T = TypeParam;
  const std::int64_t n = 1700;
  const Matrix<T> a = dominant_matrix<T>(n, 9);
  Matrix<T> upper = triangle_of(Uplo::upper, a), lower = triangle_of(Uplo::lower, a);
  EXPECT_EQ(potrf_on_gpu(Uplo::upper, upper), 0);
  EXPECT_EQ(potrf_on_gpu(Uplo::lower, lower), 0);
  EXPECT_LE(cholesky_error(Uplo::lower, a, lower), static_cast<double>(n) * unit_roundoff<T>);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) ASSERT_EQ(lower(i, j), upper(j, i)) << i << ", " << j;
}

TYPED_TEST(CholeskyOnGpu, InfoNamesTheFirstLeadingMinorThatIsNotPositive) {
  using T = TypeParam;
  for (const std::int64_t bad : {0, 5, 127, 128, 200, 399}) {
    for (const T value : {T(0), T(-1), std::numeric_limits<T>::quiet_NaN()}) {
      Matrix<T> a = dominant_matrix<T>(400, 4);
      a(bad, bad) = value;
      if (bad < 398) a(bad + 2, bad + 2) = -3;
      for (const Uplo uplo : both) {
        Matrix<T> factor = triangle_of(uplo, a);
        EXPECT_EQ(potrf_on_gpu(uplo, factor), bad + 1) << value;
      }
    }
  }
}

TYPED_TEST(CholeskyOnGpu, SystemsAreSolvedWithAllRightHandSides) {
  using T = TypeParam;
  const std::int64_t n = 417, nrhs = 70;
  const Matrix<T> a = dominant_matrix<T>(n, 11), x = scattered_matrix<T>(n, nrhs, 0, 5);
  Matrix<T> b = padded(x, 2);
  for (std::int64_t c = 0; c < nrhs; ++c)
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k) sum += static_cast<double>(a(i, k)) * x(k, c);
      b(i, c) = static_cast<T>(sum);
    }
  for (const Uplo uplo : both) {
    const Matrix<T> triangle = triangle_of(uplo, a);
    const DeviceCopy<T> matrix(triangle), columns(b);
    ASSERT_EQ(cuda::posv(uplo, n, nrhs, matrix.data(), triangle.ld(), columns.data(), b.ld()), 0);
    const DeviceCopy<T> again(b);
    cuda::potrs(uplo, n, nrhs, matrix.data(), triangle.ld(), again.data(), b.ld());
    for (const DeviceCopy<T>* device : {&columns, &again})
      EXPECT_LE(largest_difference(*device, x, 2), 1e3 * unit_roundoff<T>);
  }
}

// A x = b with x of ones, beyond the sizes of one wave of blocks.
TYPED_TEST(CholeskyOnGpu, LargeSystemsAreSolved) {
  using T = TypeParam;
  const std::int64_t n = 4225;
  const auto a = Matrix<T>::of(
      n, n, [&](auto i, auto j) { return i == j ? static_cast<T>(2 * n) : static_cast<T>((i + j) % 5 - 2) / 4; });
  Matrix<T> b(n, 1);
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += static_cast<double>(a(i, j));
    b(i, 0) = static_cast<T>(sum);
  }
  for (const Uplo uplo : both) {
    const DeviceCopy<T> matrix(a), column(b);
    ASSERT_EQ(cuda::posv(uplo, n, 1, matrix.data(), a.ld(), column.data(), b.ld()), 0);
    Matrix<T> x = padded(b, 0);
    column.read(x);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_NEAR(x(i, 0), 1.0, 100 * unit_roundoff<T>) << i;
  }
}

template <class T>
SolveReport solve_definite_on_gpu(Uplo uplo, const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& x,
                                  const SolveOptions& options) {
  const Matrix<T> triangle = triangle_of(uplo, a);
  x = padded(b, 2);
  const DeviceCopy<T> matrix(triangle), right(b), left(x);
  const SolveReport report = cuda::solve_definite(uplo, a.rows(), b.columns(), matrix.data(), triangle.ld(),
                                                  right.data(), b.ld(), left.data(), x.ld(), options);
  left.read(x);
  EXPECT_EQ(x.broken_guard(), "");
  return report;
}

template <class T>
double true_error(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& x, std::int64_t c) {
  long double residual = 0, norm = 0, size_x = 0, size_b = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    long double sum = b(i, c), row = 0;
    for (std::int64_t k = 0; k < a.rows(); ++k) {
      sum -= static_cast<long double>(a(i, k)) * x(k, c);
      row += std::abs(static_cast<long double>(a(i, k)));
    }
    residual = std::max(residual, std::abs(sum));
    norm = std::max(norm, row);
    size_x = std::max(size_x, std::abs(static_cast<long double>(x(i, c))));
    size_b = std::max(size_b, std::abs(static_cast<long double>(b(i, c))));
  }
  return static_cast<double>(residual / (norm * size_x + size_b));
}

TYPED_TEST(CholeskyOnGpu, WhatTheSolverCallsOkIsWithinTheTolerance) {
  using T = TypeParam;
  for (const Uplo uplo : both)
    for (const Factors factors : {Factors::automatic, Factors::fp32, Factors::fp64})
      for (const std::int64_t n : {1, 60, 257, 500}) {
        const Matrix<T> a = definite_matrix<T>(n, 21), b = scattered_matrix<T>(n, 3, 0, 22);
        Matrix<T> x(n, 3);
        SolveOptions options;
        options.factors = factors;
        const SolveReport report = solve_definite_on_gpu(uplo, a, b, x, options);
        EXPECT_EQ(report.verdict, Verdict::ok) << report.text();
        for (std::int64_t c = 0; c < 3; ++c) {
          EXPECT_LE(true_error(a, b, x, c) - static_cast<double>(n + 4) * 0x1p-64,
                    report.columns[static_cast<std::size_t>(c)].backward_error);
          EXPECT_LE(report.columns[static_cast<std::size_t>(c)].backward_error, report.tolerance);
        }
      }
}

// Its least eigenvalue is 2^-40, far below the roundoff of fp32, or the negative of that.
Matrix<double> barely_definite(std::int64_t n, double sign) {
  Matrix<double> a = Matrix<double>::of(n, n, [](auto i, auto j) { return i == j ? 1.0 : 0.0; });
  a(n - 1, n - 2) = a(n - 2, n - 1) = 1 - sign * 0x1p-40;
  return a;
}

TEST(DefiniteOnGpu, Fp64DecidesWhereFp32MeetsNoPositivePivot) {
  const std::int64_t n = 300;
  const Matrix<double> b = scattered_matrix<double>(n, 1, 0, 32);
  Matrix<double> x(n, 1);
  const SolveReport good = solve_definite_on_gpu(Uplo::lower, barely_definite(n, 1), b, x, {});
  EXPECT_EQ(good.verdict, Verdict::ok) << good.text();
  EXPECT_TRUE(good.fallback) << good.text();
  EXPECT_EQ(good.factors, Factors::fp64);
  const SolveReport bad = solve_definite_on_gpu(Uplo::upper, barely_definite(n, -1), b, x, {});
  EXPECT_EQ(bad.verdict, Verdict::indefinite);
  EXPECT_EQ(bad.info, n);
  EXPECT_NE(bad.text().find("leading minor of order 300 is not positive"), std::string::npos) << bad.text();
  for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(x(i, 0), b(i, 0));
}

TEST(DefiniteOnGpu, ANanIsNamedByItsPlaceInTheTriangleThatIsRead) {
  for (const Uplo uplo : both) {
    Matrix<double> a = dominant_matrix<double>(150, 4), x(150, 1);
    const auto b = scattered_matrix<double>(150, 1, 0, 5);
    a(3, 17) = a(17, 3) = std::numeric_limits<double>::quiet_NaN();
    try {
      (void)solve_definite_on_gpu(uplo, a, b, x, {});
      FAIL() << "a NaN was accepted";
    } catch (const Error& error) {
      const char* place = uplo == Uplo::upper ? "A(4, 18) is a NaN" : "A(18, 4) is a NaN";
      EXPECT_NE(std::string(error.what()).find(place), std::string::npos) << error.what();
    }
  }
}

TEST(DefiniteOnGpu, ArgumentsAreCheckedFirst) {
  double a = 1, b = 1;
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { (void)cuda::potrf(static_cast<Uplo>(88), 1, &a, 1); }),
            "potrf: uplo = 88: expected upper or lower");
  EXPECT_EQ(message([&] { (void)cuda::posv(Uplo::upper, 2, 1, &a, 1, &b, 2); }), "posv: lda = 1: expected at least 2");
  EXPECT_EQ(message([&] { cuda::potrs<double>(Uplo::upper, 1, 1, &a, 1, nullptr, 1); }), "potrs: B is null");
  EXPECT_EQ(cuda::potrf<double>(Uplo::upper, 0, nullptr, 1), 0);
}

}  // namespace
}  // namespace vernier::test::cholesky_test
