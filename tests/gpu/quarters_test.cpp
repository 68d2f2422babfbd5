// Products that fall back for their data, and are served by quarters of C (blas/quarters.hpp).
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/device.hpp"
#include "gpu/engines.hpp"
#include "gpu/graded.hpp"
#include "support/bound.hpp"
#include "vernier/cuda.hpp"

namespace vernier::test::quarters_test {
namespace {

constexpr std::int64_t n = 8192, k = 4096;

struct Product {
  std::vector<double> a, b;  // of A, and of B's transpose
  cuda::DeviceBuffer<double> device_a{static_cast<std::size_t>(n * k)}, device_b{device_a.size()},
      c{static_cast<std::size_t>(n * n)};

  Product(std::vector<double> x, std::vector<double> y) : a(std::move(x)), b(std::move(y)) { copy(); }
  void copy() {
    cuda::copy_to_device(device_a.data(), a.data(), device_a.bytes());
    cuda::copy_to_device(device_b.data(), b.data(), device_b.bytes());
  }
  Report multiply(bool asynchronous = false, const Contract& contract = Contract::fp64()) {
    const double one = 1, zero = 0;
    cuda::check(cudaMemset(c.data(), 0xff, c.bytes()), "C");
    const Report report =
        cuda::gemm(Op::none, Op::transpose, n, n, k, &one, device_a.data(), n, device_b.data(), n, &zero, c.data(), n,
                   cuda::Options{.contract = contract, .asynchronous = asynchronous});
    cuda::check(cudaDeviceSynchronize(), "cuda::gemm");
    return report;
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
    const auto place = [](std::int64_t t) { return t == 7 ? n / 2 - 1 : t == 8 ? n / 2 : t * (n - 1) / (sampled - 1); };
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
  Product x(decays(n, k, 0.02, false), decays(n, k, 0.02, true));
  int by_residues = 0;
  Report last;
  for (int call = 0; call < 7; ++call) {
    last = x.multiply();
    x.expect_bound();
    by_residues += last.plan.scheme == "residues" ? 1 : 0;
    EXPECT_EQ(last.plan.m, n);
  }
  if (!cuda::takes_hopper_kernels()) return;
  EXPECT_GE(by_residues, 3);
  EXPECT_EQ(last.plan.scheme, "residues") << last.plan.reason;
  EXPECT_NE(last.plan.reason.find("by quarters of C, 2 of 4"), std::string::npos) << last.plan.reason;
  EXPECT_LE(last.plan.moduli, 16);
  EXPECT_NE(x.multiply(true).plan.reason.find("by quarters of C"), std::string::npos);
  x.expect_bound();
  x.a = x.b = decays(n, k, 1e-5, true);
  x.copy();
  x.multiply(true);
  x.expect_bound();
  for (int call = 0; call < 70; ++call) last = x.multiply();
  x.expect_bound();
  EXPECT_EQ(last.plan.scheme, "residues");
  EXPECT_EQ(last.plan.reason.find("quarters"), std::string::npos) << last.plan.reason;
}

// Far entries of elements that decay this fast have no bound in any quarter, which ends trials.
TEST(QuartersOnGpu, EndWhereTheyDoNotServe) {
  Product x(decays(n, k, 0.5, false), decays(n, k, 0.5, true));
  Report last;
  for (int call = 0; call < 8; ++call) {
    last = x.multiply();
    EXPECT_EQ(last.plan.scheme, "native");
  }
  EXPECT_EQ(last.plan.reason.find("quarters"), std::string::npos) << last.plan.reason;
}

// Behind quarters that are written no other may fail, which it could where cuBLAS may not take over.
TEST(QuartersOnGpu, AreForContractsThatCublasMayServe) {
  Product x(decays(n, k, 0.02, false), decays(n, k, 0.02, true));
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
