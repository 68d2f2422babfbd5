// What a program meets when the GPU fails it: memory that cannot be had, an error of a kernel of its own, a context
// that is gone, a device that appears later. A clear error or a product, and the process lives. Each fault that harms
// the context has a process of its own.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "gpu/stray.hpp"
#include "vernier/cuda.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test::faults_test {
namespace {

constexpr std::int64_t n = 768;
constexpr std::size_t bytes = n * n * sizeof(double);

std::vector<double> integers(unsigned seed) {
  std::vector<double> x(static_cast<std::size_t>(n * n));
  for (double& value : x) value = static_cast<int>((seed = seed * 1664525u + 1013904223u) >> 28) - 8;
  return x;
}

// A, B and C in device memory.
struct Operands {
  double *a = nullptr, *b = nullptr, *c = nullptr;
  std::vector<double> before = integers(3);
  bool place() {
    const std::vector<double> x = integers(1), y = integers(2);
    return cudaMalloc(reinterpret_cast<void**>(&a), bytes) == cudaSuccess &&
           cudaMalloc(reinterpret_cast<void**>(&b), bytes) == cudaSuccess &&
           cudaMalloc(reinterpret_cast<void**>(&c), bytes) == cudaSuccess &&
           cudaMemcpy(a, x.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
           cudaMemcpy(b, y.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess && reset();
  }
  bool reset() const { return cudaMemcpy(c, before.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess; }
  std::vector<double> read() const {
    std::vector<double> x(before.size());
    if (cudaMemcpy(x.data(), c, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) x.clear();
    return x;
  }
};

// Sums of small integers are exact in any order. In place of beta C a failed call would show.
std::vector<double> expected(const std::vector<double>& before) {
  static const std::vector<double> product = [] {
    const std::vector<double> x = integers(1), y = integers(2);
    std::vector<double> c(static_cast<std::size_t>(n * n), 0);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t i = 0; i < n; ++i) c[i + j * n] += x[i + k * n] * y[k + j * n];
    return c;
  }();
  std::vector<double> c = product;
  for (std::size_t i = 0; i < c.size(); ++i) c[i] += before[i];
  return c;
}

Status multiply(const Operands& x, std::string& message) {
  const double one = 1;
  try {
    cuda::gemm<double>(Op::none, Op::none, n, n, n, &one, x.a, n, x.b, n, &one, x.c, n,
                       {.contract = Contract::parse("fp64+reproducible")});
    return cudaDeviceSynchronize() == cudaSuccess ? Status::ok : Status::device_error;
  } catch (const Error& e) {
    message = e.what();
    return e.status();
  }
}

bool multiplies_on_the_cpu() {
  const std::vector<double> a = integers(1), b = integers(2), before = integers(3);
  std::vector<double> c = before;
  gemm(Op::none, Op::none, n, n, n, 1.0, a.data(), n, b.data(), n, 1.0, c.data(), n);
  return c == expected(before);
}

// All of the device's memory but `left` bytes, in pieces.
class Occupied {
 public:
  explicit Occupied(std::size_t left) {
    for (std::size_t piece = std::size_t{1} << 36; piece >= std::size_t{1} << 21; piece /= 2)
      for (;;) {
        std::size_t free = 0, total = 0;
        void* memory = nullptr;
        if (cudaMemGetInfo(&free, &total) != cudaSuccess || free < left + piece) break;
        if (cudaMalloc(&memory, piece) != cudaSuccess) break;
        pieces_.push_back(memory);
      }
    (void)cudaGetLastError();
  }
  ~Occupied() {
    for (void* piece : pieces_) (void)cudaFree(piece);
  }
  Occupied(const Occupied&) = delete;
  Occupied& operator=(const Occupied&) = delete;

 private:
  std::vector<void*> pieces_;
};

// Less and less is refused: first the first allocation, then the second, and in the end none.
TEST(GpuFaults, MemoryThatCannotBeHadLeavesCAsItWasOrComplete) {
  Operands x;
  ASSERT_TRUE(x.place());
  const std::vector<double> complete = expected(x.before);
  std::string message;
  ASSERT_EQ(multiply(x, message), Status::ok) << message;
  int refused = 0, done = 0;
  for (std::size_t left = 0; left <= std::size_t{128} << 20 && done < 3; left += std::size_t{2} << 20) {
    ASSERT_TRUE(x.reset());
    cuda::release_workspace();
    Status status = Status::ok;
    {
      const Occupied memory(left);
      status = multiply(x, message);
    }
    if (status == Status::ok) {
      ++done;
    } else {
      ++refused;
      EXPECT_EQ(status, Status::out_of_memory) << message;
      EXPECT_FALSE(message.empty());
    }
    ASSERT_TRUE(x.read() == (status == Status::ok ? complete : x.before)) << left << " bytes left: " << message;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GE(done, 3);
  RecordProperty("refused", refused);
  for (double* memory : {x.a, x.b, x.c}) (void)cudaFree(memory);
}

[[noreturn]] void report(bool good, const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  _exit(good ? 0 : 1);
}

// The context is lost with a stray write.
[[noreturn]] void break_the_context() {
  Operands x;
  std::string message;
  const bool placed = x.place() && multiply(x, message) == Status::ok;
  run_stray_kernel();
  const Status status = multiply(x, message);
  report(placed && status == Status::device_error && !message.empty() && multiplies_on_the_cpu(), message);
}

[[noreturn]] void destroy_the_context() {
  Operands x, y;
  std::string message;
  const bool placed = x.place() && multiply(x, message) == Status::ok && cudaDeviceReset() == cudaSuccess;
  const bool again = placed && y.place();
  const Status status = again ? multiply(y, message) : Status::internal_error;
  const bool right = status != Status::ok || y.read() == expected(y.before);
  report(again && right && (status == Status::ok || !message.empty()) && multiplies_on_the_cpu(),
         status == Status::ok ? "multiplied in the new context" : message);
}

// What is kept for the next product of matrices of the host, pinned memory and streams, goes with the context.
[[noreturn]] void reset_the_device_between_offloaded_products() {
  const std::vector<double> a = integers(1), b = integers(2), before = integers(3);
  Options options;
  options.contract = Contract::parse("fp64+reproducible");
  options.device = Device::cuda;
  bool right = true;
  std::string reasons;
  for (int call = 0; call < 4; ++call) {
    if (call > 1 && cudaDeviceReset() != cudaSuccess) report(false, "cudaDeviceReset");
    std::vector<double> c = before;
    const Report made = gemm(Op::none, Op::none, n, n, n, 1.0, a.data(), n, b.data(), n, 1.0, c.data(), n, options);
    right = right && c == expected(before);
    reasons += made.plan.reason + '\n';
  }
  report(right && reasons.find("matrices of the host") != std::string::npos, reasons);
}

// No device at first: products go to the CPU. Whether CUDA sees one that appears later is CUDA's; nothing may break.
[[noreturn]] void find_a_device_later() {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const bool before = multiplies_on_the_cpu();
  std::string message;
  try {
    message = cuda::device_name();
  } catch (const Error& e) {
    message = e.what();
  }
  unsetenv("CUDA_VISIBLE_DEVICES");
  Operands x;
  const bool placed = x.place();
  std::string later = "CUDA sees no device";
  const Status status = placed ? multiply(x, later) : Status::ok;
  const bool right = !placed || status != Status::ok || x.read() == expected(x.before);
  report(before && right && !message.empty() && multiplies_on_the_cpu(), message + "; later: " + later);
}

class GpuFaultsOfAProcess : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(GpuFaultsOfAProcess, AnErrorOfTheProgramsOwnKernelIsTold) {
  EXPECT_EXIT(break_the_context(), testing::ExitedWithCode(0), "illegal|error|cuda");
}

TEST_F(GpuFaultsOfAProcess, ADestroyedContextIsToldOrReplaced) {
  EXPECT_EXIT(destroy_the_context(), testing::ExitedWithCode(0), "");
}

TEST_F(GpuFaultsOfAProcess, AResetBetweenOffloadedProductsLeavesCRight) {
  EXPECT_EXIT(reset_the_device_between_offloaded_products(), testing::ExitedWithCode(0), "");
}

TEST_F(GpuFaultsOfAProcess, ADeviceThatAppearsLaterHarmsNothing) {
  EXPECT_EXIT(find_a_device_later(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace vernier::test::faults_test
