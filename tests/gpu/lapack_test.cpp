// LU and the solver on a GPU, against their definitions and the CPU.
#include "gpu/fixture.hpp"
#include "lapack/systems.hpp"
#include "vernier/cuda_lapack.hpp"

namespace vernier::test::lapack_test {
namespace {

class DevicePivots {
 public:
  explicit DevicePivots(std::int64_t count) : memory_(static_cast<std::size_t>(count)) {}
  std::int64_t* data() const { return memory_.data(); }
  Pivots read() const {
    Pivots pivots(memory_.size());
    cuda::check(cudaMemcpy(pivots.data(), memory_.data(), memory_.bytes(), cudaMemcpyDeviceToHost), "pivots");
    return pivots;
  }

 private:
  cuda::DeviceBuffer<std::int64_t> memory_;
};

template <class T>
struct GpuFactors {
  Matrix<T> lu;
  Pivots pivots;
  std::int64_t info = 0;
};

template <class T>
GpuFactors<T> factor_on_gpu(const Matrix<T>& a, const cuda::Options& options) {
  GpuFactors<T> f{padded(a, 3), {}, 0};
  const DeviceCopy<T> device(f.lu);
  const DevicePivots pivots(std::min(a.rows(), a.columns()));
  f.info = cuda::getrf(a.rows(), a.columns(), device.data(), f.lu.ld(), pivots.data(), options);
  device.read(f.lu);
  f.pivots = pivots.read();
  EXPECT_EQ(f.lu.broken_guard(), "");
  return f;
}

template <class T>
Matrix<T> uniform_matrix(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  return scattered_matrix<T>(m, n, 0, seed);
}

template <class T>
class LuOnGpu : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(LuOnGpu, Types);

TYPED_TEST(LuOnGpu, FactorsMultiplyToThePermutedMatrix) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair{1, 1},
                             {7, 5},
                             {5, 7},
                             {32, 32},
                             {33, 130},
                             {130, 33},
                             {129, 127},
                             {300, 300},
                             {511, 700},
                             {900, 513}}) {
    const Matrix<T> a = uniform_matrix<T>(m, n, 7 + m);
    const auto f = factor_on_gpu(a, {.contract = default_contract<T>()});
    EXPECT_EQ(f.info, 0);
    EXPECT_LE(lu_error(a, f.lu, f.pivots), std::min(m, n) * unit_roundoff<T>) << m << " x " << n;
    for (int i = 0; i < std::min(m, n); ++i) {
      EXPECT_GT(f.pivots[static_cast<std::size_t>(i)], i);
      EXPECT_LE(f.pivots[static_cast<std::size_t>(i)], m);
    }
  }
}

TYPED_TEST(LuOnGpu, PivotsAreTheLargestOfTheirColumns) {
  using T = TypeParam;
  const Matrix<T> a = uniform_matrix<T>(700, 700, 3);
  const auto f = factor_on_gpu(a, {.contract = default_contract<T>()});
  for (std::int64_t j = 0; j < 700; ++j)
    for (std::int64_t i = j + 1; i < 700; ++i) ASSERT_LE(std::abs(f.lu(i, j)), T(1)) << i << ", " << j;
}

TYPED_TEST(LuOnGpu, AZeroColumnIsToldAndTheFirstOfEqualsIsThePivot) {
  using T = TypeParam;
  Matrix<T> a = uniform_matrix<T>(200, 200, 3);
  for (std::int64_t i = 0; i < 200; ++i) a(i, 77) = 0;
  EXPECT_EQ(factor_on_gpu(a, {.contract = default_contract<T>()}).info, 78);
  Matrix<T> b(40, 40);
  for (std::int64_t j = 0; j < 40; ++j)
    for (std::int64_t i = 0; i < 40; ++i) b(i, j) = i >= j ? T(1) : T(-1);
  const auto f = factor_on_gpu(b, {.contract = default_contract<T>()});
  for (std::int64_t i = 0; i < 40; ++i) EXPECT_EQ(f.pivots[static_cast<std::size_t>(i)], i + 1);
}

TYPED_TEST(LuOnGpu, TinyPivotsHaveFiniteFactors) {
  using T = TypeParam;
  Matrix<T> a = uniform_matrix<T>(100, 100, 3);
  for (std::int64_t j = 0; j < 100; ++j)
    for (std::int64_t i = 0; i < 100; ++i)
      if (j == 0) a(i, j) *= std::numeric_limits<T>::min() / 16;
  const auto f = factor_on_gpu(a, {.contract = default_contract<T>()});
  for (std::int64_t i = 1; i < 100; ++i) EXPECT_LE(std::abs(f.lu(i, 0)), T(1));
}

// 32 rows of L have -1 below each of the 32 before, so its inverse grows to 32^7; U is small all the same, and every
// step exact.
TYPED_TEST(LuOnGpu, TrianglesWhoseInverseIsLargeLoseNothing) {
  using T = TypeParam;
  const std::int64_t n = 900, order = 256;
  const auto l = [&](std::int64_t i, std::int64_t k) {
    return i == k ? T(1) : i < order && i / 32 == k / 32 + 1 ? T(-1) : T(0);
  };
  Random random(13);
  const auto u = Matrix<T>::of(n, n, [&](auto i, auto j) {
    return i == j ? T(1) : i < order && j >= order ? static_cast<T>(random.integer(-3, 3)) / 4 : T(0);
  });
  const auto a = Matrix<T>::of(n, n, [&](auto i, auto j) {
    T sum = i >= order ? u(i, j) : T(0);
    for (std::int64_t k = 0; k <= i && i < order; ++k) sum += l(i, k) * u(k, j);
    return sum;
  });
  const auto f = factor_on_gpu(a, {.contract = default_contract<T>()});
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(f.lu(i, j), i <= j ? u(i, j) : l(i, j)) << i << ", " << j;
}

TYPED_TEST(LuOnGpu, SystemsAreSolvedWithAllRightHandSides) {
  using T = TypeParam;
  const std::int64_t n = 417, nrhs = 70;
  const Matrix<T> a = uniform_matrix<T>(n, n, 11);
  const auto f = factor_on_gpu(a, {.contract = default_contract<T>()});
  const DeviceCopy<T> lu(f.lu);
  const DevicePivots pivots(n);
  cuda::copy_to_device(pivots.data(), f.pivots.data(), sizeof(std::int64_t) * n);
  for (const Op op : {Op::none, Op::transpose}) {
    const Matrix<T> x = uniform_matrix<T>(n, nrhs, 5);
    Matrix<T> b = padded(x, 2);
    for (std::int64_t c = 0; c < nrhs; ++c)
      for (std::int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < n; ++k) sum += static_cast<double>(op == Op::none ? a(i, k) : a(k, i)) * x(k, c);
        b(i, c) = static_cast<T>(sum);
      }
    const DeviceCopy<T> device(b);
    cuda::getrs(op, n, nrhs, lu.data(), f.lu.ld(), pivots.data(), device.data(), b.ld());
    EXPECT_LE(largest_difference(device, x, 2), 1e6 * unit_roundoff<T>);
    if (op != Op::none) continue;
    const DeviceCopy<T> factors(a), at_once(b);
    const DevicePivots own(n);
    EXPECT_EQ(cuda::gesv(n, nrhs, factors.data(), a.ld(), own.data(), at_once.data(), b.ld()), 0);
    EXPECT_LE(largest_difference(at_once, x, 2), 1e6 * unit_roundoff<T>);
  }
}

template <class T>
SolveReport solve_on_gpu(Op op, const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& x, const SolveOptions& options) {
  const Matrix<T> padded_a = padded(a, 3), padded_b = padded(b, 1);
  x = padded(b, 2);
  const DeviceCopy<T> device_a(padded_a), device_b(padded_b), device_x(x);
  const SolveReport report = cuda::solve(op, a.rows(), b.columns(), device_a.data(), padded_a.ld(), device_b.data(),
                                         padded_b.ld(), device_x.data(), x.ld(), options);
  device_x.read(x);
  EXPECT_EQ(x.broken_guard(), "");
  return report;
}

// Normwise, in long double; it may itself be wrong by oracle_error.
double oracle_error(std::int64_t n) { return static_cast<double>(n + 4) * 0x1p-64; }
template <class T>
double true_backward_error(Op op, const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& x, std::int64_t c) {
  long double residual = 0, norm = 0, size_x = 0, size_b = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    long double sum = b(i, c), row = 0;
    for (std::int64_t k = 0; k < a.rows(); ++k) {
      const long double e = op == Op::none ? a(i, k) : a(k, i);
      sum -= e * x(k, c);
      row += std::abs(e);
    }
    residual = std::max(residual, std::abs(sum));
    norm = std::max(norm, row);
    size_x = std::max(size_x, std::abs(static_cast<long double>(x(i, c))));
    size_b = std::max(size_b, std::abs(static_cast<long double>(b(i, c))));
  }
  return static_cast<double>(residual / (norm * size_x + size_b));
}

TYPED_TEST(LuOnGpu, WhatTheSolverCallsOkIsWithinTheTolerance) {
  using T = TypeParam;
  for (const Op op : {Op::none, Op::transpose})
    for (const Factors factors : {Factors::automatic, Factors::fp16, Factors::fp32, Factors::fp64})
      for (const Refinement refinement : {Refinement::automatic, Refinement::gmres})
        for (const std::int64_t n : {1, 60, 257, 700}) {
          const Matrix<T> a = uniform_matrix<T>(n, n, 21), b = uniform_matrix<T>(n, 3, 22);
          Matrix<T> x(n, 3);
          SolveOptions options;
          options.factors = factors;
          options.refinement = refinement;
          options.condition = options.componentwise_error = options.forward_error = true;
          const SolveReport report = solve_on_gpu(op, a, b, x, options);
          EXPECT_EQ(report.verdict, Verdict::ok) << report.text();
          EXPECT_FALSE(report.fallback) << report.text();
          EXPECT_TRUE(factors == Factors::automatic || factors == report.factors) << report.text();
          for (std::int64_t c = 0; c < 3; ++c) {
            const SolveColumn& column = report.columns[static_cast<std::size_t>(c)];
            EXPECT_LE(true_backward_error(op, a, b, x, c) - oracle_error(n), column.backward_error);
            EXPECT_LE(column.backward_error, report.tolerance);
            EXPECT_GE(column.componentwise_error, column.backward_error / 2);
            EXPECT_GT(report.condition, 0.9);
            EXPECT_TRUE(std::isfinite(column.forward_error)) << report.text();
          }
        }
}

TEST(SolverOnGpu, ScaledAndExtremeSystemsAreSolved) {
  const std::int64_t n = 300;
  for (const int kind : {0, 1, 2}) {
    Matrix<double> a = uniform_matrix<double>(n, n, 31), x(n, 1);
    const Matrix<double> b = uniform_matrix<double>(n, 1, 32);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        a(i, j) = std::ldexp(a(i, j), kind == 0   ? static_cast<int>(i % 40 - 20) * 3 + static_cast<int>(j % 7) * 5
                                      : kind == 1 ? 900
                                                  : -900);
    const SolveReport report = solve_on_gpu(Op::none, a, b, x, {});
    EXPECT_EQ(report.verdict, Verdict::ok) << report.text();
    EXPECT_EQ(report.equilibrated, kind == 0);
    EXPECT_LE(true_backward_error(Op::none, a, b, x, 0), report.tolerance);
  }
}

// Alone, its vectors stay in device memory, and corrections are queued before the host has seen what asks for them.
TEST(SolverOnGpu, ARightHandSideAloneHasTheBitsThatItHasAmongOthers) {
  for (const Op op : {Op::none, Op::transpose})
    for (const Factors factors : {Factors::fp32, Factors::fp64})
      for (const std::int64_t n : {60, 257, 896}) {
        const Matrix<double> a = uniform_matrix<double>(n, n, 61), one = uniform_matrix<double>(n, 1, 62);
        const auto two =
            Matrix<double>::of(n, 2, [&](auto i, auto j) { return j == 0 ? one(i, 0) : one(n - 1 - i, 0); });
        Matrix<double> x(n, 1), xs(n, 2);
        SolveOptions options;
        options.factors = factors;
        options.refinement = Refinement::classical;
        for (const double tolerance : {0.0, 0x1p-52, 1e-6}) {
          options.tolerance = tolerance;
          const SolveReport alone = solve_on_gpu(op, a, one, x, options), both = solve_on_gpu(op, a, two, xs, options);
          EXPECT_EQ(alone.columns[0].corrections, both.columns[0].corrections) << alone.text() << both.text();
          EXPECT_EQ(alone.columns[0].backward_error, both.columns[0].backward_error) << alone.text() << both.text();
          for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(x(i, 0), xs(i, 0)) << i << alone.text();
        }
      }
}

TEST(SolverOnGpu, IllConditionedSystemsFallBackAndSaySo) {
  const std::int64_t n = 300;
  Matrix<double> a = uniform_matrix<double>(n, n, 41), x(n, 1);
  for (std::int64_t i = 0; i < n; ++i) {  // columns of many directions, all but dependent
    for (std::int64_t j = n / 2; j < n; ++j) a(i, j) = a(i, j - n / 2) + std::ldexp(a(i, j), -33);
  }
  const SolveReport report = solve_on_gpu(Op::none, a, uniform_matrix<double>(n, 1, 42), x, {});
  EXPECT_EQ(report.verdict, Verdict::ok) << report.text();
  EXPECT_TRUE(report.fallback) << report.text();
  EXPECT_EQ(report.factors, Factors::fp64);
}

TEST(SolverOnGpu, SingularAndNonfiniteSystemsLeaveXAlone) {
  const std::int64_t n = 256;
  Matrix<double> a = uniform_matrix<double>(n, n, 51), b = uniform_matrix<double>(n, 1, 52), x(n, 1);
  for (std::int64_t i = 0; i < n; ++i) a(i, 100) = 0;
  const SolveReport report = solve_on_gpu(Op::none, a, b, x, {});
  EXPECT_EQ(report.verdict, Verdict::singular);
  EXPECT_EQ(report.info, 101);
  for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(x(i, 0), b(i, 0));
  a(17, 3) = std::numeric_limits<double>::quiet_NaN();
  try {
    (void)solve_on_gpu(Op::none, a, b, x, {});
    FAIL() << "a NaN was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("A(18, 4) is a NaN"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace vernier::test::lapack_test
