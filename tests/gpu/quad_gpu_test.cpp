// Quadruple products in device memory: the bits of the CPU's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/status.hpp"
#include "on_device.hpp"
#include "support/quad_values.hpp"

namespace vernier::test::quad_gpu_test {
namespace {

struct Case {
  Op opa = Op::none, opb = Op::none;
  std::int64_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  const char* contract = "dd";
  std::size_t workspace_limit = 0;
};

template <class TA, class TB>
QuadReport expect_bits_of_the_cpu(const Case& t, const std::vector<TA>& a, const std::vector<TB>& b) {
  const std::int64_t lda = t.opa == Op::none ? t.m : t.k,
                     ldb = std::max<std::int64_t>(1, t.opb == Op::none ? t.k : t.n), ldc = t.m + 3;
  std::vector<dd> expected = random_quads<dd>(ldc * t.n, 0.5, 77);  // around C, too
  const OnDevice<TA> device_a(a);
  const OnDevice<TB> device_b(b);
  const OnDevice<dd> device_c(expected);
  QuadOptions options;
  options.contract = QuadContract::parse(t.contract);
  const QuadReport host = quad_gemm(t.opa, t.opb, t.m, t.n, t.k, t.alpha, a.data(), lda, b.data(), ldb, t.beta,
                                    expected.data(), ldc, options);
  const cuda::Stream stream;
  options.stream = static_cast<cudaStream_t>(stream);
  options.workspace_limit = t.workspace_limit;
  const QuadReport report = cuda::quad_gemm(t.opa, t.opb, t.m, t.n, t.k, t.alpha, device_a.data(), lda, device_b.data(),
                                            ldb, t.beta, device_c.data(), ldc, options);
  EXPECT_EQ(report.moduli, host.moduli);
  EXPECT_EQ(report.integers, host.integers);
  EXPECT_EQ(report.looked_at, host.looked_at);
  EXPECT_EQ(report.summed, host.summed);
  const std::vector<dd> found = device_c.read();
  std::int64_t different = 0;
  for (std::size_t e = 0; e < found.size(); ++e) {
    const auto same = [](double x, double y) {
      return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) || (std::isnan(x) && std::isnan(y));
    };
    if (same(found[e].hi, expected[e].hi) && same(found[e].lo, expected[e].lo)) continue;
    if (++different == 1)
      ADD_FAILURE() << "element " << e << ": " << found[e].hi << " + " << found[e].lo << ", expected " << expected[e].hi
                    << " + " << expected[e].lo;
  }
  EXPECT_EQ(different, 0);
  return report;
}

template <class TA, class TB>
void expect_bits_of_random_data(const Case& t, double phi) {
  expect_bits_of_the_cpu(t, random_quads<TA>(t.m * t.k, phi, 1), random_quads<TB>(t.k * t.n, phi, 2));
}

TEST(QuadOnGpu, HasTheBitsOfTheCpu) {
  expect_bits_of_random_data<dd, dd>({.m = 500, .n = 333, .k = 700}, 0.5);
  expect_bits_of_random_data<dd, dd>({.opa = Op::transpose, .m = 257, .n = 300, .k = 1500, .alpha = -0.25}, 1);
  expect_bits_of_random_data<dd, dd>({.opb = Op::transpose, .m = 64, .n = 900, .k = 33, .alpha = 1.5, .beta = -2}, 0.5);
  expect_bits_of_random_data<double, double>({.opa = Op::transpose, .m = 300, .n = 300, .k = 2000}, 0.5);
  expect_bits_of_random_data<double, dd>({.m = 1, .n = 129, .k = 1}, 2);
  expect_bits_of_random_data<dd, double>({.m = 130, .n = 2, .k = 5000, .beta = 1}, 2);
}

TEST(QuadOnGpu, TakesFewBitsAndMany) {
  expect_bits_of_random_data<dd, dd>({.m = 200, .n = 150, .k = 300, .contract = "bits(150)"}, 2);
  expect_bits_of_random_data<dd, dd>({.m = 200, .n = 150, .k = 300, .contract = "bits(30)"}, 0.5);
}

TEST(QuadOnGpu, GoesBlockByBlock) {
  expect_bits_of_random_data<dd, dd>({.m = 700, .n = 900, .k = 600, .workspace_limit = std::size_t{24} << 20}, 0.5);
}

TEST(QuadOnGpu, SettlesSmallEntriesAndSpecialOnes) {
  Case t{.m = 300, .n = 200, .k = 400, .alpha = 2, .beta = 0.5};
  std::vector<dd> a = random_quads<dd>(t.m * t.k, 4, 3), b = random_quads<dd>(t.k * t.n, 4, 4);  // not flat
  const auto at = [](std::vector<dd>& x, std::int64_t e) -> dd& { return x[static_cast<std::size_t>(e)]; };
  for (std::int64_t l = 1; l < t.k; l += 2) {
    for (std::int64_t i = 0; i < t.m; i += 2) at(a, i + l * t.m) = at(a, i + (l - 1) * t.m);
    for (std::int64_t j = 0; j < t.n; ++j) {
      const dd x = at(b, l - 1 + j * t.k);
      at(b, l + j * t.k) = j % 3 == 0 ? dd(-x.hi, -x.lo) : x;
    }
  }
  EXPECT_GT(expect_bits_of_the_cpu(t, a, b).looked_at, 0);
  for (std::int64_t j = 0; j < t.n; ++j) at(b, j * t.k) = dd(0);
  for (std::int64_t i = 0; i < t.m; i += 9) at(a, i) = dd(0x1p300);
  EXPECT_GT(expect_bits_of_the_cpu(t, a, b).summed, 0);
  at(a, 5).hi = std::numeric_limits<double>::infinity();
  at(b, 7 + 5 * t.k).hi = std::numeric_limits<double>::quiet_NaN();
  expect_bits_of_the_cpu(t, a, b);
  for (std::int64_t i = 0; i < t.m; ++i) at(a, i) = dd(0x1p300);  // more than half: the host has all
  expect_bits_of_the_cpu(t, a, b);
}

TEST(QuadOnGpu, ScalesCWhereNothingIsMultiplied) {
  expect_bits_of_random_data<dd, dd>({.m = 20, .n = 30, .k = 0, .beta = 1.5}, 0.5);
  expect_bits_of_random_data<dd, dd>({.m = 20, .n = 30, .k = 10, .alpha = 0}, 0.5);
}

TEST(QuadOnGpu, RoundsOnceInAllDirections) {
  for (const char* contract : {"exact", "exact+down", "exact+up", "exact+toward-zero"}) {
    expect_bits_of_random_data<double, double>({.m = 300, .n = 200, .k = 500, .alpha = -2, .contract = contract}, 0.5);
    expect_bits_of_random_data<dd, dd>({.opb = Op::transpose, .m = 150, .n = 260, .k = 700, .contract = contract}, 0.5);
    expect_bits_of_random_data<dd, dd>({.m = 90, .n = 70, .k = 300, .contract = contract}, 6);  // no integers
    expect_bits_of_random_data<double, dd>({.m = 40, .n = 30, .k = 50, .alpha = 0.3, .beta = -2, .contract = contract},
                                           0.5);
    expect_bits_of_random_data<double, dd>({.m = 40, .n = 30, .k = 0, .beta = 0.3, .contract = contract}, 0.5);
  }
}

// A complex product is the real one of twice the rows.
template <class T>
std::int64_t different_entries(const std::vector<T>& x, const std::vector<T>& y) {
  std::int64_t different = 0;
  for (std::size_t e = 0; e < x.size(); ++e) different += std::memcmp(&x[e], &y[e], sizeof(T)) != 0;
  return different;
}

// R, RC: of the parts of A and B, and of C.
template <class R, class Z, class RC, class ZC>
void expect_bits_of_complex_data(Op opa, Op opb, const char* contract, double beta = 0) {
  const std::int64_t m = 70, n = 45, k = 90, lda = opa == Op::none ? m : k, ldb = opb == Op::none ? k : n;
  const std::vector<R> a = random_quads<R>(2 * m * k, 0.5, 8), b = random_quads<R>(2 * k * n, 0.5, 9);
  std::vector<RC> expected(static_cast<std::size_t>(2 * m * n), RC(7));
  const OnDevice<R> device_a(a), device_b(b);
  const OnDevice<RC> device_c(expected);
  QuadOptions options;
  options.contract = QuadContract::parse(contract);
  const QuadReport host =
      quad_gemm(opa, opb, m, n, k, -0.5, reinterpret_cast<const Z*>(a.data()), lda,
                reinterpret_cast<const Z*>(b.data()), ldb, beta, reinterpret_cast<ZC*>(expected.data()), m, options);
  const QuadReport report = cuda::quad_gemm(opa, opb, m, n, k, -0.5, reinterpret_cast<const Z*>(device_a.data()), lda,
                                            reinterpret_cast<const Z*>(device_b.data()), ldb, beta,
                                            reinterpret_cast<ZC*>(device_c.data()), m, options);
  EXPECT_EQ(report.type, host.type);
  EXPECT_EQ(different_entries(device_c.read(), expected), 0) << host.type << ' ' << contract;
}

TEST(QuadOnGpu, MultipliesComplexMatrices) {
  using Complex = std::complex<double>;
  for (const char* contract : {"dd", "bits(226)", "exact+up"}) {
    expect_bits_of_complex_data<dd, complex_dd, dd, complex_dd>(Op::none, Op::conjugate_transpose, contract);
    expect_bits_of_complex_data<double, Complex, dd, complex_dd>(Op::conjugate_transpose, Op::transpose, contract, 0.7);
  }
#if defined(__SIZEOF_FLOAT128__)
  for (const char* contract : {"fp128", "bits(226)", "exact+up"}) {
    expect_bits_of_complex_data<binary128, complex_binary128, binary128, complex_binary128>(Op::conjugate_transpose,
                                                                                            Op::none, contract);
    expect_bits_of_complex_data<double, Complex, binary128, complex_binary128>(Op::none, Op::conjugate_transpose,
                                                                               contract);
  }
  expect_bits_of_complex_data<binary128, complex_binary128, binary128, complex_binary128>(Op::transpose, Op::none,
                                                                                          "fp128", 0.3);
  expect_bits_of_complex_data<double, Complex, binary128, complex_binary128>(Op::none, Op::none, "exact+down", -0.3);
#endif
}

#if defined(__SIZEOF_FLOAT128__)
template <class TA, class TB>
void expect_binary128_of_the_cpu(const Case& t, double phi) {
  const std::int64_t lda = t.opa == Op::none ? t.m : std::max<std::int64_t>(1, t.k),
                     ldb = t.opb == Op::none ? std::max<std::int64_t>(1, t.k) : t.n, ldc = t.m + 3;
  const std::vector<TA> a = random_quads<TA>(t.m * t.k, phi, 41);
  const std::vector<TB> b = random_quads<TB>(t.k * t.n, phi, 42);
  std::vector<binary128> expected = random_quads<binary128>(ldc * t.n, 0.5, 43);
  const OnDevice<TA> device_a(a);
  const OnDevice<TB> device_b(b);
  const OnDevice<binary128> device_c(expected);
  QuadOptions options;
  options.contract = QuadContract::parse(t.contract);
  const QuadReport host = quad_gemm(t.opa, t.opb, t.m, t.n, t.k, t.alpha, a.data(), lda, b.data(), ldb, t.beta,
                                    expected.data(), ldc, options);
  const QuadReport report = cuda::quad_gemm(t.opa, t.opb, t.m, t.n, t.k, t.alpha, device_a.data(), lda, device_b.data(),
                                            ldb, t.beta, device_c.data(), ldc, options);
  EXPECT_EQ(report.type, "binary128");
  EXPECT_EQ(report.moduli, host.moduli);
  EXPECT_EQ(report.looked_at, host.looked_at);
  EXPECT_EQ(report.summed, host.summed);
  EXPECT_EQ(different_entries(device_c.read(), expected), 0);
}

TEST(QuadOnGpu, MultipliesBinary128) {
  expect_binary128_of_the_cpu<binary128, binary128>({.m = 300, .n = 200, .k = 700, .contract = "fp128"}, 0.5);
  expect_binary128_of_the_cpu<binary128, double>(
      {.opa = Op::transpose, .opb = Op::transpose, .m = 65, .n = 130, .k = 1500, .alpha = -2, .contract = "fp128"},
      0.5);
  expect_binary128_of_the_cpu<double, binary128>({.m = 33, .n = 40, .k = 50, .alpha = 0.3, .beta = -2, .contract = ""},
                                                 0.5);
  expect_binary128_of_the_cpu<double, double>({.m = 90, .n = 40, .k = 333, .contract = "bits(60)"}, 4);
  expect_binary128_of_the_cpu<binary128, binary128>({.m = 40, .n = 30, .k = 100, .contract = "exact+down"}, 0.5);
  expect_binary128_of_the_cpu<binary128, binary128>({.m = 40, .n = 30, .k = 100, .contract = "exact"}, 9);
  expect_binary128_of_the_cpu<binary128, binary128>({.m = 40, .n = 30, .k = 100, .contract = "bits(226)"}, 9);
  expect_binary128_of_the_cpu<binary128, double>({.m = 20, .n = 30, .k = 0, .beta = 1.5, .contract = ""}, 0.5);
  expect_binary128_of_the_cpu<binary128, double>({.m = 20, .n = 30, .k = 0, .beta = 0.3, .contract = "exact+up"}, 0.5);
  for (const double phi : {0.5, 9.0})
    expect_binary128_of_the_cpu<binary128, binary128>(
        {.m = 40, .n = 30, .k = 100, .alpha = 0.3, .beta = -2, .contract = "exact+up"}, phi);
}
#endif

void expect_same_solution(std::int64_t n, std::int64_t nrhs, const std::vector<double>& a, const char* factors) {
  const std::vector<dd> b = random_quads<dd>(n * nrhs, 0.5, 52);
  std::vector<dd> x(b.size());
  const QuadSolveReport host = quad_solve(n, nrhs, a.data(), n, b.data(), n, x.data(), n);
  const OnDevice<double> device_a(a);
  const OnDevice<dd> device_b(b), device_x(std::vector<dd>(b.size(), dd(7)));
  const QuadSolveReport report =
      cuda::quad_solve(n, nrhs, device_a.data(), n, device_b.data(), n, device_x.data(), n, {.verified = true});
  EXPECT_TRUE(report.verified) << report.text();
  ASSERT_TRUE(host.ok && report.ok) << report.text();
  EXPECT_EQ(report.factors, factors);
  EXPECT_EQ(host.factors, factors);
  EXPECT_LE(report.backward_error, report.tolerance);
  const std::vector<dd> found = device_x.read();
  for (std::int64_t c = 0; c < nrhs; ++c) {
    double most = 0, difference = 0;
    for (std::size_t e = static_cast<std::size_t>(c * n); e < static_cast<std::size_t>((c + 1) * n); ++e) {
      most = std::max(most, std::fabs(x[e].hi));
      difference = std::max(difference, std::fabs((found[e].hi - x[e].hi) + (found[e].lo - x[e].lo)));
    }
    EXPECT_LE(difference, 0x1p-99 * most) << c;
    if (report.verified) {  // what the CPU's solution lacks is an estimate
      EXPECT_LE(difference, (report.forward_error + 2 * host.forward_error + 0x1p-104) * most);
    }
  }
}

TEST(QuadOnGpu, SolvesToThirtyDigits) {
  for (const std::int64_t n : {1, 60, 700, 1300})
    expect_same_solution(n, 3, random_quads<double>(n * n, 0.5, 51), "fp64");
  expect_same_solution(100, 70, random_quads<double>(100 * 100, 0.5, 53), "fp64");
  std::vector<double> hilbert;  // of integers: condition 1e18
  for (int j = 0; j < 14; ++j)
    for (int i = 0; i < 14; ++i) hilbert.push_back(80313433200.0 / (i + j + 1));
  expect_same_solution(14, 1, hilbert, "dd");
}

TEST(QuadOnGpu, SaysWhatItDoesNotSolve) {
  std::vector<double> a = random_quads<double>(16, 0.5, 55);
  std::fill_n(a.begin() + 4, 4, 0.0);
  const OnDevice<double> singular(a), b(std::vector<double>(4, 1));
  const OnDevice<dd> x(std::vector<dd>(4, dd(7)));
  EXPECT_FALSE(cuda::quad_solve(4, 1, singular.data(), 4, b.data(), 4, x.data(), 4).ok);
  EXPECT_TRUE(x.read() == std::vector<dd>(4, dd(7)));
  a[6] = std::numeric_limits<double>::infinity();
  const OnDevice<double> bad(a);
  EXPECT_THROW((void)cuda::quad_solve(4, 1, bad.data(), 4, b.data(), 4, x.data(), 4), Error);
}

TEST(QuadOnGpu, SaysWhatItDoesNotKeep) {
  const OnDevice<dd> x(std::vector<dd>(8));
  QuadOptions options;
  options.contract = QuadContract::parse("fp128");
  EXPECT_THROW(cuda::quad_gemm(Op::none, Op::none, 2, 2, 2, 1.0, x.data(), 2, x.data(), 2, 0.0, x.data(), 2, options),
               Error);
#if defined(__SIZEOF_FLOAT128__)
  const OnDevice<binary128> wide({1, 0x1p-600 * static_cast<binary128>(0x1p-600), 1, 1}),
      c(std::vector<binary128>(4, 7));
  EXPECT_THROW(cuda::quad_gemm(Op::none, Op::none, 2, 2, 2, 1.0, wide.data(), 2, wide.data(), 2, 0.0, c.data(), 2),
               Error);
  EXPECT_TRUE(c.has(std::vector<binary128>(4, 7)));
#endif
}

}  // namespace
}  // namespace vernier::test::quad_gpu_test
