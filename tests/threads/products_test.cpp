// Threads that multiply side by side, each with one thread of its own, so that ThreadSanitizer sees all that they share
// (tools/thread_sanitize): the pool, the list of engines, plans and measured rates.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "product/plan/measured_rates.hpp"
#include "support/temporary_folder.hpp"
#include "vernier/prepared.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test::products_test {
namespace {

constexpr std::int64_t n = 48;
constexpr int thread_count = 8, rounds = 12;

void in_threads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t) threads.emplace_back([&body, t] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

template <class T>
std::vector<T> matrix(unsigned seed) {
  std::vector<T> x(n * n);
  for (T& value : x) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<T>(static_cast<double>(seed) / 0x1p31 - 1);
  }
  return x;
}

Options options_of(const char* contract) { return {.contract = Contract::parse(contract), .threads = 1}; }

template <class T>
std::vector<T> product(const char* contract) {
  const std::vector<T> a = matrix<T>(1), b = matrix<T>(2);
  std::vector<T> c(n * n);
  gemm(Op::none, Op::none, n, n, n, 1.0, a.data(), n, b.data(), n, 0.0, c.data(), n, options_of(contract));
  return c;
}

struct Case {
  const char* contract;
  std::vector<double> expected;
};

TEST(Threads, OfDifferentContractsMultiplySideBySide) {
  std::vector<Case> cases;
  for (const char* contract : {"fp64+reproducible", "exact", "fp64", "bits(40)", "bits(80)+reproducible"})
    cases.push_back({contract, product<double>(contract)});
  std::atomic<int> wrong = 0;
  in_threads([&](int t) {
    for (int i = 0; i < rounds; ++i) {
      const Case& c = cases[static_cast<std::size_t>(t + i) % cases.size()];
      if (product<double>(c.contract) != c.expected) ++wrong;
      if (i % 4 == 3) release_workspace();
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, OfTypesMultiplySideBySide) {
  const auto floats = product<float>("fp32+reproducible");
  const auto doubles = product<double>("fp64+reproducible");
  std::atomic<int> wrong = 0;
  in_threads([&](int t) {
    for (int i = 0; i < rounds; ++i)
      if (t % 2 == 0 ? product<float>("fp32+reproducible") != floats : product<double>("fp64+reproducible") != doubles)
        ++wrong;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, ShareAPreparedOperand) {
  const Options options = options_of("fp64+reproducible");
  const std::vector<double> a = matrix<double>(1), b = matrix<double>(2),
                            expected = product<double>("fp64+reproducible");
  const PreparedOperand<double> prepared(Side::left, Op::none, n, n, a.data(), n, options);
  std::atomic<int> wrong = 0;
  in_threads([&](int) {
    std::vector<double> c(n * n);
    for (int i = 0; i < rounds; ++i) {
      gemm(prepared, Op::none, n, n, n, 1.0, b.data(), n, 0.0, c.data(), n, options);
      if (c != expected) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

// Rates are read anew while others plan by the old ones.
TEST(Threads, PlanWhileMeasuredRatesAreForgotten) {
  const TemporaryFolder folder;
  const char* before = std::getenv("VERNIER_RATES");
  const std::string old = before != nullptr ? before : "", file = folder.write("rates.json", R"({"machines": []})");
  setenv("VERNIER_RATES", file.c_str(), 1);
  forget_rates();
  const std::string expected = explain<double>(Op::none, Op::none, 700, 700, 700).reason;
  std::atomic<int> wrong = 0;
  in_threads([&](int t) {
    for (int i = 0; i < rounds; ++i) {
      if (t == 0) forget_rates();
      if (explain<double>(Op::none, Op::none, 700, 700, 700).reason != expected) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  before != nullptr ? setenv("VERNIER_RATES", old.c_str(), 1) : unsetenv("VERNIER_RATES");
  forget_rates();
}

}  // namespace
}  // namespace vernier::test::products_test
