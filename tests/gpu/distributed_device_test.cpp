// Distributed products with data in the memory of a GPU: the bits of gemm on the CPU.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <complex>

#include "support/device_parties.hpp"

namespace vernier::test::distributed_device_test {
namespace {

class GpuMemory {
 public:
  GpuMemory() = default;
  ~GpuMemory() {
    for (void* block : blocks_) (void)cudaFree(block);
  }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  std::byte* upload(const void* from, std::size_t bytes) {
    void* to = nullptr;
    EXPECT_EQ(cudaMalloc(&to, std::max<std::size_t>(1, bytes)), cudaSuccess);
    blocks_.push_back(to);
    EXPECT_EQ(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), cudaSuccess);
    return static_cast<std::byte*>(to);
  }
  void download(void* to, const std::byte* from, std::size_t bytes) {
    EXPECT_EQ(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  }

 private:
  std::vector<void*> blocks_;
};

class PartsOnGpu : public testing::TestWithParam<DeviceCase> {};

template <class T>
void expect_bits_of_gemm(const DeviceCase& x) {
  DeviceParties<T, GpuMemory> parties(x, static_cast<std::uint64_t>(x.m + 10 * x.n + 100 * x.k));
  EXPECT_EQ(parties.different(), 0) << x.m << " x " << x.n << " x " << x.k << ", " << x.contract;
}

TEST_P(PartsOnGpu, HaveTheBitsOfGemm) {
  expect_bits_of_gemm<double>(GetParam());
  expect_bits_of_gemm<std::complex<double>>(GetParam());
  expect_bits_of_gemm<std::complex<float>>(GetParam());
  DeviceCase single = GetParam();
  single.words = !single.words;
  expect_bits_of_gemm<float>(single);
}

constexpr const char *fp64 = "fp64+reproducible", *exact = "exact";
constexpr Op turned = Op::transpose, conjugated = Op::conjugate_transpose;

INSTANTIATE_TEST_SUITE_P(
    Cases, PartsOnGpu,
    testing::Values(DeviceCase{.m = 150, .n = 90, .k = 700, .contract = fp64, .alpha = 0.3, .beta = -2},
                    DeviceCase{.m = 64, .n = 200, .k = 300, .contract = fp64, .opa = conjugated, .opb = turned},
                    DeviceCase{.m = 70, .n = 40, .k = 20000, .contract = fp64, .words = false},
                    DeviceCase{.m = 90, .n = 65, .k = 400, .contract = fp64, .opa = turned, .reach = 15, .beta = 1},
                    DeviceCase{.m = 40, .n = 33, .k = 128, .contract = fp64, .opb = conjugated, .special = true},
                    DeviceCase{.m = 60, .n = 50, .k = 90, .contract = exact, .alpha = 3, .beta = 0.1},
                    DeviceCase{.m = 20, .n = 10, .k = 40, .contract = exact, .reach = 12}));

// Exponents so wide that rows go apart from the rest, and moduli do not hold them under exact.
TEST(PartsOnGpuOfWideData, HaveTheBitsOfGemm) {
  expect_bits_of_gemm<double>({.m = 100, .n = 80, .k = 600, .contract = fp64, .reach = 0, .first_row = 40});
  expect_bits_of_gemm<std::complex<double>>(
      {.m = 50, .n = 30, .k = 300, .contract = fp64, .reach = 0, .first_row = 30, .words = false});
  expect_bits_of_gemm<double>({.m = 12, .n = 9, .k = 30, .contract = exact, .reach = 400});
}

}  // namespace
}  // namespace vernier::test::distributed_device_test
