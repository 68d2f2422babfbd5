// Matrices that reach further than 32 bits count, and that fill the device.
#include "cuda/device.hpp"
#include "gpu/engines.hpp"
#include "gpu/fixture.hpp"
#include "gpu/hashed.hpp"
#include "gpu/split_fixture.hpp"
#include "support/bound.hpp"

namespace vernier::test::large_test {
namespace {

struct Shape {
  std::int64_t m, n, k;
  std::int64_t lda = 0, ldb = 0, ldc = 0;  // 0: dense
  const char* floats = "native";           // the scheme that floats take by estimate
};

constexpr std::int64_t samples = 6;

// The s-th of six indices that include both ends.
std::int64_t sampled(std::int64_t s, std::int64_t size) {
  return std::min(size - 1, s * ((size - 1) / (samples - 1)) + (s == samples - 1 ? size : 0));
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  cuda::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

// A product whose operands are known by formula, and its sampled entries.
template <class T>
class LargeProduct {
 public:
  explicit LargeProduct(Shape s) : s_(s) {
    if (s_.lda == 0) s_.lda = s_.m;
    if (s_.ldb == 0) s_.ldb = s_.k;
    if (s_.ldc == 0) s_.ldc = s_.m;
  }

  std::size_t bytes() const { return (count(s_.lda, s_.k) + count(s_.ldb, s_.n) + count(s_.ldc, s_.n)) * sizeof(T); }

  Report run(const cuda::Options& options) {
    const cuda::DeviceBuffer<T> a(count(s_.lda, s_.k)), b(count(s_.ldb, s_.n)), c(count(s_.ldc, s_.n));
    fill_hashed(1, s_.m, s_.k, a.data(), s_.lda);
    fill_hashed(2, s_.k, s_.n, b.data(), s_.ldb);
    cuda::check(cudaMemset(c.data(), 0xff, c.bytes()), "poison");  // NaN
    const T one = 1, zero = 0;
    const Report report = cuda::gemm(Op::none, Op::none, s_.m, s_.n, s_.k, &one, a.data(), s_.lda, b.data(), s_.ldb,
                                     &zero, c.data(), s_.ldc, options);
    for (std::int64_t i = 0; i < samples; ++i)
      for (std::int64_t j = 0; j < samples; ++j)
        cuda::check(cudaMemcpy(&got_(i, j), c.data() + sampled(i, s_.m) + sampled(j, s_.n) * s_.ldc, sizeof(T),
                               cudaMemcpyDeviceToHost),
                    "a sampled entry");
    return report;
  }

  const Matrix<T>& got() const { return got_; }
  // The sampled rows of A and columns of B.
  Matrix<T> a() const {
    return Matrix<T>::of(samples, s_.k, [&](auto i, auto l) { return static_cast<T>(hashed(1, sampled(i, s_.m), l)); });
  }
  Matrix<T> b() const {
    return Matrix<T>::of(s_.k, samples, [&](auto l, auto j) { return static_cast<T>(hashed(2, l, sampled(j, s_.n))); });
  }

 private:
  static std::size_t count(std::int64_t ld, std::int64_t columns) { return static_cast<std::size_t>(ld * columns); }

  Shape s_;
  Matrix<T> got_{samples, samples};
};

constexpr std::int64_t past_31_bits = (std::int64_t{1} << 31) + 64;

const std::pair<const char*, Shape> shapes[] = {
    {"C_of_more_than_2_31_entries", {66000, 33000, 96, 0, 0, 0, "split"}},
    {"A_of_more_than_2_31_entries", {140000, 64, 16000}},
    {"B_of_more_than_2_31_entries", {96, 140000, 16000, 0, 0, 0, "split"}},
    {"lda_past_2_31", {50, 70, 2, past_31_bits, 0, 0}},
    {"ldb_past_2_31", {50, 2, 70, 0, past_31_bits, 0}},
    {"ldc_past_2_31", {50, 2, 70, 0, 0, past_31_bits}},
};

#define VERNIER_NEEDS_DEVICE_MEMORY(bytes) \
  cuda::release_workspace();               \
  if (free_bytes() < (bytes)) GTEST_SKIP() << "NOT TESTED: this device has less than " << (bytes) / 1000000000 << " GB"

class LargeOnGpu : public testing::TestWithParam<std::pair<const char*, Shape>> {};
INSTANTIATE_TEST_SUITE_P(Shapes, LargeOnGpu, testing::ValuesIn(shapes),
                         [](const auto& shape) { return std::string(shape.param.first); });

// All entries are ordinary, so that the scales of a row do not depend on the others.
TEST_P(LargeOnGpu, DoublesByResiduesHaveTheBitsOfTheCpu) {
  LargeProduct<double> product(GetParam().second);
  VERNIER_NEEDS_DEVICE_MEMORY(product.bytes() + product.bytes() / 4);
  product.run({.contract = reproducible(Contract::fp64())});
  EXPECT_EQ(difference(product.got(), on_cpu<double>({.a = product.a(), .b = product.b()}, Contract::fp64())), "");
}

TEST_P(LargeOnGpu, FloatsKeepTheBound) {
  LargeProduct<float> product(GetParam().second);
  VERNIER_NEEDS_DEVICE_MEMORY(product.bytes() * 2);
  const std::string scheme = product.run({.contract = Contract::fp32()}).plan.scheme;
  if (cuda::takes_hopper_kernels()) {  // others gain nothing from thin products
    EXPECT_EQ(scheme, GetParam().second.floats);
  }
  EXPECT_EQ(broken_bound(Contract::fp32(), product.a(), product.b(), product.got()), "");
}

// Leading dimensions, or the way to the last column, beyond 32 bits: the bits are those of the model.
struct FarColumns {
  std::int64_t m, n, k;
  Op opa, opb;
  std::int64_t lda, ldb, ldc;  // 0: dense
};

TEST(LargeSplit, FarColumnsAreFoundInEveryLayout) {
  constexpr Op none = Op::none, transpose = Op::transpose;
  constexpr std::int64_t spread = past_31_bits / 16;  // 70 columns end behind 2^33 elements
  const auto at = [](Op op, int seed, std::int64_t i, std::int64_t j) {
    return op == none ? hashed(seed, i, j) : hashed(seed, j, i);
  };
  for (const FarColumns& s : {FarColumns{50, 4, 70, none, none, spread, 0, 0},
                              {50, 4, 3, none, none, past_31_bits, 0, 0},
                              {4, 50, 70, transpose, none, past_31_bits, 0, 0},
                              {50, 4, 70, none, none, 0, past_31_bits, 0},
                              {50, 4, 70, transpose, transpose, 0, spread, 0},
                              {50, 4, 3, transpose, transpose, 0, past_31_bits, 0},
                              {50, 4, 70, none, none, 0, 0, past_31_bits}}) {
    const bool a_none = s.opa == none, b_none = s.opb == none;
    const std::int64_t a_rows = a_none ? s.m : s.k, a_columns = a_none ? s.k : s.m, b_rows = b_none ? s.k : s.n,
                       b_columns = b_none ? s.n : s.k;
    const std::int64_t lda = std::max(s.lda, a_rows), ldb = std::max(s.ldb, b_rows), ldc = std::max(s.ldc, s.m);
    const auto a_size = static_cast<std::size_t>(lda * a_columns), b_size = static_cast<std::size_t>(ldb * b_columns),
               c_size = static_cast<std::size_t>(ldc * s.n);
    VERNIER_NEEDS_DEVICE_MEMORY((a_size + b_size + c_size) * sizeof(float) + (std::size_t{1} << 30));
    const cuda::DeviceBuffer<float> a(a_size), b(b_size), c(c_size);
    fill_hashed(1, a_rows, a_columns, a.data(), lda);
    fill_hashed(2, b_rows, b_columns, b.data(), ldb);
    const auto on_host_a = Matrix<float>::of(s.m, s.k, [&](auto i, auto l) { return at(s.opa, 1, i, l); });
    const auto on_host_b = Matrix<float>::of(s.k, s.n, [&](auto l, auto j) { return at(s.opb, 2, l, j); });
    for (const char* name : cuda::split_kernel_schemes())
      for (const bool plain : {false, true}) {
        const Scheme& scheme = find_scheme(name);
        split::multiply_on_gpu(scheme, s.opa, s.opb, s.m, s.n, s.k, 1, a.data(), lda, b.data(), ldb, 0, c.data(), ldc,
                               nullptr, plain);
        Matrix<float> got(s.m, s.n);
        for (std::int64_t j = 0; j < s.n; ++j)
          cuda::check(cudaMemcpy(&got(0, j), c.data() + j * ldc, static_cast<std::size_t>(s.m) * sizeof(float),
                                 cudaMemcpyDeviceToHost),
                      "a column");
        EXPECT_EQ(difference(got, on_model(scheme, on_host_a, on_host_b)), "")
            << name << (plain ? ", plain" : "") << ", lda " << lda << ", ldb " << ldb << ", ldc " << ldc;
      }
  }
}

// 103 GB of matrices: what is left is the workspace, and C is computed in blocks.
TEST(FullDevice, MultipliesMatricesOfOrder65536) {
  LargeProduct<double> product({65536, 65536, 65536});
  VERNIER_NEEDS_DEVICE_MEMORY(product.bytes() + (std::size_t{8} << 30));
  const Report report = product.run({.contract = reproducible(Contract::fp64()), .engine = usual_engine()});
  EXPECT_LT(report.plan.m_block * report.plan.n_block, std::int64_t{65536} * 65536);
  EXPECT_EQ(difference(product.got(), on_cpu<double>({.a = product.a(), .b = product.b()}, Contract::fp64())), "");
}

}  // namespace
}  // namespace vernier::test::large_test
