// Prepared operands on a GPU: the bits of unprepared ones, whatever the matrix became since.
#include <algorithm>
#include <functional>
#include <thread>

#include "cuda/device.hpp"
#include "gpu/fixture.hpp"
#include "vernier/prepared.hpp"

namespace vernier::test::prepared_gpu_test {
namespace {

// Which factors are prepared.
struct Which {
  bool a, b;
};
constexpr Which every_way[] = {{true, false}, {false, true}, {true, true}};

class PreparedOnGpu : public testing::TestWithParam<std::string> {
 protected:
  cuda::Options options(Contract contract, int strassen = 0) const {
    return {.contract = contract, .engine = GetParam(), .strassen_levels = strassen};
  }

  template <class T>
  static std::pair<Matrix<T>, PreparedReport> product(const Call<T>& call, Which which, const cuda::Options& options) {
    const std::int64_t m = call.a.rows(), n = call.b.columns(), k = call.a.columns();
    const Matrix<T> a = stored(call.opa, call.a, 3), b = stored(call.opb, call.b, 1);
    Matrix<T> c = call.c.rows() == m ? padded(call.c, 2) : Matrix<T>(m, n, 2);
    const DeviceCopy<T> device_a(a), device_b(b), device_c(c);
    const auto left = [&] {
      const DeviceCopy<T> gone(a);  // by the time of the product
      return cuda::PreparedOperand<T>(Side::left, call.opa, m, k, gone.data(), a.ld(), options);
    };
    const auto right = [&] {
      const DeviceCopy<T> gone(b);
      return cuda::PreparedOperand<T>(Side::right, call.opb, k, n, gone.data(), b.ld(), options);
    };
    PreparedReport r;
    if (which.a && which.b)
      r = cuda::gemm(left(), right(), m, n, k, &call.alpha, &call.beta, device_c.data(), c.ld(), options);
    else if (which.a)
      r = cuda::gemm(left(), call.opb, m, n, k, &call.alpha, device_b.data(), b.ld(), &call.beta, device_c.data(),
                     c.ld(), options);
    else
      r = cuda::gemm(call.opa, right(), m, n, k, &call.alpha, device_a.data(), a.ld(), &call.beta, device_c.data(),
                     c.ld(), options);
    cuda::check(cudaDeviceSynchronize(), "prepared product");
    device_c.read(c);
    EXPECT_EQ(c.broken_guard(), "");
    return {c, r};
  }

  template <class T>
  static void expect_same(const Call<T>& call, const cuda::Options& options, const std::string& what,
                          bool read = true) {
    const Matrix<T> expected = multiply_on_gpu(call, options).c;
    for (const Which which : every_way) {
      const auto [c, report] = product(call, which, options);
      EXPECT_EQ(difference_but_for_nans(c, expected), "") << what;
      EXPECT_EQ(report.prepared_a, which.a && read) << what;
      EXPECT_EQ(report.prepared_b, which.b && read) << what;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, PreparedOnGpu, testing::Values("sm90_int8", "mma_int8", "cublas_int8"),
                         ReadableName());

TEST_P(PreparedOnGpu, HaveTheBitsOfUnpreparedOperandsUnderEveryContractAndOp) {
  for (const Type type : {Type::float64, Type::float32})
    with_type(type, [this]<class T>(T) {
      const auto [a, b] = make_operands<T>("random_phi_0_5", 170, 167, 330, 43);
      for (const Contract& contract : {Contract::fp64(), reproducible(Contract::fp64()), Contract::fp32(),
                                       Contract::normwise(), Contract::bits(70)})
        for (const Op op : all_ops)
          expect_same<T>({.a = a,
                          .b = b,
                          .opa = op,
                          .opb = op,
                          .alpha = T{1} / 3,
                          .beta = T{0.7f},
                          .c = scattered_matrix<T>(170, 167, 0.5, 42)},
                         options(contract), contract.text());
    });
}

// Scales of 14 moduli, k beyond what one launch converts and beyond one product, and Strassen-Winograd.
TEST_P(PreparedOnGpu, HaveTheBitsOfUnpreparedOperandsAtEveryLength) {
  for (const std::int64_t k : {1500, 5000, 9000, 70000})
    for (const int strassen : {0, 1}) {
      const auto [a, b] = make_operands<double>("random_phi_0_5", 200, 150, k, 44);
      expect_same<double>({.a = a, .b = b, .opa = k == 5000 ? Op::transpose : Op::none},
                          options(Contract::fp64(), strassen), std::to_string(k));
      const auto [x, y] = make_operands<float>("random_phi_0_5", 200, 150, k, 45);
      expect_same<float>({.a = x, .b = y}, options(Contract::fp32(), strassen), std::to_string(k));
    }
}

TEST_P(PreparedOnGpu, ProductsThatAskForMoreTakeTheCopy) {
  for (const std::string family : {"random_phi_4", "wide_row", "wide_row_against_wide_column", "near_overflow"}) {
    const auto [a, b] = make_operands<double>(family, 131, 117, 210, 41);
    const Matrix<double> expected = on_cpu<double>({.a = a, .b = b}, Contract::fp64());
    for (const Which which : every_way)
      EXPECT_EQ(
          difference(product<double>({.a = a, .b = b}, which, options(reproducible(Contract::fp64()))).first, expected),
          "")
          << family;
  }
  auto [a, b] = make_operands<double>("random_phi_0_5", 131, 117, 1210, 41);
  b(11, 13) = std::numeric_limits<double>::infinity();
  expect_same<double>({.a = a, .b = b}, options(Contract::fp64()), "infinity", false);
}

TEST_P(PreparedOnGpu, BlocksOfCAndSmallWorkspacesLeaveNoTrace) {
  const auto [a, b] = make_operands<double>("random_phi_0_5", 700, 600, 1300, 46);
  const Matrix<double> expected = multiply_on_gpu<double>({.a = a, .b = b}, options(Contract::fp64())).c;
  for (const std::size_t mebibytes : {12, 30})
    for (const Which which : every_way) {
      cuda::Options small = options(Contract::fp64());
      small.workspace_limit = mebibytes << 20;
      const auto [c, report] = product<double>({.a = a, .b = b}, which, small);
      EXPECT_EQ(difference(c, expected), "") << mebibytes;
      if (mebibytes == 12) {
        EXPECT_TRUE(which.a ? report.prepared_a : report.prepared_b);
        EXPECT_EQ(report.plan.m_block * report.plan.n_block < 700 * 600, which.a != which.b);
      }
    }
}

TEST_P(PreparedOnGpu, OneObjectServesManyStreamsAndGraphs) {
  auto [a, b] = make_operands<double>("random_phi_0_5", 300, 260, 500, 47);
  const double one = 1, zero = 0;
  cuda::Options mine = options(Contract::normwise());
  const Matrix<double> expected = multiply_on_gpu<double>({.a = a, .b = b}, mine).c;
  const DeviceCopy<double> device_a(a), device_b(b);
  const cuda::PreparedOperand<double> prepared(Side::left, Op::none, 300, 500, device_a.data(), a.ld(), mine);
  cuda::check(cudaMemset(device_a.data(), 0, 1000), "cudaMemset");  // the object has a copy
  const auto multiply_on = [&](cudaStream_t stream, double* c) {
    cuda::Options own = mine;
    own.stream = stream;
    cuda::gemm(prepared, Op::none, 300, 260, 500, &one, device_b.data(), b.ld(), &zero, c, 300, own);
  };
  std::vector<std::thread> threads;
  std::vector<Matrix<double>> results(4, Matrix<double>(300, 260));
  for (Matrix<double>& c : results)
    threads.emplace_back([&] {
      const DeviceCopy<double> device_c(c);
      const cuda::Stream stream;
      multiply_on(stream, device_c.data());
      stream.wait();
      device_c.read(c);
    });
  for (std::thread& t : threads) t.join();
  for (const Matrix<double>& c : results) EXPECT_EQ(difference(c, expected), "");

  Matrix<double> c(300, 260);
  const DeviceCopy<double> device_c(c);
  const cuda::Stream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t instance = nullptr;
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin");
  multiply_on(stream, device_c.data());
  cuda::check(cudaStreamEndCapture(stream, &graph), "end");
  cuda::check(cudaGraphInstantiate(&instance, graph, 0), "instantiate");
  cuda::check(cudaGraphLaunch(instance, stream), "launch");
  stream.wait();
  device_c.read(c);
  EXPECT_EQ(difference(c, expected), "");
  cuda::check(cudaGraphExecDestroy(instance), "destroy");
  cuda::check(cudaGraphDestroy(graph), "destroy");
}

TEST_P(PreparedOnGpu, LeaveWordThatNothingWasToBeDecided) {
  const auto [a, b] = make_operands<double>("random_phi_0_5", 60, 50, 200, 49);
  for (const Which which : every_way)
    for (const bool asynchronous : {false, true}) {
      cuda::Outcome old;
      std::fill(std::begin(old.words), std::end(old.words), 1);  // of a product that was too wide
      const cuda::DeviceBuffer<cuda::Outcome> outcome(1);
      cuda::copy_to_device(outcome.data(), &old, sizeof old);
      cuda::Options mine = options(Contract::normwise());
      mine.asynchronous = asynchronous;
      mine.outcome = outcome.data();
      PreparedReport report = product<double>({.a = a, .b = b}, which, mine).second;
      cuda::Outcome found;
      cuda::check(cudaMemcpy(&found, outcome.data(), sizeof found, cudaMemcpyDeviceToHost), "outcome");
      EXPECT_NO_THROW(cuda::complete_report(report, found));
      EXPECT_EQ(report.plan.scheme, "residues");
    }
}

TEST(PreparedOperandsOnGpu, ThatDoNotFitAreRefused) {
  const Matrix<double> x = scattered_matrix<double>(3, 4, 1, 48);
  const DeviceCopy<double> device(x);
  const double one = 1, zero = 0;
  const auto refused = [](const std::function<void()>& call, const std::string& word) {
    try {
      call();
      ADD_FAILURE() << "no error: " << word;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  const auto make = [&](const cuda::Options& options) {
    return cuda::PreparedOperand<double>(Side::left, Op::none, 3, 4, device.data(), x.ld(), options);
  };
  refused([&] { make({.contract = Contract::exact()}); }, "exact");
  refused([&] { make({.engine = "native"}); }, "native");
  refused([&] { cuda::PreparedOperand<double>(Side::left, Op::none, 3, 4, device.data(), 2); }, "ldx = 2");
  const cuda::PreparedOperand<double> a = make({});
  const auto call = [&](std::int64_t m, std::int64_t k, const cuda::Options& options) {
    cuda::gemm(a, Op::none, m, 1, k, &one, device.data(), 4, &zero, device.data(), 4, options);
  };
  refused([&] { call(3, 3, {}); }, "prepared as 3 x 4; expected 3 x 3");
  refused([&] { call(3, 4, {.contract = Contract::bits(60)}); }, "prepared for contract fp64");
  refused([&] { call(3, 4, {.engine = a.engine() == "sm90_int8" ? "cublas_int8" : "sm90_int8"}); }, "engine");
  Matrix<double> after = x;
  device.read(after);
  EXPECT_EQ(difference(after, x), "");
  int devices = 0;
  cuda::check(cudaGetDeviceCount(&devices), "devices");
  if (devices < 2) return;
  cuda::check(cudaSetDevice(1), "device");
  refused([&] { call(3, 4, {}); }, "prepared on device 0; expected device 1");
  cuda::check(cudaSetDevice(0), "device");
}

}  // namespace
}  // namespace vernier::test::prepared_gpu_test
