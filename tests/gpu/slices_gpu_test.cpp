// Products by slices on a GPU: the bits of the CPU's.
#include "gpu/fixture.hpp"
#include "vernier/slices.hpp"

namespace vernier::test::slices_gpu_test {
namespace {

// A GPU engine and one of the CPU that has as many bits.
struct Pair {
  std::string gpu, cpu;
};
std::ostream& operator<<(std::ostream& out, const Pair& p) { return out << p.gpu; }

class SlicesOnGpu : public testing::TestWithParam<Pair> {
 protected:
  template <class T>
  static std::pair<Matrix<T>, SliceReport> on_gpu(const Call<T>& call, const SliceOptions& options) {
    const std::int64_t m = call.a.rows(), n = call.b.columns(), k = call.a.columns();
    const Matrix<T> a = stored(call.opa, call.a, 3), b = stored(call.opb, call.b, 1);
    Matrix<T> c = call.c.rows() == m ? padded(call.c, 2) : Matrix<T>(m, n, 2);
    const DeviceCopy<T> device_a(a), device_b(b), device_c(c);
    const SliceReport report =
        cuda::gemm_by_slices(call.opa, call.opb, m, n, k, call.alpha, device_a.data(), a.ld(), device_b.data(), b.ld(),
                             call.beta, device_c.data(), c.ld(), options);
    device_c.read(c);
    EXPECT_EQ(c.broken_guard(), "");
    return {c, report};
  }

  template <class T>
  static std::pair<Matrix<T>, SliceReport> on_host(const Call<T>& call, const SliceOptions& options) {
    const std::int64_t m = call.a.rows(), n = call.b.columns(), k = call.a.columns();
    Matrix<T> c = call.c.rows() == m ? call.c : Matrix<T>(m, n);
    const SliceReport report = gemm_by_slices(Op::none, Op::none, m, n, k, call.alpha, call.a.data(), call.a.ld(),
                                              call.b.data(), call.b.ld(), call.beta, c.data(), c.ld(), options);
    return {c, report};
  }

  template <class T>
  SliceReport expect_same(const Call<T>& call, SliceOptions options, const std::string& what) {
    options.engine = GetParam().gpu;
    const auto [got, report] = on_gpu(call, options);
    options.engine = GetParam().cpu;
    options.block = 0;
    const auto [expected, other] = on_host(call, options);
    EXPECT_EQ(report.bits, other.bits) << what;
    EXPECT_EQ(report.slices_a, other.slices_a) << what;
    EXPECT_EQ(report.slices_b, other.slices_b) << what;
    EXPECT_EQ(report.products, other.products) << what;
    EXPECT_EQ(report.left_a, other.left_a) << what;
    EXPECT_EQ(report.left_b, other.left_b) << what;
    EXPECT_EQ(report.fast, other.fast) << what;
    EXPECT_EQ(difference_but_for_nans(got, expected), "") << what;
    return report;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, SlicesOnGpu,
                         testing::Values(Pair{"cublas-fp16", "hopper-wgmma-fp16-fp32"},
                                         Pair{"cublas-bf16", "hopper-wgmma-bf16-fp32"},
                                         Pair{"cublas-int8", "nvidia-int8"}, Pair{"blas", "blas"}),
                         [](const auto& info) {
                           std::string name = info.param.gpu;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(SlicesOnGpu, HaveTheBitsOfTheCpuInEveryMode) {
  for (const Type type : {Type::float64, Type::float32})
    with_type(type, [this]<class T>(T) {
      for (const char* family : {"random_phi_0_5", "random_phi_2", "cancelling", "sparse", "integers"})
        for (const SliceMode mode : {SliceMode::working_precision, SliceMode::correctly_rounded}) {
          const auto [a, b] = make_operands<T>(family, 70, 67, 130, 43);
          expect_same<T>({.a = a, .b = b}, {.mode = mode}, family);
          expect_same<T>({.a = a,
                          .b = b,
                          .opa = Op::transpose,
                          .alpha = T{1} / 3,
                          .beta = T{-0.7f},
                          .c = scattered_matrix<T>(70, 67, 2, 5)},
                         {.mode = mode, .k_block = 64}, std::string(family) + ", alpha, beta, k in blocks");
        }
    });
}

TEST_P(SlicesOnGpu, HaveTheSameBitsForEveryBlockAndLayout) {
  const auto [a, b] = make_operands<double>("random_phi_1", 300, 290, 100, 60);
  const auto expected = on_gpu<double>({.a = a, .b = b}, {.engine = GetParam().gpu}).first;
  for (const Op op : all_ops)
    for (const std::int64_t block : {32, 256})
      EXPECT_EQ(
          difference(
              on_gpu<double>({.a = a, .b = b, .opa = op, .opb = op}, {.engine = GetParam().gpu, .block = block}).first,
              expected),
          "")
          << block;
}

TEST_P(SlicesOnGpu, CorrectlyRoundedIsCorrectlyRounded) {
  for (const double phi : {0.1, 2.0, 8.0}) {
    const auto a = scattered_matrix<double>(65, 180, phi, 58), b = scattered_matrix<double>(180, 60, phi, 59);
    EXPECT_EQ(
        difference(
            on_gpu<double>({.a = a, .b = b}, {.mode = SliceMode::correctly_rounded, .engine = GetParam().gpu}).first,
            on_cpu<double>({.a = a, .b = b}, Contract::exact())),
        "")
        << phi;
  }
}

TEST_P(SlicesOnGpu, PassNanAndInfinity) {
  auto [a, b] = make_operands<double>("random_phi_0_5", 40, 37, 50, 25);
  a(3, 4) = std::numeric_limits<double>::quiet_NaN(), b(9, 8) = -std::numeric_limits<double>::infinity(), a(7, 9) = 0;
  for (const SliceMode mode : {SliceMode::working_precision, SliceMode::correctly_rounded})
    expect_same<double>({.a = a, .b = b}, {.mode = mode}, "nan");
}

TEST(SlicesOnGpuArguments, KBeyondTheBlocksOfALaunchIsTold) {
  const std::int64_t k = 2097121;
  double c = 7;
  try {
    cuda::gemm_by_slices<double>(Op::none, Op::none, 1, 1, k, 1.0, nullptr, 1, nullptr, k, 0.0, &c, 1,
                                 {.engine = "cublas-fp16"});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("expected at most 2097120"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace vernier::test::slices_gpu_test
