// LU whose factors are stored in fp16 or bf16, on a GPU.
#include "lapack/lu/stored_lu_cuda.hpp"

#include "gpu/fixture.hpp"
#include "lapack/systems.hpp"
#include "vernier/cuda_lapack.hpp"

namespace vernier::test::stored_lu_test {
namespace {

struct Factored {
  Matrix<float> lu;
  Pivots pivots;
  std::int64_t info = 0;
};

// Row by row in device memory.
template <class S>
Factored read_factors(const cuda::DeviceLu<S>& lu) {
  const std::int64_t n = lu.n;
  std::vector<S> rows(static_cast<std::size_t>(lu.rows * lu.columns));
  std::vector<int> pivots(static_cast<std::size_t>(n));
  cuda::check(cudaDeviceSynchronize(), "LU");
  cuda::check(cudaMemcpy(rows.data(), lu.a.data, rows.size() * sizeof(S), cudaMemcpyDeviceToHost), "factors");
  cuda::check(cudaMemcpy(pivots.data(), lu.pivots, pivots.size() * sizeof(int), cudaMemcpyDeviceToHost), "pivots");
  const auto lu_of = Matrix<float>::of(
      n, n, [&](auto i, auto j) { return static_cast<float>(rows[static_cast<std::size_t>(i * lu.a.ld + j)]); });
  return {lu_of, Pivots(pivots.begin(), pivots.end()), read_info(lu, nullptr)};
}

// Of A with its entries times 2^exponent; overflow: did a number leave the range?
template <class Word>
Factored factor_stored(const Matrix<float>& a, int exponent, bool& overflow) {
  const std::int64_t n = a.rows();
  const DeviceCopy<float> device(a);
  const std::vector<double> factors(static_cast<std::size_t>(n), std::ldexp(1.0, exponent)), ones(factors.size(), 1.0);
  cuda::DeviceBuffer<double> scales(2 * factors.size());
  const std::size_t bytes = factors.size() * sizeof(double);
  cuda::check(cudaMemcpy(scales.data(), factors.data(), bytes, cudaMemcpyHostToDevice), "scales");
  cuda::check(cudaMemcpy(scales.data() + n, ones.data(), bytes, cudaMemcpyHostToDevice), "scales");
  cuda::check(cudaDeviceSynchronize(), "scales");
  cuda::DeviceLu<Word> lu(n, n, nullptr);
  overflow =
      !factor_stored_on_device<float>({{device.data(), n, a.ld()}, scales.data(), scales.data() + n}, lu, nullptr);
  return read_factors(lu);
}

template <class Word>
class StoredLuOnGpu : public ::testing::Test {};
using Words = ::testing::Types<__half, __nv_bfloat16>;
TYPED_TEST_SUITE(StoredLuOnGpu, Words);

TYPED_TEST(StoredLuOnGpu, FactorsHaveTheAccuracyOfTheFormat) {
  for (const std::int64_t n : {1, 40, 128, 200, 256, 300, 512, 700, 1100}) {
    const auto a = scattered_matrix<float>(n, n, 0, static_cast<std::uint64_t>(n));
    bool overflow = true;
    const Factored f = factor_stored<TypeParam>(a, 0, overflow);
    EXPECT_EQ(f.info, 0);
    EXPECT_FALSE(overflow);
    const double u = std::is_same_v<TypeParam, __half> ? 0x1p-11 : 0x1p-8;
    EXPECT_LE(lu_error(a, f.lu, f.pivots), 2 * u + u * u + static_cast<double>(n) * 0x1p-23) << n;
  }
}

TYPED_TEST(StoredLuOnGpu, PivotsThatVanishAndNumbersThatLeaveTheRangeAreTold) {
  const auto a = scattered_matrix<float>(300, 300, 0, 6);
  const bool is_half = std::is_same_v<TypeParam, __half>;
  bool overflow = true;
  EXPECT_GT(factor_stored<TypeParam>(a, is_half ? -60 : -150, overflow).info, 0);
  EXPECT_FALSE(overflow);
  (void)factor_stored<TypeParam>(a, is_half ? 17 : 127, overflow);
  EXPECT_TRUE(overflow);
}

// On a GPU, in double, with factors of that precision.
SolveReport solve_with(Factors factors, const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& x,
                       bool fallback = true) {
  const DeviceCopy<double> device_a(a), device_b(b), device_x(x);
  SolveOptions options;
  options.factors = factors;
  options.fallback = fallback;
  const SolveReport report = cuda::solve(Op::none, a.rows(), b.columns(), device_a.data(), a.ld(), device_b.data(),
                                         b.ld(), device_x.data(), x.ld(), options);
  device_x.read(x);
  return report;
}

// Wilkinson's: U grows to 2^(n - 1).
Matrix<double> wilkinson(std::int64_t n) {
  return Matrix<double>::of(n, n, [&](auto i, auto j) { return j == n - 1 || i == j ? 1.0 : i > j ? -1.0 : 0.0; });
}

TEST(StoredFp16OnGpu, GrowthBeyondItFallsBackAndSaysWhy) {
  const auto b = scattered_matrix<double>(60, 1, 0, 7);
  Matrix<double> x = padded(b, 0);
  const SolveReport report = solve_with(Factors::fp16, wilkinson(60), b, x);
  EXPECT_TRUE(report.fallback);
  EXPECT_EQ(report.factors, Factors::fp64);
  EXPECT_EQ(report.reason, "growth left the range of fp16 factors");
}

TEST(StoredBf16OnGpu, HoldsTheGrowthOfFp32AndSaysWhatLeavesIt) {
  for (const std::int64_t n : {60, 200}) {
    const auto b = scattered_matrix<double>(n, 1, 0, 7);
    Matrix<double> x = padded(b, 0);
    const SolveReport report = solve_with(Factors::bf16, wilkinson(n), b, x);
    EXPECT_EQ(report.reason == "growth left the range of bf16 factors", n == 200) << report.reason;
    EXPECT_NE(report.verdict, Verdict::singular);
    EXPECT_EQ(report.verdict == Verdict::ok, report.largest_backward_error() <= report.tolerance);
  }
}

TEST(StoredBf16OnGpu, SystemsEndOkWithMeasuredErrorsAndNoOtherFactors) {
  for (const std::int64_t n : {1, 33, 500, 1000}) {
    Matrix<double> a = scattered_matrix<double>(n, n, 0, static_cast<std::uint64_t>(n));
    for (std::int64_t i = 0; i < n; ++i) a(i, i) += 4 * std::sqrt(static_cast<double>(n));
    const auto b = scattered_matrix<double>(n, 3, 0, 8);
    Matrix<double> x = padded(b, 0);
    const SolveReport report = solve_with(Factors::bf16, a, b, x, false);
    EXPECT_EQ(report.verdict, Verdict::ok) << n;
    EXPECT_EQ(report.factors, Factors::bf16);
    EXPECT_LE(report.largest_backward_error(), report.tolerance);
  }
}

TEST(StoredBf16OnGpu, ASingularMatrixIsSingularInFp64FactorsAndXStays) {
  Matrix<double> a = scattered_matrix<double>(100, 100, 0, 9);
  for (std::int64_t i = 0; i < 100; ++i) a(i, 41) = 0;
  const auto b = scattered_matrix<double>(100, 1, 0, 10);
  Matrix<double> x = padded(b, 0);
  const SolveReport report = solve_with(Factors::bf16, a, b, x);
  EXPECT_EQ(report.verdict, Verdict::singular);
  EXPECT_EQ(report.info, 42);
  for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(x(i, 0), b(i, 0));
}

}  // namespace
}  // namespace vernier::test::stored_lu_test
