// The kernels of B - A X in sums of three doubles, on the host, beside exact sums.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lapack/quad/quad_residual.cuh"
#include "number/long_accumulator.hpp"
#include "support/quad_values.hpp"

namespace vernier::cuda::quad_residual_test {
namespace {

std::size_t size(std::int64_t x) { return static_cast<std::size_t>(x); }

// What is left of the exact residual beside r, and the sum of magnitudes.
void expect_residual(std::int64_t n, std::int64_t columns, std::int64_t slices, double phi) {
  const std::int64_t lda = n + 2;
  const std::vector<double> a = test::random_quads<double>(lda * n, phi, 1);
  const std::vector<dd> x = test::random_quads<dd>(n * columns, phi, 2);
  std::vector<dd> b = test::random_quads<dd>(n * columns, phi, 3);
  for (std::int64_t i = 0; i < n; ++i) {  // the first row cancels in double
    const dd e = x[size(i)];
    if (i == 0) b[0] = dd(0);
    b[0].hi += a[size(i * lda)] * e.hi;
  }
  std::vector<dd> r = b;
  std::vector<TripleSum> partial(size(n * columns * slices));
  launch_residual({n, columns, slices, a.data(), lda, x.data(), partial.data(), r.data()}, nullptr);
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t i = 0; i < n; ++i) {
      const dd own = b[size(i + c * n)], found = r[size(i + c * n)];
      LongAccumulator sum;
      double magnitudes = std::fabs(own.hi);
      for (const double part : {own.hi, own.lo, -found.hi, -found.lo}) sum.add_product(part, 1);
      for (std::int64_t l = 0; l < n; ++l) {
        const dd e = x[size(l + c * n)];
        sum.add_product(-a[size(i + l * lda)], e.hi), sum.add_product(-a[size(i + l * lda)], e.lo);
        magnitudes += std::fabs(a[size(i + l * lda)] * e.hi);
      }
      const double lost = std::pow(static_cast<double>(4 * n + 200) * 0x1p-53, 3) * magnitudes;
      EXPECT_LE(std::fabs(sum.rounded<double>()), 0x1p-103 * std::fabs(found.hi) + lost) << i << ' ' << c;
    }
}

TEST(QuadResidualKernels, KeepThreeDoubles) {
  expect_residual(1, 1, 1, 0.5);
  expect_residual(40, 3, 4, 0.5);
  expect_residual(131, 2, 7, 5);
}

}  // namespace
}  // namespace vernier::cuda::quad_residual_test
