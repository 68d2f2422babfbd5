// Products whose C passes through shared memory (split/product/sm90_ring.cuh) against those that keep it in
// registers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "cuda/device.hpp"
#include "split/convert/convert.hpp"
#include "split/product/sm90_split.hpp"
#include "support/generators.hpp"

namespace vernier::test::split_update_test {
namespace {

constexpr SplitForm form = SplitForm::half_shifted;

struct Factor {
  std::int64_t count, k;
  cuda::DeviceBuffer<float> data;
  cuda::DeviceBuffer<std::byte> lines;
  cuda::DeviceBuffer<std::int32_t> unscale;
  cuda::DeviceBuffer<std::uint32_t> status;

  explicit Factor(const Matrix<float>& x)  // its columns
      : count(x.columns()),
        k(x.rows()),
        data(static_cast<std::size_t>(count * k)),
        lines(static_cast<std::size_t>(count * cuda::split_line_count(form, k) * split_line_bytes)),
        unscale(static_cast<std::size_t>(count)),
        status(static_cast<std::size_t>(count)) {
    for (std::int64_t j = 0; j < count; ++j)
      cuda::copy_to_device(data.data() + j * k, x.data() + j * x.ld(), static_cast<std::size_t>(k) * sizeof(float));
  }
  FloatVectors vectors() const { return {data.data(), count, k, k, 1}; }
  SplitPlane plane() const { return {lines.data(), cuda::split_line_count(form, k), unscale.data(), status.data()}; }
};

// C of the kernel that keeps it in registers, and of update_split, in pieces of some tiles where that is no triangle.
struct Both {
  std::vector<float> c, direct, staged;
};

Both multiply_both(const Matrix<float>& a, const Matrix<float>& b, std::int64_t ldc, bool triangle,
                   int multiprocessors) {
  const Factor fa(a), fb(b);
  const auto size = static_cast<std::size_t>(ldc * b.columns());
  Both result;
  Random random(5);
  for (std::size_t i = 0; i < size; ++i) result.c.push_back(static_cast<float>(random.normal()));
  cuda::split_operands(form, {fa.vectors(), fa.plane()}, {fb.vectors(), fb.plane()}, {}, nullptr);
  for (const bool staged : {false, true}) {
    const cuda::DeviceBuffer<float> c(size);
    cuda::copy_to_device(c.data(), result.c.data(), c.bytes());
    cuda::SplitProduct product{.a = fa.vectors(),
                               .b = fb.vectors(),
                               .a_plane = fa.plane(),
                               .b_plane = fb.plane(),
                               .alpha = {-1, nullptr},
                               .beta = {1, nullptr},
                               .c = c.data(),
                               .ldc = ldc,
                               .multiprocessors = multiprocessors,
                               .triangle = staged && triangle};
    const auto tiles = static_cast<int>((a.columns() + 127) / 128 * ((b.columns() + 255) / 256));
    const int piece = triangle ? tiles : tiles / 3 + 1;
    if (!staged) cuda::half_128x128.multiply(product, nullptr);
    for (int first = 0; staged && first < tiles; first += piece) {
      product.first_tile = first, product.end_tile = first + piece;
      cuda::update_split(product, nullptr);
    }
    cuda::check(cudaDeviceSynchronize(), "product");
    auto& to = staged ? result.staged : result.direct;
    to.resize(size);
    cuda::check(cudaMemcpy(to.data(), c.data(), c.bytes(), cudaMemcpyDeviceToHost), "C");
  }
  return result;
}

bool same(float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); }

// rows of C, columns, k; blocks that share them, so that each takes several tiles.
struct Shape {
  std::int64_t m, n, k;
  int multiprocessors;
};

class SplitUpdate : public testing::TestWithParam<Shape> {};

TEST_P(SplitUpdate, HasTheBitsOfTheKernelThatKeepsCInRegisters) {
  const auto [m, n, k, multiprocessors] = GetParam();
  for (const bool strange : {false, true}) {
    Matrix<float> a = scattered_matrix<float>(k, m, 0.5, 1), b = scattered_matrix<float>(k, n, 0.5, 2);
    if (strange) {
      a(3, 70) = std::numeric_limits<float>::infinity();
      b(5, 9) = std::numeric_limits<float>::quiet_NaN();
      for (std::int64_t l = 0; l < k; ++l) a(l, 33) *= 0x1p-100f, b(l, 41) *= 0x1p-60f, a(l, 100) *= 0x1p90f;
    }
    const Both both = multiply_both(a, b, m + 64, false, multiprocessors);
    for (std::size_t i = 0; i < both.c.size(); ++i)
      ASSERT_TRUE(same(both.direct[i], both.staged[i]))
          << "row " << i % static_cast<std::size_t>(m + 64) << ", column " << i / static_cast<std::size_t>(m + 64)
          << ": " << both.direct[i] << " and " << both.staged[i] << (strange ? ", strange" : "");
  }
}

TEST_P(SplitUpdate, LeavesOutTilesBesideATriangle) {
  const auto [m, n, k, multiprocessors] = GetParam();
  const Both both = multiply_both(scattered_matrix<float>(k, m, 0.5, 3), scattered_matrix<float>(k, n, 0.5, 4), m, true,
                                  multiprocessors);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      const auto at = static_cast<std::size_t>(i + j * m);
      const bool outside = i / 128 * 128 + 128 <= j / 256 * 256;
      ASSERT_TRUE(same(both.staged[at], outside ? both.c[at] : both.direct[at])) << "row " << i << ", column " << j;
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SplitUpdate,
                         testing::Values(Shape{128, 128, 64, 0}, Shape{384, 640, 256, 4}, Shape{2176, 5120, 256, 0},
                                         Shape{5120, 4608, 256, 116}));

}  // namespace
}  // namespace vernier::test::split_update_test
