// Enclosures in device memory: products with the bits of the CPU's, solutions that hold the exact one.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "on_device.hpp"
#include "support/random.hpp"
#include "vernier/quad.hpp"
#include "vernier/verified.hpp"

namespace vernier::test::interval_gpu_test {
namespace {

using Complex = std::complex<double>;

void fill(Random& r, double& x) { x = r.scattered(0.5); }
void fill(Random& r, Complex& x) { x = {r.scattered(0.5), r.scattered(0.5)}; }
double widened(Random& r, double x, double width) { return x + width * r.uniform(); }
Complex widened(Random& r, Complex x, double width) {
  return {widened(r, x.real(), width), widened(r, x.imag(), width)};
}

template <class T>
std::vector<T> random_matrix(std::int64_t count, std::uint64_t seed) {
  Random r(seed);
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& e : x) fill(r, e);
  return x;
}

struct Case {
  Op opa = Op::none, opb = Op::none;
  std::int64_t m = 0, n = 0, k = 0;
  double width_a = 0, width_b = 0;
};

template <class T>
void expect_bits_of_the_cpu(const Case& t) {
  const std::int64_t lda = (t.opa == Op::none ? t.m : t.k) + 2, ldb = (t.opb == Op::none ? t.k : t.n) + 1,
                     ldc = t.m + 3;
  const std::vector<T> a = random_matrix<T>(lda * (t.opa == Op::none ? t.k : t.m), 1),
                       b = random_matrix<T>(ldb * (t.opb == Op::none ? t.n : t.k), 2);
  Random r(3);
  std::vector<T> a_high = a, b_high = b, c(static_cast<std::size_t>(ldc * t.n), T(7)), d = c;
  std::vector<double> a_rad(a.size()), b_rad(b.size()), rad(c.size(), 5);
  for (std::size_t e = 0; e < a.size(); ++e)
    a_high[e] = widened(r, a[e], t.width_a), a_rad[e] = t.width_a * r.uniform();
  for (std::size_t e = 0; e < b.size(); ++e)
    b_high[e] = widened(r, b[e], t.width_b), b_rad[e] = t.width_b * r.uniform();
  const OnDevice<T> device_a(a), device_b(b), high_a(a_high), high_b(b_high), device_c(c), device_d(d);
  const OnDevice<double> rad_a(a_rad), rad_b(b_rad), device_rad(rad);

  interval_gemm(t.opa, t.opb, t.m, t.n, t.k, a.data(), a_rad.data(), lda, b.data(), b_rad.data(), ldb, c.data(),
                rad.data(), ldc);
  cuda::interval_gemm(t.opa, t.opb, t.m, t.n, t.k, device_a.data(), rad_a.data(), lda, device_b.data(), rad_b.data(),
                      ldb, device_c.data(), device_rad.data(), ldc);
  EXPECT_TRUE(device_c.read() == c);
  EXPECT_TRUE(device_rad.read() == rad);

  interval_gemm_ends(t.opa, t.opb, t.m, t.n, t.k, a.data(), a_high.data(), lda, b.data(), b_high.data(), ldb, c.data(),
                     d.data(), ldc);
  cuda::interval_gemm_ends(t.opa, t.opb, t.m, t.n, t.k, device_a.data(), high_a.data(), lda, device_b.data(),
                           high_b.data(), ldb, device_c.data(), device_d.data(), ldc);
  EXPECT_TRUE(device_c.read() == c);
  EXPECT_TRUE(device_d.read() == d);
}

TEST(IntervalsOnGpu, HaveTheBitsOfTheCpu) {
  const Case cases[] = {{.m = 200, .n = 150, .k = 300, .width_a = 1e-3, .width_b = 1e-9},
                        {.opa = Op::transpose, .m = 65, .n = 40, .k = 100, .width_b = 1},
                        {.opb = Op::conjugate_transpose, .m = 33, .n = 130, .k = 70, .width_a = 0.5},
                        {.m = 50, .n = 60, .k = 70}};
  for (const Case& t : cases) expect_bits_of_the_cpu<double>(t), expect_bits_of_the_cpu<Complex>(t);
}

TEST(IntervalsOnGpu, RefuseWhatIsNoInterval) {
  const OnDevice<double> x(std::vector<double>{1, 2, 3, 4}), bad(std::vector<double>{1, 2, -1, 4}),
      c(std::vector<double>{7, 7, 7, 7});
  const auto call = [&](const double* rad, const double* high) {
    rad != nullptr ? cuda::interval_gemm<double>(Op::none, Op::none, 2, 2, 2, x.data(), rad, 2, x.data(), nullptr, 2,
                                                 c.data(), c.data(), 2)
                   : cuda::interval_gemm_ends<double>(Op::none, Op::none, 2, 2, 2, x.data(), high, 2, x.data(),
                                                      x.data(), 2, c.data(), c.data(), 2);
  };
  for (const bool radii : {true, false}) {
    try {
      call(radii ? bad.data() : nullptr, radii ? nullptr : bad.data());
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("(0, 1)"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(c.read(), std::vector<double>(4, 7));
}

// The solution in double-double, far more exact than the intervals are wide.
void expect_solution_inside(std::int64_t n, std::int64_t nrhs, const std::vector<double>& a, bool narrow) {
  const std::int64_t ldx = n + 5;
  const std::vector<double> b = random_matrix<double>(n * nrhs, 12);
  std::vector<dd> x(b.size());
  ASSERT_TRUE(quad_solve(n, nrhs, a.data(), n, b.data(), n, x.data(), n).ok);
  const OnDevice<double> device_a(a), device_b(b), low(std::vector<double>(static_cast<std::size_t>(ldx * nrhs), 3)),
      high(std::vector<double>(static_cast<std::size_t>(ldx * nrhs), -3));
  const VerifiedReport report =
      cuda::verified_solve(n, nrhs, device_a.data(), n, device_b.data(), n, low.data(), high.data(), ldx);
  ASSERT_TRUE(report.verified) << report.text();
  const std::vector<double> l = low.read(), h = high.read();
  std::int64_t outside = 0, wide = 0;
  for (std::int64_t j = 0; j < nrhs; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const dd e = x[static_cast<std::size_t>(i + j * n)];
      const double from = l[static_cast<std::size_t>(i + j * ldx)], to = h[static_cast<std::size_t>(i + j * ldx)];
      outside += (from - e.hi) - e.lo > 0 || (to - e.hi) - e.lo < 0;
      wide += to - from > 0x1p-50 * std::fabs(e.hi);
    }
  EXPECT_EQ(outside, 0);
  EXPECT_EQ(l[static_cast<std::size_t>(n)], 3) << "between columns";
  if (narrow) {
    EXPECT_LT(wide, n * nrhs / 50 + 1);
  }
}

TEST(VerifiedOnGpu, EnclosesTheSolution) {
  for (const std::int64_t n : {1, 50, 700, 1500}) expect_solution_inside(n, 3, random_matrix<double>(n * n, 11), true);
  std::vector<double> near_singular = random_matrix<double>(300 * 300, 13);
  for (std::size_t i = 0; i < 300; ++i) near_singular[i] = near_singular[i + 300] + std::ldexp(near_singular[i], -28);
  expect_solution_inside(300, 2, near_singular, false);
}

// The inverse in dd, column by column, lies inside.
TEST(VerifiedOnGpu, EnclosesTheInverse) {
  for (const std::int64_t n : {1, 60, 300}) {
    const std::int64_t ldx = n + 2;
    const std::vector<double> a = random_matrix<double>(n * n, 15);
    std::vector<double> identity(a.size(), 0);
    for (std::int64_t i = 0; i < n; ++i) identity[static_cast<std::size_t>(i * (n + 1))] = 1;
    std::vector<dd> x(a.size());
    ASSERT_TRUE(quad_solve(n, n, a.data(), n, identity.data(), n, x.data(), n).ok);
    const OnDevice<double> device_a(a), low(std::vector<double>(static_cast<std::size_t>(ldx * n), 3)),
        high(std::vector<double>(static_cast<std::size_t>(ldx * n), -3));
    const VerifiedReport report = cuda::verified_inverse(n, device_a.data(), n, low.data(), high.data(), ldx);
    ASSERT_TRUE(report.verified) << report.text();
    const std::vector<double> l = low.read(), h = high.read();
    std::int64_t outside = 0;
    double width = 0, size = 0;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        const dd e = x[static_cast<std::size_t>(i + j * n)];
        const double from = l[static_cast<std::size_t>(i + j * ldx)], to = h[static_cast<std::size_t>(i + j * ldx)];
        outside += (from - e.hi) - e.lo > 0 || (to - e.hi) - e.lo < 0;
        width = std::max(width, to - from), size = std::max(size, std::fabs(e.hi));
      }
    EXPECT_EQ(outside, 0);
    EXPECT_LT(width, 0x1p-20 * size);
    EXPECT_EQ(l[static_cast<std::size_t>(n)], 3) << "between columns";
  }
}

TEST(VerifiedOnGpu, SaysNo) {
  std::vector<double> singular = random_matrix<double>(100 * 100, 14);
  std::copy_n(singular.begin(), 100, singular.begin() + 100);
  const OnDevice<double> a(singular), b(std::vector<double>(100, 1)), low(std::vector<double>(100, 3)),
      high(std::vector<double>(100, 4));
  const VerifiedReport report =
      cuda::verified_solve(100, 1, a.data(), 100, b.data(), 100, low.data(), high.data(), 100);
  EXPECT_FALSE(report.verified);
  EXPECT_NE(report.reason, "");
  EXPECT_EQ(low.read(), std::vector<double>(100, 3));
  singular[205] = NAN;
  const OnDevice<double> bad(singular);
  EXPECT_THROW(
      static_cast<void>(cuda::verified_solve(100, 1, bad.data(), 100, b.data(), 100, low.data(), high.data(), 100)),
      Error);
}

TEST(VerifiedOnGpu, ServesDataThatAreTooWideForBits) {
  const OnDevice<double> a(std::vector<double>{0x1p40, 0x1p190, 0x1p-33, 0x1p121}),
      b(std::vector<double>{0x1.cp40, 0x1.ap193}), low(std::vector<double>(2)), high(std::vector<double>(2));
  const VerifiedReport report = cuda::verified_solve(2, 1, a.data(), 2, b.data(), 2, low.data(), high.data(), 2);
  ASSERT_TRUE(report.verified) << report.text();
  const std::vector<double> x{1, 0x1.8p72}, l = low.read(), h = high.read();
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(l[i] <= x[i] && x[i] <= h[i]) << l[i] << ' ' << h[i];
}

// Of triangles with known diagonals, turned: integers, so that determinants are exact powers of two.
TEST(VerifiedOnGpu, EnclosesTheDeterminant) {
  for (const std::int64_t n : {1, 40, 300}) {
    std::vector<double> a(static_cast<std::size_t>(n * n), 0);
    const std::vector<double> noise = random_matrix<double>(n * n, 16);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        double& e = a[static_cast<std::size_t>((n - 1 - i) + j * n)];  // rows from the last to the first
        e = i == j               ? (j % 2 == 0 ? 2 : 4)
            : i < j && j < i + 3 ? std::round(noise[static_cast<std::size_t>(i + j * n)])
                                 : 0;
      }
    const bool odd = (n / 2) % 2 != 0;
    const OnDevice<double> device_a(a);
    DeterminantInterval d;
    const VerifiedReport report = cuda::verified_determinant(n, device_a.data(), n, d);
    ASSERT_TRUE(report.verified) << report.text();
    const std::int64_t power = n + n / 2 - d.exponent;  // det = +-2^(n + n / 2)
    const double exact = (odd ? -1 : 1) * std::ldexp(1.0, static_cast<int>(power));
    EXPECT_LE(d.low, exact) << n;
    EXPECT_GE(d.high, exact) << n;
    EXPECT_LT(d.high - d.low, 1e-3) << n;
  }
  const std::vector<double> random = random_matrix<double>(200 * 200, 17);
  const OnDevice<double> device_random(random), singular(std::vector<double>{1, 2, 2, 4});
  DeterminantInterval d, host;
  ASSERT_TRUE(verified_determinant(200, random.data(), 200, host).verified);
  ASSERT_TRUE(cuda::verified_determinant(200, device_random.data(), 200, d).verified);
  const double scale = std::ldexp(1.0, static_cast<int>(host.exponent - d.exponent));
  EXPECT_LE(d.low, host.high * scale);
  EXPECT_GE(d.high, host.low * scale);
  EXPECT_FALSE(cuda::verified_determinant(2, singular.data(), 2, d).verified);
}

// The second difference matrix, least eigenvalue 2 - 2 cos(pi / (n + 1)); its upper triangle holds anything.
TEST(VerifiedOnGpu, BoundsTheLeastEigenvalue) {
  const std::int64_t n = 200, lda = n + 3;
  std::vector<double> a(static_cast<std::size_t>(lda * n), NAN);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) a[static_cast<std::size_t>(i + j * lda)] = i == j ? 2 : i == j + 1 ? -1 : 0;
  const double least = 2 - 2 * std::cos(3.14159265358979 / static_cast<double>(n + 1));
  double bound = -1;
  const OnDevice<double> definite(a);
  const VerifiedReport report = cuda::verified_definite(n, definite.data(), lda, bound);
  EXPECT_TRUE(report.verified) << report.text();
  EXPECT_GT(bound, 0.2 * least);
  EXPECT_LE(bound, least * (1 + 1e-9));
  for (std::int64_t i = 0; i < n; ++i) a[static_cast<std::size_t>(i * (lda + 1))] -= least * 1.0001;
  const OnDevice<double> indefinite(a);
  EXPECT_FALSE(cuda::verified_definite(n, indefinite.data(), lda, bound).verified);
  EXPECT_EQ(bound, 0);
  a[1] = NAN;
  EXPECT_THROW(static_cast<void>(cuda::verified_definite(n, OnDevice<double>(a).data(), lda, bound)), Error);
}

}  // namespace
}  // namespace vernier::test::interval_gpu_test
