// The kernels of corrections in dd, on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lapack/quad/quad_vectors.cuh"
#include "support/quad_values.hpp"

namespace vernier::cuda::quad_vectors_test {
namespace {

std::size_t at(std::int64_t x) { return static_cast<std::size_t>(x); }
double number(ColumnSize size) { return std::bit_cast<double>(size); }

TEST(QuadVectorKernels, CorrectByScaledSolutions) {
  const std::int64_t n = 150, columns = 3, ld = n + 4;
  std::vector<double> b = test::random_quads<double>(ld * columns, 0.5, 1);
  for (std::int64_t i = 0; i < n; ++i) b[at(i + ld)] = std::ldexp(b[at(i + ld)], -400), b[at(i + 2 * ld)] = 0;
  std::vector<dd> r(at(n * columns)), x = test::random_quads<dd>(n * columns, 0.5, 2), d = r, next = r;
  std::vector<ColumnSize> sizes(9);
  std::vector<double> scaled(r.size());
  launch("load", load_vectors<double>, vector_shape(n, columns), nullptr, n, b.data(), ld, r.data(), sizes.data());
  launch("scale", scale_vectors, vector_shape(n, columns), nullptr, n, r.data(), sizes.data(), scaled.data());
  launch(
      "add", add_correction, vector_shape(n, columns), nullptr,
      Correction{n, scaled.data(), sizes.data(), x.data(), d.data(), next.data(), sizes.data() + 3, sizes.data() + 6});
  for (std::int64_t c = 0; c < columns; ++c) {
    double largest = 0, largest_scaled = 0, largest_next = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::size_t e = at(i + c * n);
      EXPECT_EQ(r[e], dd(b[at(i + c * ld)]));
      EXPECT_EQ(d[e], r[e]);  // powers of two forth and back
      EXPECT_EQ(next[e], x[e] + d[e]);
      largest = std::max(largest, std::fabs(r[e].hi)), largest_scaled = std::max(largest_scaled, std::fabs(scaled[e]));
      largest_next = std::max(largest_next, std::fabs(next[e].hi + next[e].lo));
    }
    EXPECT_EQ(number(sizes[at(c)]), largest);
    EXPECT_EQ(number(sizes[at(c + 3)]), largest);
    EXPECT_EQ(number(sizes[at(c + 6)]), largest_next);
    EXPECT_TRUE(c == 2 ? largest_scaled == 0 : largest_scaled >= 1 && largest_scaled < 2) << largest_scaled;
  }
}

TEST(QuadVectorKernels, ShowNan) {
  std::vector<dd> x(5, dd(1));
  x[3] = dd(std::numeric_limits<double>::quiet_NaN());
  ColumnSize size = 0;
  launch("measure", measure_vectors_of_dd, vector_shape(5, 1), nullptr, std::int64_t{5}, x.data(), &size);
  EXPECT_TRUE(std::isnan(number(size)));
}

}  // namespace
}  // namespace vernier::cuda::quad_vectors_test
