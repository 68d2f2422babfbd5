// Several GPUs in one process: each has its memory, handles and what streams remember, also for their default streams.
#include <thread>

#include "base/fmt.hpp"
#include "gpu/fixture.hpp"
#include "vernier/cuda_lapack.hpp"

namespace vernier::test::devices_test {
namespace {

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

// What a caller of several kinds of products gets.
struct Products {
  Matrix<double> fp64, exact;
  Matrix<float> fp32;
  double backward_error = 1;
};

Products on_device(int device, std::uint64_t seed) {
  cuda::check(cudaSetDevice(device), "cudaSetDevice");
  constexpr std::int64_t m = 300, n = 260, k = 1100;
  constexpr std::int64_t size = 2048;  // floats of that size are multiplied by error correction, by any kernels
  const Call<double> call{.a = scattered_matrix<double>(m, k, 0.5, seed),
                          .b = scattered_matrix<double>(k, n, 4, seed + 1)};
  const Call<float> single{.a = scattered_matrix<float>(size, size, 0.5, seed),
                           .b = scattered_matrix<float>(size, size, 0.5, seed + 1)};
  const auto corrected = multiply_on_gpu(single, {.contract = Contract::fp32()});
  EXPECT_EQ(corrected.report.plan.scheme, "split");
  Products products{multiply_on_gpu(call, {.contract = reproducible(Contract::fp64())}).c,
                    multiply_on_gpu(call, {.contract = Contract::exact()}).c, corrected.c};
  const Matrix<double> a = scattered_matrix<double>(n, n, 0, seed), b = scattered_matrix<double>(n, 1, 0, seed + 1);
  const DeviceCopy<double> on_a(a), on_b(b), on_x(b);
  const SolveReport report = cuda::solve(Op::none, n, 1, on_a.data(), n, on_b.data(), n, on_x.data(), n);
  EXPECT_EQ(report.verdict, Verdict::ok) << report.text();
  products.backward_error = report.largest_backward_error();
  return products;
}

void expect_same(const Products& x, const Products& y, const std::string& where) {
  EXPECT_EQ(difference(x.fp64, y.fp64), "") << where;
  EXPECT_EQ(difference(x.exact, y.exact), "") << where;
  EXPECT_EQ(difference(x.fp32, y.fp32), "") << where;
  EXPECT_EQ(x.backward_error, y.backward_error) << where;
}

void take_in_turns(int devices) {
  const Products first = on_device(0, 1);
  for (int turn = 0; turn < 2; ++turn)
    for (int device = 0; device < devices; ++device)
      expect_same(on_device(device, 1), first, fmt::format("device {} of {}", device, devices));
  cuda::check(cudaSetDevice(0), "cudaSetDevice");
}

void use_at_once(int devices) {
  const int threads = std::max(2, devices);
  std::vector<Products> alone, together(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) alone.push_back(on_device(0, static_cast<std::uint64_t>(10 + t)));
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      for (int turn = 0; turn < 3; ++turn)
        together[static_cast<std::size_t>(t)] = on_device((t + turn) % devices, static_cast<std::uint64_t>(10 + t));
    });
  for (std::thread& thread : running) thread.join();
  for (std::size_t t = 0; t < together.size(); ++t) expect_same(together[t], alone[t], fmt::format("thread {}", t));
}

#define VERNIER_NEEDS_DEVICES() \
  if (device_count() < 2) GTEST_SKIP() << "NOT TESTED: one device"

TEST(DevicesOnGpu, OneGivesTheSameAgain) { take_in_turns(1); }
TEST(DevicesOnGpu, OneServesTwoThreadsAtOnce) { use_at_once(1); }

TEST(DevicesOnGpu, SeveralAreTakenInTurnsByOneThread) {
  VERNIER_NEEDS_DEVICES();
  take_in_turns(device_count());
}

TEST(DevicesOnGpu, SeveralAreUsedAtOnceByAsManyThreads) {
  VERNIER_NEEDS_DEVICES();
  use_at_once(device_count());
}

}  // namespace
}  // namespace vernier::test::devices_test
