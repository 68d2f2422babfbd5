// Memory refused at every site of every routine on a GPU: operator new, device and pinned memory, streams and events.
// An error says so and all outputs are as they were, or the result is complete; never both.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#define VERNIER_GRANTS_MAPS  // the driver's are of the sizes that workspaces have
#include "cuda/device.hpp"
#include "gpu/fixture.hpp"
#include "gpu/graded.hpp"
#include "gpu/refused_routines.hpp"
#include "support/refused_memory.hpp"

#if VERNIER_REFUSES_MEMORY

// More than any device has: the runtime itself refuses, and keeps its error for the next who asks, as it would.
constexpr std::size_t too_many_bytes = std::size_t{1} << 60;

// The linker's --wrap puts these before the runtime's own.
extern "C" {
cudaError_t __real_cudaMalloc(void** data, std::size_t bytes);
cudaError_t __wrap_cudaMalloc(void** data, std::size_t bytes) {
  return __real_cudaMalloc(data, vernier::test::refused() ? too_many_bytes : bytes);
}
cudaError_t __real_cudaMallocFromPoolAsync(void** data, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t __wrap_cudaMallocFromPoolAsync(void** data, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return __real_cudaMallocFromPoolAsync(data, vernier::test::refused() ? too_many_bytes : bytes, pool, stream);
}
cudaError_t __real_cudaHostAlloc(void** data, std::size_t bytes, unsigned flags);
cudaError_t __wrap_cudaHostAlloc(void** data, std::size_t bytes, unsigned flags) {
  return __real_cudaHostAlloc(data, vernier::test::refused() ? too_many_bytes : bytes, flags);
}
cudaError_t __real_cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return vernier::test::refused() ? cudaErrorMemoryAllocation : __real_cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t __real_cudaEventCreate(cudaEvent_t* event);
cudaError_t __wrap_cudaEventCreate(cudaEvent_t* event) {
  return vernier::test::refused() ? cudaErrorMemoryAllocation : __real_cudaEventCreate(event);
}
cudaError_t __real_cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return vernier::test::refused() ? cudaErrorMemoryAllocation : __real_cudaEventCreateWithFlags(event, flags);
}
}

namespace vernier::test::refused_memory_test {
namespace {

using namespace refused_on_gpu;

// Small numbers and a diagonal of ones, so that each triangle, also with a unit diagonal, is regular and solved well.
// An element takes one number, and the matrix is symmetric and definite; or two, as complex numbers and dd do.
template <class R>
std::vector<R> matrix(unsigned seed, std::int64_t numbers) {
  std::vector<R> x(most_bytes / sizeof(R));
  for (R& value : x)
    value = static_cast<R>(static_cast<int>((seed = seed * 1664525u + 1013904223u) >> 29) - 4) / static_cast<R>(4096);
  for (std::int64_t j = 0; j < n; ++j) {
    if (numbers == 1)
      for (std::int64_t i = 0; i < j; ++i) x[i + j * n] = x[j + i * n];
    x[numbers * (j + j * n)] = 1;
  }
  return x;
}

// The largest difference of numbers [first, end), against the largest number.
template <class R>
double relative_difference(const std::vector<R>& x, const std::vector<R>& y, std::size_t first, std::size_t end) {
  double difference = 0, largest = 0;
  for (std::size_t i = first; i < end; ++i) {
    const double d = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    difference = d <= difference ? difference : std::isnan(d) ? INFINITY : d;
    largest = std::max(largest, std::abs(static_cast<double>(y[i])));
  }
  return difference / largest;
}

template <class T>
class Refusal {
 public:
  using R = Real<T>;

  Refusal(std::string contract, std::int64_t numbers)
      : contract_(std::move(contract)), one_(matrix<R>(1, numbers)), two_(matrix<R>(2, numbers)) {
    std::vector<T*> addresses;
    for (const auto* memory : {&a_, &b_, &c_})
      for (std::int64_t i = 0; i < 4; ++i) addresses.push_back(reinterpret_cast<T*>(memory->data()) + i * (area / 4));
    cuda::copy_to_device(addresses_.data(), addresses.data(), addresses_.bytes());
    cuda::copy_to_device(a_.data(), one_.data(), most_bytes);
    cuda::copy_to_device(b_.data(), two_.data(), most_bytes);
  }

  // Sites of memory that were refused. Batches may have some of their products done.
  int expect_all_or_nothing(const Routine<T>& routine) {
    const bool batch = std::strstr(routine.name, "batch") != nullptr;
    prepare();
    run(routine);
    const Outputs expected = read(), before{one_, two_};
    std::string wrong;
    int refusals = 0;
    const int sites =
        refuse_every_site([&] { prepare(); }, [&] { run(routine); },
                          [&](bool done) {
                            refusals += done ? 0 : 1;
                            if (!wrong.empty()) return;
                            const Outputs found = read();
                            const bool good = done    ? close(found, expected)
                                              : batch ? each_is_either(found, before, expected)
                                                      : found == before;
                            if (!good)
                              wrong = done ? "success, and another result" : "an error, and an output was written";
                            if (!good) wrong += joined(", refusal ", refusals);
                          });
    EXPECT_EQ(wrong, "") << routine.name << ", contract " << contract_;
    std::printf("%s, %s, %d bytes: %d sites, %d errors\n", routine.name, contract_.c_str(), static_cast<int>(sizeof(T)),
                sites, refusals);
    return sites;
  }

 private:
  struct Outputs {
    std::vector<R> c, d;
    bool operator==(const Outputs&) const = default;
  };

  void prepare() {
    stream_ = std::make_unique<cuda::Stream>();  // words of a stream are made with it
    cuda::check(cudaMemcpy(c_.data(), one_.data(), most_bytes, cudaMemcpyHostToDevice), "c");
    cuda::check(cudaMemcpy(d_.data(), two_.data(), most_bytes, cudaMemcpyHostToDevice), "d");
    std::vector<std::int64_t> pivots(n);
    for (std::size_t i = 0; i < pivots.size(); ++i) pivots[i] = static_cast<std::int64_t>(i + 1);
    cuda::copy_to_device(pivots_.data(), pivots.data(), pivots_.bytes());
    cuda::release_workspace();
  }

  void run(const Routine<T>& routine) {
    const auto at = [](const cuda::DeviceBuffer<std::byte>& x) { return reinterpret_cast<T*>(x.data()); };
    const cudaStream_t stream = *stream_;
    routine.run({at(a_), at(b_), at(c_), at(d_), pivots_.data(), addresses_.data(), stream},
                {.contract = Contract::parse(contract_), .stream = stream});
  }

  Outputs read() const {
    cuda::check(cudaDeviceSynchronize(), "routine");
    Outputs x{std::vector<R>(most_bytes / sizeof(R)), std::vector<R>(most_bytes / sizeof(R))};
    cuda::check(cudaMemcpy(x.c.data(), c_.data(), most_bytes, cudaMemcpyDeviceToHost), "c");
    cuda::check(cudaMemcpy(x.d.data(), d_.data(), most_bytes, cudaMemcpyDeviceToHost), "d");
    return x;
  }

  // Small differences are those of another method, which took over.
  static bool close(const std::vector<R>& x, const std::vector<R>& y, std::size_t first, std::size_t end) {
    return relative_difference(x, y, first, end) <= 1e4 * std::numeric_limits<R>::epsilon();
  }
  static bool close(const Outputs& x, const Outputs& y) {
    return close(x.c, y.c, 0, x.c.size()) && close(x.d, y.d, 0, x.d.size());
  }

  // Of four matrices of half the order.
  static bool each_is_either(const Outputs& x, const Outputs& before, const Outputs& after) {
    const std::size_t quarter = static_cast<std::size_t>(area) / 4 * (sizeof(T) / sizeof(R));
    for (std::size_t first = 0; first < 4 * quarter; first += quarter) {
      const bool same = std::memcmp(&x.c[first], &before.c[first], quarter * sizeof(R)) == 0;
      if (!same && !close(x.c, after.c, first, first + quarter)) return false;
    }
    return x.d == before.d;
  }

  std::string contract_;
  const std::vector<R> one_, two_;
  cuda::DeviceBuffer<std::byte> a_{most_bytes}, b_{most_bytes}, c_{most_bytes}, d_{most_bytes};
  cuda::DeviceBuffer<std::int64_t> pivots_{n};
  cuda::DeviceBuffer<T*> addresses_{12};
  std::unique_ptr<cuda::Stream> stream_;
};

// cuBLAS multiplies these, in the workspace of its handle; all others ask for memory.
template <class T>
bool asks_for_none(const std::string& routine, const std::string& contract) {
  const bool cublas = contract == "fp64" || contract == "fp64-normwise" || contract == "fp32";
  return !is_complex_type<T> && cublas && (routine == "gemm" || routine == "batch");
}

template <class T>
void expect_all_or_nothing(const char* contract, const std::vector<Routine<T>>& routines,
                           std::int64_t numbers = is_complex_type<T> ? 2 : 1) {
  Refusal<T> refusal(contract, numbers);
  for (const Routine<T>& routine : routines) {
    try {
      const int sites = refusal.expect_all_or_nothing(routine);
      EXPECT_EQ(sites == 0, asks_for_none<T>(routine.name, contract)) << routine.name << ", contract " << contract;
    } catch (const std::exception& e) {
      ADD_FAILURE() << routine.name << ", contract " << contract << ": " << e.what();
    }
  }
}

using RefusedUnderContract = testing::TestWithParam<const char*>;
INSTANTIATE_TEST_SUITE_P(OnGpu, RefusedUnderContract, testing::Values("fp64+reproducible", "fp64", "fp64-normwise"));

TEST_P(RefusedUnderContract, ProductsAreCompleteOrLeaveCAsItWas) {
  expect_all_or_nothing(GetParam(), products<double>());
  expect_all_or_nothing(GetParam(), products<std::complex<double>>());
}

TEST_P(RefusedUnderContract, BatchesAndPreparedOperandsAreCompleteOrLeaveCAsItWas) {
  expect_all_or_nothing(GetParam(), batches_and_prepared<double>());
}

TEST(RefusedOnGpu, ProductsOfFloatsAreCompleteOrLeaveCAsItWas) {
  for (const char* contract : {"fp32", "fp32+reproducible"}) expect_all_or_nothing(contract, products<float>());
  expect_all_or_nothing("fp32", batches_and_prepared<float>());
  expect_all_or_nothing("fp32", products<std::complex<float>>());
}

TEST(RefusedOnGpu, ExactProductsAreCompleteOrLeaveCAsItWas) {
  expect_all_or_nothing<double>("exact", {products<double>()[0]});
  expect_all_or_nothing<float>("exact", {products<float>()[0]});
}

// Products by quarters of C (blas/quarters.hpp): where memory of one is refused, cuBLAS makes it, as others may be
// done.
TEST(RefusedOnGpu, QuartersOfCAreCompleteOrLeaveCAsItWas) {
  constexpr std::int64_t m = 8192, k = 4096;
  const cuda::Stream stream;
  const std::vector<double> x = decays(m, k, 0.02, false);
  const cuda::DeviceBuffer<double> a(x.size()), c(static_cast<std::size_t>(m * m));
  cuda::copy_to_device(a.data(), x.data(), a.bytes());
  Report report;
  const auto multiply = [&] {
    report = cuda::gemm(none, Op::transpose, m, m, k, 1.0, a.data(), m, a.data(), m, 0.0, c.data(), m,
                        {.contract = Contract::fp64(), .stream = stream});
  };
  const auto clear = [&] {
    stream.wait();
    cuda::check(cudaMemset(c.data(), 0xff, c.bytes()), "C");
    cuda::check(cudaDeviceSynchronize(), "C");
  };
  // Columns at the edges of quarters.
  const auto columns = [&] {
    cuda::check(cudaDeviceSynchronize(), "gemm");
    std::vector<double> found(static_cast<std::size_t>(4 * m));
    for (const std::int64_t j : {0, 1, 2, 3})
      cuda::check(cudaMemcpy(&found[static_cast<std::size_t>(j * m)], c.data() + ((j + 1) / 2 * (m / 2) - j % 2) * m,
                             static_cast<std::size_t>(m) * sizeof(double), cudaMemcpyDeviceToHost),
                  "c");
    return found;
  };
  const auto by_quarters = [&] { return report.plan.reason.find("by quarters of C") != std::string::npos; };
  for (int call = 0; call < 8; ++call) clear(), multiply();
  if (!by_quarters()) GTEST_SKIP() << "no quarters: " << report.plan.reason;
  const std::vector<double> expected = columns();
  clear();
  const std::vector<double> before = columns();
  int refusals = 0, by_cublas = 0, quarters = 0;
  std::string wrong;
  const int sites = refuse_every_site(
      [&] {
        multiply();  // one that is served, which ends what the last refusal said of quarters
        quarters += by_quarters() ? 1 : 0;
        cuda::release_workspace();
        clear();
      },
      multiply,
      [&](bool done) {
        refusals += done ? 0 : 1;
        by_cublas += done && report.plan.reason.find("50 % by residues") == std::string::npos ? 1 : 0;
        const std::vector<double> found = columns();
        const bool same = std::memcmp(found.data(), before.data(), found.size() * sizeof(double)) == 0;
        if (done ? relative_difference(found, expected, 0, found.size()) > 1e-12 : !same)
          wrong += joined(done ? " success, and another result" : " an error, and C was written", refusals);
      });
  EXPECT_EQ(wrong, "");
  EXPECT_GT(by_cublas, 0) << "no memory of a quarter was refused";
  EXPECT_GT(2 * quarters, sites);
  std::printf("quarters: %d sites, %d errors, %d with quarters by cuBLAS\n", sites, refusals, by_cublas);
}

TEST(RefusedOnGpu, TrianglesAreCompleteOrLeaveCAsItWas) {
  expect_all_or_nothing("fp64", triangular<double>());
  expect_all_or_nothing("fp32", triangular<float>());
  expect_all_or_nothing("fp64", triangular<std::complex<double>>());
}

TEST(RefusedOnGpu, SlicesAreCompleteOrLeaveCAsItWas) {
  expect_all_or_nothing("fp64", slices<double>());
  expect_all_or_nothing("fp32", slices<float>());
}

TEST(RefusedOnGpu, FactorsAndSolutionsAreCompleteOrLeaveMatricesAsTheyWere) {
  expect_all_or_nothing("fp64", factorisations<double>());
  expect_all_or_nothing("fp32", factorisations<float>());
}

TEST(RefusedOnGpu, WhatIsBeyondDoubleIsCompleteOrLeavesOutputsAsTheyWere) {
  expect_all_or_nothing("fp64", beyond_double());
  expect_all_or_nothing("fp64", factors_in_dd(), 2);
}

}  // namespace
}  // namespace vernier::test::refused_memory_test

#endif
