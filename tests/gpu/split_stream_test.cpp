// Error-corrected products on a GPU under contract fp32, by the public interface: workspaces, scalars, capture,
// threads, engines by name.
#include <gtest/gtest.h>

#include <future>
#include <limits>
#include <thread>

#include "gpu/engines.hpp"
#include "gpu/fixture.hpp"
#include "gpu/split_fixture.hpp"
#include "support/bound.hpp"
#include "vernier/cuda_level3.hpp"
#include "vernier/split.hpp"

namespace vernier::test::split_stream_test {
namespace {

std::int64_t n = 0;  // large enough to pay

class SplitStream : public testing::Test {
 protected:
  static void SetUpTestSuite() { n = least_split_order(); }
  static Matrix<float> matrix(std::uint64_t seed) { return scattered_matrix<float>(n, n, 0.5, seed); }

  static Report gemm(const DeviceCopy<float>& a, const DeviceCopy<float>& b, const DeviceCopy<float>& c,
                     cuda::Options options = {}, float alpha = 1, float beta = 0) {
    options.contract = Contract::fp32();
    return cuda::gemm<float>(Op::none, Op::none, n, n, n, &alpha, a.data(), n, b.data(), n, &beta, c.data(), n,
                             options);
  }
  static Matrix<float> read(const DeviceCopy<float>& c) {
    cuda::check(cudaDeviceSynchronize(), "gemm");
    Matrix<float> x(n, n);
    c.read(x);
    EXPECT_EQ(x.broken_guard(), "");
    return x;
  }
  static Matrix<float> expected(const DeviceCopy<float>& a, const DeviceCopy<float>& b) {
    const DeviceCopy<float> c(Matrix<float>(n, n));
    EXPECT_EQ(gemm(a, b, c).plan.scheme, "split");
    return read(c);
  }
};

TEST_F(SplitStream, AWorkspaceOfTheExactSizeServesAndNothingBehindItIsTouched) {
  const DeviceCopy<float> a(matrix(1)), b(matrix(2)), c(Matrix<float>(n, n));
  const Matrix<float> whole = expected(a, b);
  const std::size_t bytes = cuda::gemm_workspace<float>(n, n, n, {.contract = Contract::fp32()});
  constexpr std::size_t guard = 8192;
  for (const std::size_t shift : {0, 256, 4096 - 256}) {
    const cuda::DeviceBuffer<unsigned char> memory(bytes + 2 * guard);
    cuda::check(cudaMemset(memory.data(), 0x5a, memory.bytes()), "cudaMemset");
    const Report report = gemm(a, b, c, {.workspace = memory.data() + guard / 2 + shift, .workspace_bytes = bytes});
    EXPECT_EQ(report.plan.scheme, "split") << shift;
    EXPECT_EQ(difference(read(c), whole), "") << shift;
    std::vector<unsigned char> seen(memory.bytes());
    cuda::check(cudaMemcpy(seen.data(), memory.data(), memory.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    const auto begin = seen.begin() + guard / 2 + static_cast<std::ptrdiff_t>(shift);
    const auto untouched = [](unsigned char x) { return x == 0x5a; };
    EXPECT_TRUE(std::all_of(seen.begin(), begin, untouched)) << shift;
    EXPECT_TRUE(std::all_of(begin + static_cast<std::ptrdiff_t>(bytes), seen.end(), untouched)) << shift;
  }
}

TEST_F(SplitStream, AlphaOfZeroInDeviceMemoryReadsNeitherNanNorInfinity) {
  Matrix<float> poisoned = matrix(1), factors(2, 1);
  for (std::int64_t i = 0; i < n; ++i) poisoned(i, i) = std::numeric_limits<float>::quiet_NaN();
  poisoned(3, 4) = std::numeric_limits<float>::infinity();
  Matrix<float> old = matrix(3);
  old(0, 0) = 0.0f, old(1, 0) = -0.0f;
  for (const float beta : {0.0f, -0.5f, 1.0f, -1.0f})
    for (const char* engine : {"", "native"}) {
      factors(0, 0) = 0, factors(1, 0) = beta;
      const DeviceCopy<float> a(poisoned), b(matrix(2)), c(old), scalars(factors);
      cuda::gemm<float>(Op::none, Op::none, n, n, n, scalars.data(), a.data(), n, b.data(), n, scalars.data() + 1,
                        c.data(), n,
                        {.contract = Contract::fp32(), .engine = engine, .pointer_mode = cuda::PointerMode::device});
      const auto scaled = Matrix<float>::of(n, n, [&](auto i, auto j) { return beta == 0 ? 0.0f : beta * old(i, j); });
      EXPECT_EQ(difference(read(c), scaled), "") << beta << engine;
    }
}

TEST_F(SplitStream, ACaptureGivesTheSameBitsWithAWorkspaceAndWithout) {
  const DeviceCopy<float> a(matrix(1)), b(matrix(2));
  const Matrix<float> whole = expected(a, b);
  const cuda::Stream stream;
  const cuda::DeviceBuffer<std::byte> workspace(cuda::gemm_workspace<float>(n, n, n, {.contract = Contract::fp32()}));
  for (const bool own : {true, false}) {  // without, the graph gets memory nodes
    cuda::Options options{.stream = stream};
    if (own) options.workspace = workspace.data(), options.workspace_bytes = workspace.bytes();
    const DeviceCopy<float> c(Matrix<float>(n, n));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t run = nullptr;
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    gemm(a, b, c, options);
    cuda::check(cudaStreamEndCapture(stream, &graph), "capture");
    cuda::check(cudaGraphInstantiate(&run, graph, 0), "graph");
    for (int turn = 0; turn < 3; ++turn) cuda::check(cudaGraphLaunch(run, stream), "graph");
    stream.wait();
    EXPECT_EQ(difference(read(c), whole), "") << own;
    (void)cudaGraphExecDestroy(run);
    (void)cudaGraphDestroy(graph);
  }
}

// Data of one kind, and the scheme that they take.
struct Choice {
  const char* made;
  double phi;
  bool special;

  Matrix<float> data(std::uint64_t seed) const {
    Matrix<float> x = scattered_matrix<float>(n, n, phi, seed);
    if (special) x(3, 4) = std::numeric_limits<float>::quiet_NaN();
    return x;
  }
  // By mma.sync runs are not cut short where k is long.
  std::string scheme() const {
    return cuda::takes_hopper_kernels() || std::string(made) != "bf16x6_short" ? made : "bf16x6_sep";
  }
  void expect(Report report, const cuda::DeviceBuffer<cuda::Outcome>& outcome) const {
    cuda::Outcome found;
    cuda::check(cudaMemcpy(&found, outcome.data(), sizeof found, cudaMemcpyDeviceToHost), "outcome");
    EXPECT_EQ(report.plan.scheme, "split");
    EXPECT_FALSE(report.fallback);
    cuda::complete_report(report, found);
    const bool conventional = std::string(made) == "conventional", hopper = cuda::takes_hopper_kernels();
    EXPECT_EQ(report.plan.reason.find(scheme() + " was made: "), 0U) << phi << ' ' << report.plan.reason;
    EXPECT_EQ(report.fallback, conventional) << phi;
    EXPECT_EQ(report.plan.scheme, conventional ? "native" : "split") << phi;
    EXPECT_EQ(report.plan.engine, conventional ? "conventional" : hopper ? "hopper-wgmma" : "mma.sync") << phi;
  }
};
constexpr Choice choices[] = {
    {"halfhalf_sep", 0.5, false}, {"bf16x6_short", 4, false}, {"conventional", 20, false}, {"conventional", 0.5, true}};

TEST_F(SplitStream, TheOutcomeTellsWhatTheDataTook) {
  const cuda::DeviceBuffer<cuda::Outcome> outcome(1);
  const DeviceCopy<float> c(Matrix<float>(n, n));
  for (const Choice& x : choices) {
    cuda::check(cudaMemset(outcome.data(), 0x5a, outcome.bytes()), "cudaMemset");
    const DeviceCopy<float> a(x.data(1)), b(x.data(2));
    const Report report = gemm(a, b, c, {.outcome = outcome.data()});
    cuda::check(cudaDeviceSynchronize(), "gemm");
    x.expect(report, outcome);
  }
}

TEST_F(SplitStream, AReplayTellsWhatTheDataThatItFoundTook) {
  const cuda::Stream stream;
  const cuda::DeviceBuffer<cuda::Outcome> outcome(1);
  const DeviceCopy<float> a(matrix(1)), b(matrix(2)), c(Matrix<float>(n, n));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t run = nullptr;
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  const Report report = gemm(a, b, c, {.stream = stream, .outcome = outcome.data()});
  cuda::check(cudaStreamEndCapture(stream, &graph), "capture");
  cuda::check(cudaGraphInstantiate(&run, graph, 0), "graph");
  for (const Choice& x : choices) {
    for (const auto& [device, seed] : {std::pair{&a, 1}, std::pair{&b, 2}}) {
      const Matrix<float> data = x.data(static_cast<std::uint64_t>(seed));
      cuda::copy_to_device(device->data(), data.data(), n * n * sizeof(float));
    }
    cuda::check(cudaGraphLaunch(run, stream), "graph");
    stream.wait();
    x.expect(report, outcome);
  }
  (void)cudaGraphExecDestroy(run);
  (void)cudaGraphDestroy(graph);
}

TEST_F(SplitStream, TwoHostThreadsOnTwoStreamsGetTheirOwnProducts) {
  struct Case {
    DeviceCopy<float> a, b, c{Matrix<float>(n, n)};
    cuda::Stream stream;
    Matrix<float> whole;

    explicit Case(std::uint64_t seed) : a(matrix(seed)), b(matrix(seed + 1)), whole(expected(a, b)) {}
  };
  Case cases[2] = {Case(1), Case(3)};
  std::vector<std::thread> threads;
  for (Case& x : cases)
    threads.emplace_back([&x] {
      for (int turn = 0; turn < 50; ++turn) gemm(x.a, x.b, x.c, {.stream = x.stream});
      x.stream.wait();
    });
  for (std::thread& t : threads) t.join();
  for (Case& x : cases) EXPECT_EQ(difference(read(x.c), x.whole), "");
}

TEST_F(SplitStream, ANamedEngineIsTaken) {
  const DeviceCopy<float> a(matrix(1)), b(matrix(2)), c(Matrix<float>(n, n));
  EXPECT_EQ(gemm(a, b, c, {.engine = "native"}).plan.scheme, "native");
  const Report residues = gemm(a, b, c, {.engine = usual_engine()});
  EXPECT_EQ(residues.plan.scheme, "residues");
  EXPECT_EQ(residues.plan.engine, usual_engine());
  EXPECT_THROW(gemm(a, b, c, {.engine = "abacus"}), Error);
}

template <class T>
void check_batch(std::int64_t size, std::int64_t count, const Contract& contract, const char* scheme) {
  const auto all_a = scattered_matrix<T>(size, size * count, 0.5, 1),
             all_b = scattered_matrix<T>(size, size * count, 0.5, 2);
  const DeviceCopy<T> a(all_a), b(all_b), c(Matrix<T>(size, size * count)), addressed(Matrix<T>(size, size * count));
  const T one = 1, zero = 0;
  const std::int64_t stride = size * size;
  const Report report =
      cuda::gemm_strided_batched<T>(Op::none, Op::none, size, size, size, &one, a.data(), size, stride, b.data(), size,
                                    stride, &zero, c.data(), size, stride, count, {.contract = contract});
  EXPECT_EQ(report.plan.scheme, scheme);
  std::vector<T*> addresses;
  for (T* begin : {a.data(), b.data(), addressed.data()})
    for (std::int64_t i = 0; i < count; ++i) addresses.push_back(begin + i * stride);
  const cuda::DeviceBuffer<T*> array(addresses.size());
  cuda::copy_to_device(array.data(), addresses.data(), array.bytes());
  const Report by_address =
      cuda::gemm_batched<T>(Op::none, Op::none, size, size, size, &one, array.data(), size, array.data() + count, size,
                            &zero, array.data() + 2 * count, size, count, {.contract = contract});
  EXPECT_EQ(by_address.plan.scheme, scheme);
  EXPECT_EQ(by_address.plan.routine, "gemm_batched");
  cuda::check(cudaDeviceSynchronize(), "batch");
  Matrix<T> got(size, size * count), got_addressed(size, size * count);
  c.read(got);
  addressed.read(got_addressed);
  if (report.plan.scheme != "native") {  // two kernels of cuBLAS may differ
    EXPECT_EQ(difference(got_addressed, got), "");
  }
  for (const std::int64_t i : {std::int64_t{0}, count / 2, count - 1}) {
    const auto part = [&](const Matrix<T>& x) {
      return Matrix<T>::of(size, size, [&](auto r, auto j) { return x(r, i * size + j); });
    };
    EXPECT_EQ(broken_bound(contract, part(all_a), part(all_b), part(got)), "") << i;
    EXPECT_EQ(broken_bound(contract, part(all_a), part(all_b), part(got_addressed)), "") << i;
  }
}

TEST_F(SplitStream, BatchesAreMultipliedAtOnce) {
  check_batch<float>(512, 32, Contract::fp32(), cuda::takes_hopper_kernels() ? "split" : "native");
  check_batch<float>(24, 50, Contract::fp32(), "native");
  check_batch<double>(24, 50, Contract::fp64(), "native");
}

// The products of a batch of 24 x 24 by addresses, of integers: cuBLAS's sums are exact.
struct SmallBatch {
  static constexpr std::int64_t size = 24, count = 20;

  DeviceCopy<float> a{ones()}, b{ones()}, c{Matrix<float>(size, size*count)};
  cuda::DeviceBuffer<float*> addresses{3 * count};

  SmallBatch() {
    std::vector<float*> all;
    for (float* begin : {a.data(), b.data(), c.data()})
      for (std::int64_t i = 0; i < count; ++i) all.push_back(begin + (count - 1 - i) * size * size);
    cuda::copy_to_device(addresses.data(), all.data(), addresses.bytes());
  }
  static Matrix<float> ones() {
    return Matrix<float>::of(size, size * count, [](auto, auto) { return 1.0f; });
  }
  Report multiply(cudaStream_t stream) const {
    const float one = 1, zero = 0;
    float** const x = addresses.data();
    return cuda::gemm_batched<float>(Op::none, Op::none, size, size, size, &one, x, size, x + count, size, &zero,
                                     x + 2 * count, size, count, {.contract = Contract::fp32(), .stream = stream});
  }
  std::string wrong() const {
    Matrix<float> got(size, size * count);
    c.read(got);
    return difference(got, Matrix<float>::of(size, size * count, [](auto, auto) { return float{size}; }));
  }
};

TEST_F(SplitStream, ASmallBatchByAddressesCanBeCaptured) {
  const cuda::Stream stream;
  const SmallBatch batch;
  batch.multiply(stream);  // a thread's first call makes a handle of cuBLAS
  stream.wait();
  cuda::check(cudaMemset(batch.c.data(), 0xff, SmallBatch::size * SmallBatch::size * 4), "cudaMemset");
  cuda::check(cudaDeviceSynchronize(), "cudaMemset");
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t run = nullptr;
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  EXPECT_EQ(batch.multiply(stream).plan.scheme, "native");
  cuda::check(cudaStreamEndCapture(stream, &graph), "capture");
  cuda::check(cudaGraphInstantiate(&run, graph, 0), "graph");
  cuda::check(cudaGraphLaunch(run, stream), "graph");
  stream.wait();
  EXPECT_EQ(batch.wrong(), "");
  (void)cudaGraphExecDestroy(run);
  (void)cudaGraphDestroy(graph);
}

// Another thread makes a handle of cuBLAS, multiplies and, if it ends, gives the handle back, all while this one
// captures.
void capture_beside_another_thread(bool ends) {
  const cuda::Stream captured, other;
  const SmallBatch batch;
  cudaGraph_t graph = nullptr;
  cuda::check(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal), "capture");
  std::string error;
  std::promise<void> multiplied, may_end;
  std::thread thread([&] {
    try {
      for (int turn = 0; turn < 3; ++turn) batch.multiply(other);
    } catch (const std::exception& e) {
      error = e.what();
    }
    multiplied.set_value();
    may_end.get_future().wait();
  });
  multiplied.get_future().wait();
  if (ends) may_end.set_value(), thread.join();
  const cudaError_t code = cudaStreamEndCapture(captured, &graph);
  if (!ends) may_end.set_value(), thread.join();
  EXPECT_EQ(error, "");
  EXPECT_EQ(code, cudaSuccess) << cudaGetErrorString(code);
  (void)cudaGraphDestroy(graph);
  other.wait();
  EXPECT_EQ(batch.wrong(), "");
}

TEST_F(SplitStream, SmallProductsOfAnotherThreadDoNotDisturbACapture) { capture_beside_another_thread(false); }

TEST_F(SplitStream, AThreadThatEndsDoesNotDisturbACapture) { capture_beside_another_thread(true); }

TEST_F(SplitStream, AWorkspaceThatIsTooSmallLeavesTheSplitAside) {
  const cuda::DeviceBuffer<std::byte> workspace(std::size_t{1} << 22);
  const cuda::Options small{
      .contract = Contract::fp32(), .workspace = workspace.data(), .workspace_bytes = workspace.bytes()};
  const Plan unsplit = cuda::explain<float>(Op::none, Op::none, n, n, n, small);
  EXPECT_EQ(unsplit.scheme, "native");
  EXPECT_NE(unsplit.reason.find("bytes is too small for error correction"), std::string::npos) << unsplit.reason;
  EXPECT_EQ(cuda::explain<float>(Op::none, Op::none, n, n, n, {.contract = Contract::fp32()}).scheme, "split");
}

}  // namespace
}  // namespace vernier::test::split_stream_test
