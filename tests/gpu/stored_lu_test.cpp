// LU whose factors are stored in fp16, on a GPU.
#include "lapack/device_stored_lu.hpp"

#include "gpu/fixture.hpp"
#include "lapack/systems.hpp"
#include "vernier/cuda_lapack.hpp"

namespace vernier::test {
namespace {

struct Factored {
  Matrix<float> lu;
  Pivots pivots;
  std::int64_t info = 0;
};

// Row by row in device memory.
template <class S>
Factored read_factors(const DeviceLu<S>& lu) {
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
Factored factor_stored(const Matrix<float>& a, int exponent, bool& overflow) {
  const std::int64_t n = a.rows();
  const DeviceCopy<float> device(a);
  const std::vector<double> factors(static_cast<std::size_t>(n), std::ldexp(1.0, exponent)), ones(factors.size(), 1.0);
  cuda::DeviceBuffer<double> scales(2 * factors.size());
  const std::size_t bytes = factors.size() * sizeof(double);
  cuda::check(cudaMemcpy(scales.data(), factors.data(), bytes, cudaMemcpyHostToDevice), "scales");
  cuda::check(cudaMemcpy(scales.data() + n, ones.data(), bytes, cudaMemcpyHostToDevice), "scales");
  cuda::check(cudaDeviceSynchronize(), "scales");
  DeviceLu<__half> lu(n, n, nullptr);
  overflow =
      !factor_stored_on_device<float>({{device.data(), n, a.ld()}, scales.data(), scales.data() + n}, lu, nullptr);
  return read_factors(lu);
}

Factored factor_tf32(const Matrix<float>& a) {
  const DeviceCopy<float> device(a);
  DeviceLu<float> lu(a.rows(), a.rows(), nullptr);
  load_columns(lu, device.data(), a.ld(), nullptr);
  factor_by_tf32(lu, nullptr);
  return read_factors(lu);
}

// |PA - LU| in the Frobenius norm.
double norm_of_error(const Matrix<float>& a, const Factored& f) {
  const std::int64_t n = a.rows();
  Matrix<float> pa = padded(a, 0);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) std::swap(pa(i, j), pa(f.pivots[static_cast<std::size_t>(i)] - 1, j));
  double squares = 0;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = pa(i, j);
      for (std::int64_t p = 0; p <= std::min(i, j); ++p)
        sum -= (p == i ? 1.0 : static_cast<double>(f.lu(i, p))) * static_cast<double>(f.lu(p, j));
      squares += sum * sum;
    }
  return std::sqrt(squares);
}

TEST(StoredLuOnGpu, FactorsHaveTheAccuracyOfTheFormat) {
  for (const std::int64_t n : {1, 40, 128, 200, 256, 300, 512, 700, 1100}) {
    const auto a = scattered_matrix<float>(n, n, 0, static_cast<std::uint64_t>(n));
    bool overflow = true;
    const Factored f = factor_stored(a, 0, overflow);
    EXPECT_EQ(f.info, 0);
    EXPECT_FALSE(overflow);
    constexpr double u = 0x1p-11;
    EXPECT_LE(lu_error(a, f.lu, f.pivots), 2 * u + u * u + static_cast<double>(n) * 0x1p-23) << n;
  }
}

TEST(StoredLuOnGpu, FactorsInHalfTheMemoryAreAsGoodAsFloatsFromProductsOfTheSameBits) {
  const std::int64_t n = 900;
  const auto a = scattered_matrix<float>(n, n, 0, 5);
  bool overflow = true;
  EXPECT_LE(norm_of_error(a, factor_stored(a, 0, overflow)), 1.1 * norm_of_error(a, factor_tf32(a)));
  EXPECT_FALSE(overflow);
}

TEST(StoredLuOnGpu, ProductsByTf32FollowOthersWhoseFactorsAreOnTheDevice) {
  const auto a = scattered_matrix<float>(300, 300, 0, 8);
  const Factored before = factor_tf32(a);
  const Matrix<float> ones = Matrix<float>::of(1, 1, [](auto, auto) { return 1.0f; });
  const DeviceCopy<float> x(ones), c(ones);
  cuda::gemm(Op::none, Op::none, 1, 1, 1, x.data(), x.data(), 1, x.data(), 1, x.data(), c.data(), 1,
             {.engine = "native", .pointer_mode = cuda::PointerMode::device});
  EXPECT_EQ(difference(factor_tf32(a).lu, before.lu), "");
}

TEST(StoredLuOnGpu, PivotsThatVanishAndNumbersThatLeaveTheRangeAreTold) {
  const auto a = scattered_matrix<float>(300, 300, 0, 6);
  bool overflow = true;
  EXPECT_GT(factor_stored(a, -60, overflow).info, 0);
  EXPECT_FALSE(overflow);
  (void)factor_stored(a, 17, overflow);
  EXPECT_TRUE(overflow);
}

// Wilkinson's: U grows to 2^(n - 1).
TEST(StoredLuOnGpu, GrowthBeyondFp16FallsBackAndSaysWhy) {
  const std::int64_t n = 60;
  const auto a = Matrix<double>::of(n, n, [&](auto i, auto j) {
    return j == n - 1 || i == j ? 1.0 : i > j ? -1.0 : 0.0;
  });
  const auto b = scattered_matrix<double>(n, 1, 0, 7);
  Matrix<double> x = padded(b, 0);
  const DeviceCopy<double> device_a(a), device_b(b), device_x(x);
  SolveOptions options;
  options.factors = Factors::fp16;
  const SolveReport report =
      cuda::solve(Op::none, n, 1, device_a.data(), a.ld(), device_b.data(), b.ld(), device_x.data(), x.ld(), options);
  EXPECT_TRUE(report.fallback);
  EXPECT_EQ(report.factors, Factors::fp64);
  EXPECT_EQ(report.reason, "growth left the range of fp16 factors");
  options.factors = Factors::bf16;
  try {
    (void)cuda::solve(Op::none, n, 1, device_a.data(), a.ld(), device_b.data(), b.ld(), device_x.data(), x.ld(),
                      options);
    FAIL() << "bf16 was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::unsupported);
    EXPECT_STREQ(error.what(), "solve: factors bf16: not on a GPU; expected auto, fp16, tf32, fp32 or fp64");
  }
}

}  // namespace
}  // namespace vernier::test
