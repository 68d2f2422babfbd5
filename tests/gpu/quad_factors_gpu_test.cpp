// Factorisations and triangles in dd and binary128 in device memory: the bits of the CPU's.
#include <gtest/gtest.h>

#include <vector>

#include "base/status.hpp"
#include "on_device.hpp"
#include "support/quad_values.hpp"
#include "vernier/quad_arrays.hpp"

namespace vernier::test::quad_factors_gpu_test {
namespace {

template <class T>
class QuadFactorsOnGpu : public testing::Test {};
#if defined(__SIZEOF_FLOAT128__)
using Types = testing::Types<dd, binary128>;
#else
using Types = testing::Types<dd>;
#endif
TYPED_TEST_SUITE(QuadFactorsOnGpu, Types);

// A random matrix with a heavy diagonal, of `order` rows and more behind them.
template <class T>
std::vector<T> heavy(std::int64_t order, std::int64_t ld, std::uint64_t seed) {
  std::vector<T> x = random_quads<T>(ld * order, 0.5, seed);
  for (std::int64_t i = 0; i < order; ++i)
    x[static_cast<std::size_t>(i * (ld + 1))] = T(3.0 * static_cast<double>(order));
  return x;
}

TYPED_TEST(QuadFactorsOnGpu, LuAndSystems) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 47, 130}) {
    const std::int64_t nrhs = 5, lda = n + 3, ldb = n + 1;
    std::vector<T> a = random_quads<T>(lda * n, 0.5, 1), b = random_quads<T>(ldb * nrhs, 0.5, 2);
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(n), -1);
    const OnDevice<T> device_a(a), device_b(b);
    const OnDevice<std::int64_t> device_pivots(pivots);
    EXPECT_EQ(quad_gesv(n, nrhs, a.data(), lda, pivots.data(), b.data(), ldb), 0);
    EXPECT_EQ(cuda::quad_gesv(n, nrhs, device_a.data(), lda, device_pivots.data(), device_b.data(), ldb), 0);
    EXPECT_TRUE(device_a.has(a) && device_b.has(b) && device_pivots.has(pivots)) << n;
  }
  std::vector<T> wide = random_quads<T>(60 * 100, 0.5, 3);
  std::fill_n(wide.begin() + 60 * 50, 60, T(0.0));  // a column
  std::vector<std::int64_t> pivots(60, -1);
  const OnDevice<T> device_wide(wide);
  const OnDevice<std::int64_t> device_pivots(pivots);
  EXPECT_EQ(quad_getrf(60, 100, wide.data(), 60, pivots.data()), 51);
  EXPECT_EQ(cuda::quad_getrf(60, 100, device_wide.data(), 60, device_pivots.data()), 51);
  EXPECT_TRUE(device_wide.has(wide) && device_pivots.has(pivots));
}

TYPED_TEST(QuadFactorsOnGpu, Cholesky) {
  using T = TypeParam;
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    const std::int64_t n = 110, lda = n + 2;
    std::vector<T> a = heavy<T>(n, lda, 4);
    const OnDevice<T> device_a(a);
    EXPECT_EQ(quad_potrf(uplo, n, a.data(), lda), 0);
    EXPECT_EQ(cuda::quad_potrf(uplo, n, device_a.data(), lda), 0);
    EXPECT_TRUE(device_a.has(a));
    a[static_cast<std::size_t>(60 * (lda + 1))] = T(-1.0);
    const OnDevice<T> indefinite(a);
    EXPECT_EQ(cuda::quad_potrf(uplo, n, indefinite.data(), lda), quad_potrf(uplo, n, a.data(), lda));
  }
}

TYPED_TEST(QuadFactorsOnGpu, Triangles) {
  using T = TypeParam;
  const std::int64_t m = 70, n = 61, lda = 75, ldb = 73;
  for (const Side side : {Side::left, Side::right})
    for (const Op op : {Op::none, Op::transpose}) {
      const std::vector<T> a = heavy<T>(side == Side::left ? m : n, lda, 5);
      std::vector<T> b = random_quads<T>(ldb * n, 0.5, 6);
      const OnDevice<T> device_a(a), device_b(b);
      quad_trsm(side, Uplo::upper, op, Diag::non_unit, m, n, -0.3, a.data(), lda, b.data(), ldb);
      cuda::quad_trsm(side, Uplo::upper, op, Diag::non_unit, m, n, -0.3, device_a.data(), lda, device_b.data(), ldb);
      EXPECT_TRUE(device_b.has(b));
      std::vector<T> c = random_quads<T>(300 * 300, 0.5, 7);
      const OnDevice<T> device_c(c);
      const std::int64_t k = op == Op::none ? 19 : lda;
      const std::vector<T> x = random_quads<T>(300 * lda, 0.5, 8);
      const OnDevice<T> device_x(x);
      const Uplo uplo = side == Side::left ? Uplo::lower : Uplo::upper;
      quad_syrk(uplo, op, 300, k, 0.7, x.data(), op == Op::none ? 300 : lda, -1.5, c.data(), 300);
      cuda::quad_syrk(uplo, op, 300, k, 0.7, device_x.data(), op == Op::none ? 300 : lda, -1.5, device_c.data(), 300);
      EXPECT_TRUE(device_c.has(c));
    }
}

TYPED_TEST(QuadFactorsOnGpu, RefuseBeforeTheFirstWrite) {
  using T = TypeParam;
  const std::vector<T> a = random_quads<T>(9, 0.5, 9);
  const OnDevice<T> device_a(a);
  const OnDevice<std::int64_t> pivots(std::vector<std::int64_t>(3));
  QuadOptions options;
  options.contract = QuadContract::parse("exact");
  EXPECT_THROW((void)cuda::quad_getrf(3, 3, device_a.data(), 3, pivots.data(), options), Error);
  EXPECT_THROW((void)cuda::quad_getrf(3, 3, device_a.data(), 2, pivots.data()), Error);
  EXPECT_THROW((void)cuda::quad_potrf(Uplo::lower, 3, static_cast<T*>(nullptr), 3), Error);
  EXPECT_TRUE(device_a.has(a));
}

TEST(QuadArraysOnGpu, HaveTheBitsOfOneArray) {
  constexpr std::int64_t n = 70, ld = 73;
  const std::vector<dd> a = heavy<dd>(n, ld, 21), b = random_quads<dd>(ld * n, 0.5, 22);
  std::vector<dd> c = random_quads<dd>(ld * n, 0.5, 23), lu = a, lower = a, x = b, y = b;
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n), -1);
  struct Arrays {
    OnDevice<double> hi, lo;
    explicit Arrays(const std::vector<dd>& e) : hi(part(e, &dd::hi)), lo(part(e, &dd::lo)) {}
    static std::vector<double> part(const std::vector<dd>& e, double dd::*which) {
      std::vector<double> p;
      for (const dd& element : e) p.push_back(element.*which);
      return p;
    }
    DdArrays get() const { return {hi.data(), lo.data()}; }
    bool has(const std::vector<dd>& e) const { return hi.has(part(e, &dd::hi)) && lo.has(part(e, &dd::lo)); }
  };
  const Arrays device_a(a), device_b(b), device_c(c), device_lu(lu), device_lower(lower), device_x(x), device_y(y);
  const OnDevice<std::int64_t> device_pivots(pivots);
  quad_gemm(Op::none, Op::transpose, n, n, n, 0.5, a.data(), ld, b.data(), ld, 2, c.data(), ld);
  cuda::quad_gemm(Op::none, Op::transpose, n, n, n, 0.5, device_a.get(), ld, device_b.get(), ld, 2, device_c.get(), ld);
  EXPECT_TRUE(device_c.has(c));
  quad_syrk(Uplo::upper, Op::none, n, n, 1, b.data(), ld, 1, c.data(), ld);
  cuda::quad_syrk(Uplo::upper, Op::none, n, n, 1, device_b.get(), ld, 1, device_c.get(), ld);
  EXPECT_TRUE(device_c.has(c));
  EXPECT_EQ(quad_potrf(Uplo::lower, n, lower.data(), ld), 0);
  EXPECT_EQ(cuda::quad_potrf(Uplo::lower, n, device_lower.get(), ld), 0);
  EXPECT_TRUE(device_lower.has(lower));
  quad_trsm(Side::right, Uplo::lower, Op::none, Diag::non_unit, n, n, 1, lower.data(), ld, x.data(), ld);
  cuda::quad_trsm(Side::right, Uplo::lower, Op::none, Diag::non_unit, n, n, 1, device_lower.get(), ld, device_x.get(),
                  ld);
  EXPECT_TRUE(device_x.has(x));
  EXPECT_EQ(quad_gesv(n, n, lu.data(), ld, pivots.data(), y.data(), ld), 0);
  EXPECT_EQ(cuda::quad_gesv(n, n, device_lu.get(), ld, device_pivots.data(), device_y.get(), ld), 0);
  EXPECT_TRUE(device_lu.has(lu) && device_y.has(y) && device_pivots.has(pivots));
}

}  // namespace
}  // namespace vernier::test::quad_factors_gpu_test
