// Panels of LU by a cluster, as Hopper has it, and by blocks of any GPU, whose mail goes through device memory.
#include "lapack/lu/panel.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <vector>

#include "cuda/device.hpp"
#include "support/random.hpp"

namespace vernier::test::panel_test {
namespace {

using namespace cuda;

template <class T>
struct Panel {
  std::vector<T> a;
  std::vector<int> integers;  // exchanges, pivots, info

  bool operator==(const Panel&) const = default;
};

// Columns [first, first + width) of a matrix that a panel has factorised.
template <class T, class Factor>
Panel<T> factored(const std::vector<T>& a, int rows, int first, Factor factor) {
  constexpr int ld = 128;
  DeviceBuffer<T> matrix(a.size());
  copy_to_device(matrix.data(), a.data(), matrix.bytes());
  Panel<T> out{std::vector<T>(a.size()), std::vector<int>(static_cast<std::size_t>(3 * rows + 1), -7)};
  out.integers.back() = INT_MAX;
  DeviceBuffer<int> integers(out.integers.size());
  copy_to_device(integers.data(), out.integers.data(), integers.bytes());
  static const auto mail = [] {  // of all panels, one after another
    DeviceBuffer<std::byte> memory(panel_mail_bytes);
    check(cudaMemset(memory.data(), 0xff, memory.bytes()), "mail");
    return memory;
  }();
  int* const next = integers.data();
  factor(
      PanelTask<T>{
          {matrix.data(), ld}, rows, first, {next, next + rows}, next + 2 * rows, next + 3 * rows, ld, mail.data()},
      cudaStreamPerThread);
  check(cudaStreamSynchronize(cudaStreamPerThread), "panel");
  check(cudaMemcpy(out.a.data(), matrix.data(), matrix.bytes(), cudaMemcpyDeviceToHost), "matrix");
  check(cudaMemcpy(out.integers.data(), integers.data(), integers.bytes(), cudaMemcpyDeviceToHost), "integers");
  return out;
}

template <class T>
class PanelOnGpu : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PanelOnGpu, Types);

TYPED_TEST(PanelOnGpu, HasTheSameBitsByAClusterAndInMemory) {
  using T = TypeParam;
  if (!cuda::current_device().hopper()) GTEST_SKIP() << "needs a GPU of compute capability 9.0";
  for (const int rows : {64, 130, 900, 4000, 9000, 20000, 50000, 100000})
    for (const int first : {0, 32}) {
      if (panel_width<T>(rows - first) == 0) continue;
      Random random(static_cast<std::uint64_t>(rows + first));
      std::vector<T> a(static_cast<std::size_t>(rows) * 128);
      for (T& x : a) x = static_cast<T>(random.integer(0, 9) == 0 ? 0 : 2 * random.uniform() - 1);
      for (int i = 0; i < rows; ++i) a[static_cast<std::size_t>(i) * 128 + 35] = 0;  // no pivot there
      const auto by_cluster = factored(a, rows, first, factor_panel_by_cluster<T>);
      const auto in_memory = factored(a, rows, first, factor_panel_in_memory<T>);
      EXPECT_TRUE(by_cluster == in_memory) << rows << " rows from " << first;
      EXPECT_FALSE(by_cluster.a == a);
    }
}

}  // namespace
}  // namespace vernier::test::panel_test
