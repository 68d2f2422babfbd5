// Products that fall back for their data, and are served by quarters of C (blas/quarters.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "cuda/device.hpp"
#include "gpu/engines.hpp"
#include "gpu/graded.hpp"
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

  Product(std::vector<double> x, std::vector<double> y) : a(std::move(x)), b(std::move(y)) { copy(); }
  void copy() {
    cuda::copy_to_device(device_a.data(), a.data(), device_a.bytes());
    cuda::copy_to_device(device_b.data(), b.data(), device_b.bytes());
  }
  Report multiply(bool asynchronous = false, const Contract& contract = Contract::fp64()) {
    cuda::check(cudaMemset(c.data(), 0xff, c.bytes()), "C");
    return multiply_into(0, {.contract = contract, .asynchronous = asynchronous});
  }
  Report multiply_into(double beta, const cuda::Options& options) {
    const double one = 1;
    const Report report = cuda::gemm(Op::none, Op::transpose, n, n, k, &one, device_a.data(), n, device_b.data(), n,
                                     &beta, c.data(), n, options);
    cuda::check(cudaDeviceSynchronize(), "cuda::gemm");
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
  EXPECT_NE(last.plan.reason.find("by quarters of C, 50 % by residues"), std::string::npos) << last.plan.reason;
  EXPECT_LE(last.plan.moduli, 16);
  DeviceProductPlan first = cuda::plan_of<double>({x.n / 2, x.n / 2, k}, {.contract = Contract::fp64()}, true);
  first.part = 1;
  EXPECT_GT(cuda::known_k_of_any_stream(first).count, 0) << "of those that cuBLAS takes";
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
}

// Of C, by residues; 0 where all of C was looked at.
int percent_by_quarters(const Report& report) {
  constexpr std::string_view words = "by quarters of C, ";
  const std::size_t at = report.plan.reason.find(words);
  return at == std::string::npos ? 0 : std::stoi(report.plan.reason.substr(at + words.size()));
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

// Quarters that went alike for some calls are queued before the host looks at any; what changes with the data then, is
// found and told.
TEST(QuartersOnGpu, AreQueuedOnceTheyWentAlike) {
  if (!cuda::takes_hopper_kernels()) GTEST_SKIP() << "nothing is balanced";
  Product x(decays(order, k, 0.02, false), decays(order, k, 0.02, true));
  const DeviceProductPlan plan = cuda::plan_of<double>({x.n, x.n, k}, {.contract = Contract::fp64()}, true);
  const auto alike = [&] { return cuda::quarters_went_alike(nullptr, plan); };
  Report before;
  for (int call = 0; call < 40 && !alike(); ++call) before = x.multiply();
  ASSERT_TRUE(alike());
  Report queued = x.multiply();
  x.expect_bound();
  EXPECT_EQ(queued.plan.moduli, before.plan.moduli);
  EXPECT_EQ(percent_by_quarters(queued), percent_by_quarters(before));
  EXPECT_EQ(queued.fallback, before.fallback);
  EXPECT_EQ(queued.plan.m, x.n);
  EXPECT_TRUE(alike());
  x.a = decays(order, k, 0.5, false), x.b = decays(order, k, 0.5, true);
  x.copy();
  queued = x.multiply();
  x.expect_bound();
  EXPECT_EQ(queued.plan.scheme, "native") << queued.plan.reason;
  EXPECT_NE(queued.plan.reason.find("by quarters of C, 0 % by residues"), std::string::npos) << queued.plan.reason;
  EXPECT_FALSE(alike());
  x.multiply();
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
