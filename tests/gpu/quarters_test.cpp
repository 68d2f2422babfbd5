// Products that fall back for their data, and are served by quarters of C (blas/quarters.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "cuda/device.hpp"
#include "gpu/engines.hpp"
#include "gpu/graded.hpp"
#include "gpu/program_cublas.hpp"
#include "product/device_memory.hpp"
#include "product/native/enough_k.hpp"
#include "residue/choice.hpp"
#include "residue/regularity.hpp"
#include "support/bound.hpp"
#include "vernier/cuda.hpp"

namespace vernier::test::quarters_test {
namespace {

constexpr std::int64_t order = 8192, k = 4096;

struct Product {
  std::vector<double> a, b;  // of A, and of B's transpose
  std::int64_t n = static_cast<std::int64_t>(a.size()) / k;
  cuda::DeviceBuffer<double> device_a{a.size()}, device_b{b.size()}, c{static_cast<std::size_t>(n * n)};
  cuda::Stream stream{};  // of its own: nothing is known of its products

  Product(std::vector<double> x, std::vector<double> y) : a(std::move(x)), b(std::move(y)) { copy(); }
  void copy() {
    cuda::copy_to_device(device_a.data(), a.data(), device_a.bytes());
    cuda::copy_to_device(device_b.data(), b.data(), device_b.bytes());
  }
  Report multiply(bool asynchronous = false, const Contract& contract = Contract::fp64()) {
    cuda::check(cudaMemset(c.data(), 0xff, c.bytes()), "C");
    cuda::check(cudaDeviceSynchronize(), "C");  // streams that do not wait for the default one follow
    return multiply_into(0, {.contract = contract, .asynchronous = asynchronous});
  }
  Report multiply_into(double beta, cuda::Options options, bool waits = true) {
    options.stream = stream;
    const double one = 1;
    const Report report = cuda::gemm(Op::none, Op::transpose, n, n, k, &one, device_a.data(), n, device_b.data(), n,
                                     &beta, c.data(), n, options);
    if (waits) cuda::check(cudaDeviceSynchronize(), "cuda::gemm");
    return report;
  }
  std::vector<double> result() const {
    std::vector<double> all(static_cast<std::size_t>(n * n));
    cuda::check(cudaMemcpy(all.data(), c.data(), c.bytes(), cudaMemcpyDeviceToHost), "to the host");
    return all;
  }
  // Is C as it was? The first of rows and columns, and those at the edges of quarters.
  bool is_untouched() const {
    std::vector<std::uint64_t> column(static_cast<std::size_t>(n));
    for (const std::int64_t j : {std::int64_t{0}, n / 2 - 1, n / 2, n - 1}) {
      cuda::check(cudaMemcpy(column.data(), c.data() + j * n, column.size() * sizeof(double), cudaMemcpyDeviceToHost),
                  "to the host");
      if (std::ranges::count(column, ~std::uint64_t{0}) != n) return false;
    }
    return true;
  }
  // A 16 x 16 sample, of all quarters and their edges.
  void expect_bound() const {
    constexpr std::int64_t sampled = 16;
    const auto place = [this](std::int64_t t) {
      return t == 7 ? n / 2 - 1 : t == 8 ? n / 2 : t * (n - 1) / (sampled - 1);
    };
    Matrix<double> rows(sampled, k), columns(k, sampled), found(sampled, sampled);
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t t = 0; t < sampled; ++t) {
      for (std::int64_t l = 0; l < k; ++l) {
        rows(t, l) = a[at(l * n + place(t))];
        columns(l, t) = b[at(l * n + place(t))];
      }
      std::vector<double> column(at(n));
      cuda::check(
          cudaMemcpy(column.data(), c.data() + place(t) * n, column.size() * sizeof(double), cudaMemcpyDeviceToHost),
          "to the host");
      for (std::int64_t s = 0; s < sampled; ++s) found(s, t) = column[at(place(s))];
    }
    EXPECT_EQ(broken_bound(Contract::fp64(), rows, columns, found), "");
  }
};

// Decaying elements are balanced beside the diagonal, not all over C; a product whose elements are even takes all of C
// again.
TEST(QuartersOnGpu, ServeElementsThatDecayFromADiagonal) {
  Product x(decays(order, k, 0.02, false), decays(order, k, 0.02, true));
  int by_residues = 0;
  Report last;
  for (int call = 0; call < 12; ++call) {
    last = x.multiply();
    if (call > 3) x.expect_bound();
    by_residues += last.plan.scheme == "residues" ? 1 : 0;
    EXPECT_EQ(last.plan.m, x.n);
  }
  if (!cuda::takes_hopper_kernels()) return;
  EXPECT_GE(by_residues, 3);
  EXPECT_EQ(last.plan.scheme, "residues") << last.plan.reason;
  EXPECT_NE(last.plan.reason.find("by quarters of C"), std::string::npos) << last.plan.reason;
  EXPECT_NE(last.plan.reason.find(", 50 % by residues"), std::string::npos) << last.plan.reason;
  EXPECT_LE(last.plan.moduli, 16);
  EXPECT_GT(last.native_k, 0);
  EXPECT_LT(last.native_k, k);
  EXPECT_NE(last.text().find("  part of k  "), std::string::npos) << last.text();
  EXPECT_NE(last.json().find("\"native_k\":"), std::string::npos) << last.json();
  DeviceProductPlan first = cuda::plan_of<double>({x.n / 2, x.n / 2, k}, {.contract = Contract::fp64()}, true);
  first.part = 1;
  EXPECT_GT(cuda::known_k(first, {nullptr, false}).count, 0) << "of those that cuBLAS takes";
  EXPECT_NE(x.multiply(true).plan.reason.find("by quarters of C"), std::string::npos);
  x.expect_bound();
  x.a = x.b = decays(order, k, 1e-5, true);
  x.copy();
  x.multiply(true);
  x.expect_bound();
  for (int call = 0; call < 70; ++call) last = x.multiply();
  x.expect_bound();
  EXPECT_EQ(last.plan.scheme, "residues");
  EXPECT_EQ(last.plan.reason.find("quarters"), std::string::npos) << last.plan.reason;
  EXPECT_EQ(last.native_k, 0);
}

// Of C, by residues; 0 where all of C was looked at.
int percent_by_quarters(const Report& report) {
  const std::size_t quarters = report.plan.reason.find("by quarters of C"),
                    at = report.plan.reason.find(", ", quarters);
  return at == std::string::npos ? 0 : std::stoi(report.plan.reason.substr(at + 2));
}

bool were_queued(const Report& report) {
  return report.plan.reason.find("by quarters of C queued at once") != std::string::npos;
}

// Quarters of those on the diagonal are balanced, too, with a host and without one.
TEST(QuartersOnGpu, OfQuartersServe) {
  if (!cuda::takes_hopper_kernels()) GTEST_SKIP() << "nothing is balanced";
  constexpr std::int64_t large = 16384;
  Product x(decays(large, k, 0.02, false), decays(large, k, 0.02, true));
  Report served;  // behind it all of C is looked at again, if all of it went by residues
  for (int call = 0; call < 30 && served.plan.reason.empty(); ++call) {
    const Report report = x.multiply();
    if (call % 3 == 0) x.expect_bound();
    if (percent_by_quarters(report) > 50) served = report;
  }
  x.expect_bound();
  ASSERT_EQ(served.plan.scheme, "residues") << "quarters alone have 50 %";
  EXPECT_LE(served.plan.moduli, 19);
  EXPECT_FALSE(served.fallback);
  EXPECT_EQ(served.nonfinite_rows, 0);
  x.multiply(true);
  x.expect_bound();
}

// What was learnt of a contract that cuBLAS may serve is not for one that throws instead: a quarter that no moduli hold
// would come behind others that are written. Rows of the lower half have an element of 2^600 that half of the columns
// meet with zero.
TEST(QuartersOnGpu, LeaveCAsItWasWhereNothingMayFallBack) {
  if (!cuda::takes_hopper_kernels()) GTEST_SKIP() << "others leave this product to cuBLAS by estimate";
  Product x(decays(order, k, 0.02, false), decays(order, k, 0.02, true));
  Report last;
  for (int call = 0; call < 12; ++call) last = x.multiply();
  ASSERT_NE(last.plan.reason.find("by quarters of C"), std::string::npos) << last.plan.reason;
  for (std::int64_t i = 0; i < x.n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i >= x.n / 2) x.a[at] = 0x1p600;
    if (i % 2 == 1) x.b[at] = 0;
  }
  x.copy();
  const std::vector<double> before = x.result();
  try {
    x.multiply_into(1, {.contract = Contract::parse("fp64+no-fallback")});
    ADD_FAILURE() << "it did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::bound_not_met) << error.what();
  }
  cuda::check(cudaDeviceSynchronize(), "cuda::gemm");
  EXPECT_TRUE(x.result() == before);
}

// A caller with a cuBLAS of its own is not made another for quarters that need one.
TEST(QuartersOnGpu, AreLeftToCallersThatLendNoCublas) {
  if (!cuda::takes_hopper_kernels()) GTEST_SKIP() << "nothing is balanced";
  Product x(decays(order, k, 0.02, false), decays(order, k, 0.02, true));
  for (int call = 0; call < 12; ++call) x.multiply();
  cuda::check(cudaMemset(x.c.data(), 0xff, x.c.bytes()), "C");
  const double one = 1, zero = 0;
  const auto multiply = [&] {
    return cuda::gemm_unless_wide(Op::none, Op::transpose, x.n, x.n, k, &one, x.device_a.data(), x.n, x.device_b.data(),
                                  x.n, &zero, x.c.data(), x.n, {.contract = Contract::fp64(), .stream = x.stream});
  };
  EXPECT_THROW(multiply(), Error);
  cuda::check(cudaDeviceSynchronize(), "cuda::gemm_unless_wide");
  EXPECT_TRUE(x.is_untouched());
  const ProgramCublas program;
  const cuda::LentCublas lent(program.handle);
  EXPECT_GE(percent_by_quarters(multiply()), 50);
  x.expect_bound();
}

// Memory of a graph is taken when it begins, when no error can be told.
TEST(QuartersOnGpu, TakeAllOfKInAGraphWhereMemoryIsTaken) {
  if (!cuda::takes_hopper_kernels()) GTEST_SKIP() << "nothing is balanced";
  Product x(decays(order, k, 0.02, false), decays(order, k, 0.02, true));
  const DeviceProductPlan plan = cuda::plan_of<double>({x.n, x.n, k}, {.contract = Contract::fp64()}, true);
  const cuda::Stream unused;  // a capture asks, as this does, what was last told of any
  const auto learnt = [&] { return x.multiply().native_k > 0 && cuda::takes_quarters_without_host(unused, plan); };
  int calls = 0;
  while (!learnt()) ASSERT_LT(++calls, 100);
  const Operand<double> of_quarter{.vectors = x.n / 2, .k = k};
  const std::size_t bytes = cuda::EnoughK::bytes_of({of_quarter, of_quarter});
  const cuda::Stream& stream = x.stream;
  const auto parts_of_k = [&] {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    x.multiply_into(0, {.contract = Contract::fp64()}, false);
    cuda::check(cudaStreamEndCapture(stream, &graph), "capture");
    std::size_t count = 0;
    cuda::check(cudaGraphGetNodes(graph, nullptr, &count), "nodes");
    std::vector<cudaGraphNode_t> nodes(count);
    cuda::check(cudaGraphGetNodes(graph, nodes.data(), &count), "nodes");
    const auto found = std::ranges::count_if(nodes, [&](cudaGraphNode_t node) {
      cudaGraphNodeType type{};
      cudaMemAllocNodeParams memory{};
      cuda::check(cudaGraphNodeGetType(node, &type), "node");
      if (type != cudaGraphNodeTypeMemAlloc) return false;
      cuda::check(cudaGraphMemAllocNodeGetParams(node, &memory), "node");
      return memory.bytesize >= bytes && memory.bytesize < bytes + Arena::alignment;
    });
    cuda::check(cudaGraphInstantiate(&executable, graph, 0), "graph");
    cuda::check(cudaGraphLaunch(executable, stream), "graph");
    stream.wait();
    x.expect_bound();
    cuda::check(cudaGraphExecDestroy(executable), "graph");
    cuda::check(cudaGraphDestroy(graph), "graph");
    return found;
  };
  EXPECT_GT(parts_of_k(), 0);
  cuda::release_workspace();
  const std::size_t free = cuda::available_device_memory();
  ASSERT_GT(free, 4 * bytes);
  const cuda::DeviceBuffer<std::byte> taken(free - 3 * bytes);
  EXPECT_EQ(parts_of_k(), 0);
}

// Quarters that went alike for some calls are queued before the host looks at any; what changes with the data then, is
// found and told.
TEST(QuartersOnGpu, AreQueuedOnceTheyWentAlike) {
  if (!cuda::takes_hopper_kernels()) GTEST_SKIP() << "nothing is balanced";
  Product x(decays(order, k, 0.02, false), decays(order, k, 0.02, true));
  const cuda::Options options{.contract = Contract::fp64()};
  const DeviceProductPlan plan = cuda::plan_of<double>({x.n, x.n, k}, options, true);
  const auto alike = [&] { return cuda::quarters_went_alike(x.stream, plan); };
  const auto multiply = [&] { return x.multiply(); };
  Report before;
  for (int call = 0; call < 40 && !(call > 0 && alike()); ++call) {
    before = multiply();
    EXPECT_FALSE(were_queued(before)) << call;
  }
  ASSERT_TRUE(alike());
  Report queued = multiply();
  x.expect_bound();
  EXPECT_TRUE(were_queued(queued)) << queued.plan.reason;
  EXPECT_EQ(queued.plan.moduli, before.plan.moduli);
  EXPECT_EQ(percent_by_quarters(queued), percent_by_quarters(before));
  EXPECT_EQ(queued.fallback, before.fallback);
  EXPECT_EQ(queued.native_k, before.native_k);
  EXPECT_EQ(queued.plan.m, x.n);
  EXPECT_TRUE(alike());
  EXPECT_FALSE(were_queued(x.multiply_into(1e-3, options))) << "a part of k may not be enough for a C that is read";
  ASSERT_TRUE(alike());
  {
    cuda::Options own = options;
    own.workspace_bytes = std::size_t{1} << 32;
    const cuda::DeviceBuffer<std::byte> memory(own.workspace_bytes);
    own.workspace = memory.data();
    cuda::check(cudaMemset(x.c.data(), 0xff, x.c.bytes()), "C");
    cuda::check(cudaDeviceSynchronize(), "C");
    EXPECT_FALSE(were_queued(x.multiply_into(0, own))) << "outcomes would take memory beside it";
    x.expect_bound();
  }
  ASSERT_TRUE(alike());
  // Another stream learns of other data meanwhile, whose product takes all of k: this one's guesses stay its own.
  for (int call = 0; call < 4; ++call) {
    Product other(decays(order, k, 1e-5, false), decays(order, k, 1e-5, true));
    other.multiply();
  }
  queued = multiply();
  x.expect_bound();
  EXPECT_TRUE(were_queued(queued)) << queued.plan.reason;
  EXPECT_EQ(queued.plan.moduli, before.plan.moduli);
  EXPECT_EQ(queued.native_k, before.native_k);
  EXPECT_TRUE(alike());
  // What does not decay where it did: the part of k that was enough is not.
  x.a = decays(order, k, 0.01, false), x.b = decays(order, k, 0.01, true);
  x.copy();
  queued = multiply();
  x.expect_bound();
  EXPECT_TRUE(were_queued(queued)) << queued.plan.reason;
  EXPECT_EQ(queued.native_k, 0) << "it lacked some";
  EXPECT_FALSE(alike());
  x.a = decays(order, k, 0.02, false), x.b = decays(order, k, 0.02, true);
  x.copy();
  for (int call = 0; call < 40 && !(call > 0 && alike()); ++call) multiply();
  ASSERT_TRUE(alike());
  for (std::int64_t i = 0; i < x.n; ++i) {  // no moduli hold entries whose row's largest element meets a zero
    x.a[static_cast<std::size_t>(i)] = 0x1p600;
    if (i % 2 == 1) x.b[static_cast<std::size_t>(i)] = 0;
  }
  x.copy();
  queued = multiply();
  x.expect_bound();
  EXPECT_EQ(queued.plan.scheme, "native") << queued.plan.reason;
  EXPECT_NE(queued.plan.reason.find("queued at once, 0 % by residues"), std::string::npos) << queued.plan.reason;
  EXPECT_FALSE(alike());
  EXPECT_FALSE(were_queued(multiply()));
  x.expect_bound();
}

// Far entries of elements that decay this fast have no bound in any quarter: trials become rare.
TEST(QuartersOnGpu, EndWhereTheyDoNotServe) {
  Product x(decays(order, k, 0.5, false), decays(order, k, 0.5, true));
  int late = 0;
  for (int call = 0; call < 30; ++call) {
    const Report report = x.multiply();
    EXPECT_EQ(report.plan.scheme, "native");
    late += call >= 14 && report.plan.reason.find("quarters") != std::string::npos ? 1 : 0;
  }
  EXPECT_LE(late, 2);
}

// Behind quarters that are written no other may fail, which it could where cuBLAS may not take over.
TEST(QuartersOnGpu, AreForContractsThatCublasMayServe) {
  if (!cuda::takes_hopper_kernels()) GTEST_SKIP() << "others leave this product to cuBLAS by estimate";
  Product x(decays(order, k, 0.02, false), decays(order, k, 0.02, true));
  for (const char* name : {"fp64+no-fallback", "fp64+reproducible"}) {
    const Contract contract = Contract::parse(name);
    for (int call = 0; call < 6; ++call) {
      bool done = false;
      try {
        const Report report = x.multiply(false, contract);
        EXPECT_EQ(report.plan.scheme, "residues") << name;
        EXPECT_EQ(report.plan.reason.find("quarters"), std::string::npos) << report.plan.reason;
        done = true;
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::bound_not_met) << error.what();
        EXPECT_TRUE(x.is_untouched()) << name << ", call " << call;
      }
      if (done && call == 5) x.expect_bound();
    }
  }
}

}  // namespace
}  // namespace vernier::test::quarters_test
