// How products on a GPU live with streams: capture in a graph, factors in device memory, empty products.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "base/duration.hpp"
#include "gpu/engines.hpp"
#include "gpu/fixture.hpp"

namespace vernier::test::stream_test {
namespace {

constexpr std::int64_t m = 300, n = 200, k = 500;

TEST(StreamsOnGpu, ACapturedProductHasTheBitsOfTheCpuForNewDataToo) {
  const Contract contract = reproducible(Contract::normwise());
  Call<double> call{.a = scattered_matrix<double>(m, k, 0.5, 1), .b = scattered_matrix<double>(k, n, 0.5, 2)};
  call.pad_a = call.pad_b = call.pad_c = 0;
  Matrix<double> c(m, n);
  const DeviceCopy<double> a(call.a), b(call.b), device_c(c);
  const cuda::Stream stream;
  cuda::Options options{.contract = contract, .engine = usual_engine(), .stream = stream};
  const std::size_t bytes = cuda::gemm_workspace<double>(m, n, k, options);
  const cuda::DeviceBuffer<std::byte> workspace(bytes);
  options.workspace = workspace.data();
  options.workspace_bytes = bytes;
  const double one = 1, zero = 0;
  const auto product = [&] {
    return cuda::gemm(Op::none, Op::none, m, n, k, &one, a.data(), m, b.data(), k, &zero, device_c.data(), m, options);
  };
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  product();
  cuda::check(cudaStreamEndCapture(stream, &graph), "capture");
  cuda::check(cudaGraphInstantiate(&executable, graph, 0), "graph");
  for (const bool special : {false, true}) {
    if (special) {
      call.a = scattered_matrix<double>(m, k, 0.5, 3);
      call.a(5, 6) = std::numeric_limits<double>::infinity();
      cuda::copy_to_device(a.data(), call.a.data(), sizeof(double) * m * k);
    }
    cuda::check(cudaGraphLaunch(executable, stream), "graph");
    stream.wait();
    device_c.read(c);
    EXPECT_EQ(difference_but_for_nans(c, on_cpu(call, Contract::normwise())), "") << "special values: " << special;
  }
  (void)cudaGraphExecDestroy(executable);
  (void)cudaGraphDestroy(graph);
}

TEST(StreamsOnGpu, AProductThatNothingCouldTellAboutIsNotCaptured) {
  const cuda::DeviceBuffer<double> x(m * n + m * k + k * n);
  const cuda::Stream stream;
  const double one = 1, zero = 0;
  for (const Contract& contract : {Contract::exact(), reproducible(Contract::fp64()), Contract::bits(70)}) {
    const cuda::Options options{.contract = contract, .engine = usual_engine(), .stream = stream};
    cudaGraph_t graph = nullptr;
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    EXPECT_THROW(cuda::gemm(Op::none, Op::none, m, n, k, &one, x.data(), m, x.data() + m * k, k, &zero,
                            x.data() + m * k + k * n, m, options),
                 Error)
        << contract.text();
    (void)cudaStreamEndCapture(stream, &graph);
    (void)cudaGraphDestroy(graph);
  }
}

// A graph without a workspace of the caller's has memory nodes; it is replayed while the library works for others.
TEST(StreamsOnGpu, ACapturedProductWithoutAWorkspaceHasItsOwnMemory) {
  constexpr std::int64_t size = 2048;
  const Call<float> call{.a = scattered_matrix<float>(size, size, 0.5, 1),
                         .b = scattered_matrix<float>(size, size, 0.5, 2)};
  const DeviceCopy<float> a(call.a), b(call.b);
  Matrix<float> c(size, size), expected(size, size);
  const DeviceCopy<float> captured(c), direct(c);
  const cuda::Stream stream;
  cuda::Options options{.contract = Contract::fp32(), .stream = stream};
  const float one = 1, zero = 0;
  const auto product = [&](const DeviceCopy<float>& out) {
    return cuda::gemm(Op::none, Op::none, size, size, size, &one, a.data(), size, b.data(), size, &zero, out.data(),
                      size, options);
  };
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  const Report report = product(captured);
  cuda::check(cudaStreamEndCapture(stream, &graph), "capture");
  EXPECT_EQ(report.plan.scheme, "split");
  cuda::check(cudaGraphInstantiate(&executable, graph, 0), "graph");
  for (int i = 0; i < 3; ++i) {
    cuda::check(cudaGraphLaunch(executable, stream), "graph");
    product(direct);
  }
  stream.wait();
  captured.read(c);
  direct.read(expected);
  EXPECT_EQ(difference(c, expected), "");
  (void)cudaGraphExecDestroy(executable);
  (void)cudaGraphDestroy(graph);
}

TEST(StreamsOnGpu, FactorsMayLieInDeviceMemory) {
  const Call<double> call{.a = scattered_matrix<double>(m, k, 0.5, 1),
                          .b = scattered_matrix<double>(k, n, 0.5, 2),
                          .alpha = 0.3,
                          .beta = -0.7,
                          .c = scattered_matrix<double>(m, n, 0.5, 3)};
  Matrix<double> factors(2, 1);
  factors(0, 0) = call.alpha;
  factors(1, 0) = call.beta;
  const DeviceCopy<double> device_factors(factors), a(call.a), b(call.b), c(call.c);
  cuda::gemm(Op::none, Op::none, m, n, k, device_factors.data(), a.data(), m, b.data(), k, device_factors.data() + 1,
             c.data(), m,
             cuda::Options{.contract = reproducible(Contract::fp64()), .pointer_mode = cuda::PointerMode::device});
  cuda::check(cudaDeviceSynchronize(), "gemm");
  Matrix<double> got(m, n);
  c.read(got);
  Options options;
  options.contract = reproducible(Contract::fp64());
  Call<double> dense = call;
  EXPECT_EQ(difference(got, padded(multiply(dense, options).c, 0)), "");
}

TEST(StreamsOnGpu, ProductsOfNothingScaleC) {
  for (const double beta : {0.0, 1.0, -2.5})
    for (const double alpha : {0.0, 1.0}) {
      const std::int64_t depth = alpha == 0 ? 5 : 0;
      const Call<double> call{.a = scattered_matrix<double>(70, depth, 0.5, 1),
                              .b = scattered_matrix<double>(depth, 33, 0.5, 2),
                              .alpha = alpha,
                              .beta = beta,
                              .c = scattered_matrix<double>(70, 33, 0.5, 3)};
      EXPECT_EQ(difference(multiply_on_gpu(call, {.contract = Contract::fp64()}).c,
                           multiply(call, Options{.contract = Contract::fp64()}).c),
                "")
          << "alpha = " << alpha << ", beta = " << beta;
    }
}

// A product of its own shape on a stream of its own.
struct Lane {
  explicit Lane(const Call<double>& call)
      : rows(call.a.rows()), columns(call.b.columns()), length(call.a.columns()), a(call.a), b(call.b) {}

  void multiply() const {
    const double one = 1, zero = 0;
    cuda::gemm(Op::none, Op::none, rows, columns, length, &one, a.data(), rows, b.data(), length, &zero, c.data(), rows,
               {.contract = reproducible(Contract::fp64()), .stream = stream});
  }

  std::int64_t rows, columns, length;
  DeviceCopy<double> a, b, c{Matrix<double>(rows, columns)};
  cuda::Stream stream;
};

// Whoever multiplies beside it. VERNIER_CAMPAIGN_SECONDS goes on for so long.
TEST(StreamsOnGpu, EightThreadsOnEightStreamsEachHaveOneHash) {
  constexpr int threads = 8, streams = 8, rounds = 5;
  const char* asked = std::getenv("VERNIER_CAMPAIGN_SECONDS");
  const double least = asked != nullptr ? std::strtod(asked, nullptr) : 0, begin = seconds_now();
  std::vector<Call<double>> calls;
  std::vector<Matrix<double>> expected;
  for (int s = 0; s < streams; ++s) {
    const std::int64_t more = 37 * s;
    calls.push_back({.a = scattered_matrix<double>(m + more, k - more, 0.5, 10 + s),
                     .b = scattered_matrix<double>(k - more, n + 2 * more, 0.5, 20 + s)});
    expected.push_back(on_cpu(calls.back(), reproducible(Contract::fp64())));
  }
  std::atomic<int> products{0}, others{0};
  const auto work = [&] {
    std::vector<std::unique_ptr<Lane>> lanes;
    for (const Call<double>& call : calls) lanes.push_back(std::make_unique<Lane>(call));
    for (int round = 0; round < rounds || seconds_now() - begin < least; ++round) {
      for (const auto& lane : lanes) lane->multiply();
      for (std::size_t s = 0; s < lanes.size(); ++s) {
        Matrix<double> c(lanes[s]->rows, lanes[s]->columns);
        lanes[s]->stream.wait();
        lanes[s]->c.read(c);
        others += difference(c, expected[s]).empty() ? 0 : 1;
        ++products;
      }
    }
  };
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back(work);
  for (std::thread& t : all) t.join();
  EXPECT_EQ(others, 0);
  EXPECT_GE(products, threads * streams * rounds);
  std::printf("%d products, %d other hashes\n", products.load(), others.load());
}

}  // namespace
}  // namespace vernier::test::stream_test
