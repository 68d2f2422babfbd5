// Batches whose products go together, by residues: the bits of the products one by one.
#include <cstring>

#include "gpu/fixture.hpp"
#include "support/error_message.hpp"
#include "vernier/cuda_level3.hpp"

namespace vernier::test::batched_test {
namespace {

template <class T>
struct BatchCase {
  std::int64_t m, n, k, count;
  Op opa = Op::none, opb = Op::none;
  T alpha = 1, beta = 0;
  std::int64_t wide = -1;  // the product whose rows are of wide exponents, if any
  bool same_a = false;     // all products have one A
};

// Products of the batch behind each other, with a gap of `gap` elements.
template <class T>
struct DeviceBatch {
  std::vector<T> host;
  std::int64_t stride;
  cuda::DeviceBuffer<T> device;

  DeviceBatch(std::int64_t size, std::int64_t count, std::int64_t gap)
      : host(static_cast<std::size_t>((size + gap) * count), T{7}), stride(size + gap), device(host.size()) {}
  T* at(std::int64_t i) { return host.data() + i * stride; }
  void upload() { cuda::copy_to_device(device.data(), host.data(), device.bytes()); }
  std::vector<T> read() const {
    std::vector<T> x(host.size());
    cuda::check(cudaMemcpy(x.data(), device.data(), device.bytes(), cudaMemcpyDeviceToHost), "to the host");
    return x;
  }
};

class BatchedOnGpu : public testing::TestWithParam<std::string> {
 protected:
  template <class T>
  void check(const BatchCase<T>& c, const Contract& contract) {
    constexpr std::int64_t pad = 3;
    const std::int64_t lda = (c.opa == Op::none ? c.m : c.k) + pad, ldb = (c.opb == Op::none ? c.k : c.n) + pad,
                       ldc = c.m + pad;
    DeviceBatch<T> a(lda * (c.opa == Op::none ? c.k : c.m), c.count, 5),
        b(ldb * (c.opb == Op::none ? c.n : c.k), c.count, 1), x(ldc * c.n, c.count, 2), y(ldc * c.n, c.count, 2);
    for (std::int64_t i = 0; i < c.count; ++i) {
      const auto [left, right] = make_operands<T>(i == c.wide ? "random_phi_4" : "random_phi_0_5", c.m, c.n, c.k,
                                                  static_cast<std::uint64_t>(100 + i));
      const Matrix<T> stored_a = stored(c.opa, left, pad), stored_b = stored(c.opb, right, pad),
                      c0 = padded(scattered_matrix<T>(c.m, c.n, 0.5, static_cast<std::uint64_t>(i)), pad);
      std::copy_n(stored_a.data(), stored_a.ld() * stored_a.columns(), a.at(i));
      std::copy_n(stored_b.data(), stored_b.ld() * stored_b.columns(), b.at(i));
      for (DeviceBatch<T>* out : {&x, &y}) std::copy_n(c0.data(), c0.ld() * c0.columns(), out->at(i));
    }
    for (DeviceBatch<T>* z : {&a, &b, &x, &y}) z->upload();
    const cuda::Options options{.contract = contract, .engine = GetParam(), .strassen_levels = 0};
    const std::int64_t stride_a = c.same_a ? 0 : a.stride;
    const Report report = cuda::gemm_strided_batched<T>(c.opa, c.opb, c.m, c.n, c.k, &c.alpha, a.device.data(), lda,
                                                        stride_a, b.device.data(), ldb, b.stride, &c.beta,
                                                        x.device.data(), ldc, x.stride, c.count, options);
    for (std::int64_t i = 0; i < c.count; ++i)
      cuda::gemm<T>(c.opa, c.opb, c.m, c.n, c.k, &c.alpha, a.device.data() + i * stride_a, lda,
                    b.device.data() + i * b.stride, ldb, &c.beta, y.device.data() + i * y.stride, ldc, options);
    cuda::check(cudaDeviceSynchronize(), "batch");
    const std::vector<T> got = x.read(), want = y.read();
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(std::memcmp(&got[i], &want[i], sizeof(T)), 0)
          << "m = " << c.m << ", n = " << c.n << ", k = " << c.k << ", op " << text(c.opa) << text(c.opb) << ", "
          << contract.text() << ": product " << static_cast<std::int64_t>(i) / x.stride << ", element "
          << static_cast<std::int64_t>(i) % x.stride << ": " << got[i] << " for " << want[i];
    EXPECT_EQ(report.plan.scheme, "residues");
    EXPECT_EQ(report.plan.routine, "gemm_strided_batched");
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, BatchedOnGpu, testing::Values("sm90_int8", "mma_int8", "cublas_int8"),
                         ReadableName());

TEST_P(BatchedOnGpu, HasTheBitsOfSingleProducts) {
  Random random(3);
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    const auto size = [&](std::int64_t most) { return random.integer(0, 3) == 0 ? 64 : random.integer(1, most); };
    const std::int64_t m = size(150), n = size(150), k = size(300), count = random.integer(2, 9);
    const Op opa = all_ops[random.integer(0, 1)], opb = all_ops[random.integer(0, 1)];
    const Contract contract = std::vector{Contract::fp64(), Contract::normwise(), Contract::bits(70),
                                          Contract::bits(16)}[static_cast<std::size_t>(i % 4)];
    const std::int64_t wide = i % 5 == 0 ? random.integer(0, static_cast<int>(count) - 1) : -1;
    if (i % 3 == 0)
      check<float>({m, n, k, count, opa, opb, 0.3f, 0.7f, wide}, reproducible(contract));
    else
      check<double>({m, n, k, count, opa, opb, i % 2 == 0 ? 1.0 : 0.3, i % 2 == 0 ? 0.0 : -1.5, wide, i % 7 == 0},
                    reproducible(contract));
  }
}

TEST_P(BatchedOnGpu, HasThemForLongVectorsAndForTheSqrtRule) {
  check<double>({40, 33, 5000, 3, Op::transpose, Op::none}, reproducible(Contract::fp64()));
  check<double>({20, 33, 9000, 3}, reproducible(Contract::fp64()));
  check<double>({130, 100, 2048, 4}, Contract::fp64());
}

// Fewer products at a time than there are.
TEST_P(BatchedOnGpu, GoesInGroupsWhereMemoryIsShort) {
  const double one = 1, zero = 0;
  constexpr std::int64_t n = 64, count = 50;
  DeviceBatch<double> a(n * n, count, 0), x(n * n, count, 0), y(n * n, count, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const Matrix<double> c = scattered_matrix<double>(n, n, 0.5, static_cast<std::uint64_t>(i));
    std::copy_n(stored(Op::none, c, 0).data(), n * n, a.at(i));
  }
  a.upload();
  cuda::Options options{.contract = reproducible(Contract::fp64()), .engine = GetParam()};
  const auto multiply = [&](DeviceBatch<double>& out) {
    return cuda::gemm_strided_batched<double>(Op::none, Op::transpose, n, n, n, &one, a.device.data(), n, a.stride,
                                              a.device.data(), n, a.stride, &zero, out.device.data(), n, out.stride,
                                              count, options);
  };
  cuda::gemm<double>(Op::none, Op::transpose, n, n, n, &one, a.device.data(), n, a.device.data(), n, &zero,
                     x.device.data(), n, options);  // the stream's last product is a regular one
  const std::size_t whole = multiply(x).plan.workspace;
  options.workspace_limit = cuda::gemm_workspace<double>(n, n, n, options, true);
  EXPECT_LT(multiply(y).plan.workspace, whole);
  cuda::check(cudaDeviceSynchronize(), "batch");
  EXPECT_EQ(x.read(), y.read());
}

TEST_P(BatchedOnGpu, MissingMatricesAreFoundBeforeAnyWork) {
  const double one = 1, zero = 0;
  DeviceBatch<double> a(64 * 64, 4, 0);
  const cuda::Options options{.contract = reproducible(Contract::fp64()), .engine = GetParam()};
  const auto multiply = [&](const double* A, const double* B, double* C) {
    cuda::gemm_strided_batched<double>(Op::none, Op::none, 64, 64, 64, &one, A, 64, 4096, B, 64, 4096, &zero, C, 64,
                                       4096, 4, options);
  };
  double* x = a.device.data();
  EXPECT_THROW(multiply(nullptr, x, x), Error);
  EXPECT_THROW(multiply(x, nullptr, x), Error);
  EXPECT_THROW(multiply(x, x, nullptr), Error);
}

// By arrays of addresses: a matrix that is missing is found before any work, and A and B are not looked at for alpha =
// 0.
TEST_P(BatchedOnGpu, AddressesAreLookedAtWhereMatricesAreRead) {
  const double zero = 0, one = 1, half = 0.5;
  constexpr std::int64_t n = 4, count = 3;
  DeviceBatch<double> x(n * n, count, 0);
  x.upload();
  double* const base = x.device.data();
  const std::vector<double*> all = {base, base + n * n, base + 2 * n * n}, gap = {base, nullptr, base + 2 * n * n};
  cuda::DeviceBuffer<double*> in(count), out(count);
  cuda::copy_to_device(out.data(), all.data(), out.bytes());
  cuda::copy_to_device(in.data(), gap.data(), in.bytes());
  const cuda::Options options{.contract = reproducible(Contract::fp64()), .engine = GetParam()};
  const auto multiply = [&](const double& alpha, double* const* a, double* const* c) {
    cuda::gemm_batched<double>(Op::none, Op::none, n, n, n, &alpha, a, n, a, n, &half, c, n, count, options);
  };
  EXPECT_EQ(message([&] { multiply(one, in.data(), out.data()); }), "gemm_batched: a matrix of product 1 is null");
  EXPECT_EQ(message([&] { multiply(zero, nullptr, in.data()); }), "gemm_batched: a matrix of product 1 is null");
  EXPECT_EQ(x.read(), x.host);
  multiply(zero, nullptr, out.data());
  cuda::check(cudaDeviceSynchronize(), "batch");
  EXPECT_EQ(x.read(), std::vector<double>(n * n * count, 3.5));
}

}  // namespace
}  // namespace vernier::test::batched_test
