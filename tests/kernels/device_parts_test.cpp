// Distributed products with data in device memory, whose kernels run on the host: this program's device_parts() comes
// before the library's.
#include "residue/partial_gpu/device_parts.cu"
#undef VERNIER_INSTANTIATE

#include <gtest/gtest.h>

#include <complex>
#include <list>

#include "residue/partial_gpu/element_kernels.cu"
#include "residue/partial_gpu/part_kernels.cu"
#include "support/device_parties.hpp"

namespace vernier::test::device_parts_test {
namespace {

class HostMemory {
 public:
  std::byte* upload(const void* from, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(from);
    return blocks_.emplace_back(first, first + bytes).data();
  }
  void download(void* to, const std::byte* from, std::size_t bytes) {
    std::copy_n(from, bytes, static_cast<std::byte*>(to));
  }

 private:
  std::list<std::vector<std::byte>> blocks_;
};

template <class T>
void expect_bits_of_gemm(const DeviceCase& x, int passes, bool digits = false) {
  DeviceParties<T, HostMemory> parties(x, static_cast<std::uint64_t>(x.m + 10 * x.n + 100 * x.k));
  EXPECT_EQ(parties.different(), 0) << x.m << " x " << x.n << " x " << x.k << ", " << x.contract;
  EXPECT_EQ(parties.passes(), passes);
  EXPECT_EQ(parties.moduli(0) == 0, digits);
}

using Complex = std::complex<double>;

TEST(PartsInDeviceMemory, HaveTheBitsOfGemm) {
  expect_bits_of_gemm<double>({.m = 13, .n = 9, .k = 31, .contract = "fp64+reproducible", .alpha = 0.3, .beta = -2}, 1);
  expect_bits_of_gemm<float>(
      {.m = 7, .n = 12, .k = 20, .contract = "fp32+reproducible", .opa = Op::transpose, .words = false}, 1);
  expect_bits_of_gemm<Complex>(
      {.m = 6, .n = 7, .k = 19, .contract = "fp64+reproducible", .opa = Op::conjugate_transpose, .opb = Op::transpose},
      1);
}

TEST(PartsInDeviceMemory, HaveThemWhereAnOperandIsLongerThanAnEngineTakes) {
  expect_bits_of_gemm<double>({.m = 5, .n = 4, .k = 300, .contract = "fp64+reproducible", .opb = Op::transpose}, 1);
}

TEST(PartsInDeviceMemory, HaveThemForWideData) {
  expect_bits_of_gemm<double>({.m = 11, .n = 6, .k = 40, .contract = "fp64+reproducible", .reach = 25, .beta = 1}, 1);
  expect_bits_of_gemm<double>({.m = 20, .n = 5, .k = 30, .contract = "fp64+reproducible", .reach = 0, .first_row = 40},
                              2);
  expect_bits_of_gemm<Complex>({.m = 18,
                                .n = 3,
                                .k = 17,
                                .contract = "fp64+reproducible",
                                .opa = Op::transpose,
                                .reach = 0,
                                .first_row = 40,
                                .words = false},
                               2);
}

TEST(PartsInDeviceMemory, HaveThemForNanAndInfinities) {
  expect_bits_of_gemm<double>({.m = 8, .n = 6, .k = 12, .contract = "fp64+reproducible", .special = true}, 1);
  expect_bits_of_gemm<Complex>(
      {.m = 5, .n = 6, .k = 9, .contract = "fp64+reproducible", .special = true, .words = false}, 1);
}

TEST(PartsInDeviceMemory, HaveThemUnderExact) {
  expect_bits_of_gemm<double>({.m = 9, .n = 5, .k = 14, .contract = "exact", .alpha = 3, .beta = 0.1}, 1);
  expect_bits_of_gemm<double>({.m = 4, .n = 3, .k = 6, .contract = "exact", .reach = 400}, 1, true);
}

// The words of this rank and those of others, as NCCL adds them up.
TEST(PartsInDeviceMemory, SumOverRanksAsIntegers) {
  const std::int64_t indices[] = {0, 1, 2};
  const double a[] = {1, 2, 3}, b[] = {0.5, -4, 7};
  DistributedProduct<double> product(Op::none, Op::none, 3, 3, 1, {.contract = Contract::parse("exact")},
                                     DeviceMemory{});
  const MatrixPart<const double> column{a, 3, indices, 3, indices, 1}, row{b, 1, indices, 1, indices, 3};
  while (product.scanning()) {
    product.scan(Side::left, column), product.scan(Side::right, row);
    product.combine();
  }
  std::vector<std::byte> elements(9 * product.element_bytes(0));
  product.partial(0, column, row, elements.data(), 3);
  std::vector<std::int64_t> others(9 * product.words(0));
  product.to_words(0, 9, elements.data(), others.data());
  for (std::int64_t& word : others) word *= 4;  // four ranks like this one
  product.all_reduce(0, 9, elements.data(), &others);
  double c[9];
  const std::byte* sums[] = {elements.data()};
  product.finish(sums, 3, 1.0, 0.0, {c, 3, indices, 3, indices, 3});
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) EXPECT_EQ(c[i + 3 * j], 5 * a[i] * b[j]);
}

}  // namespace
}  // namespace vernier::test::device_parts_test
