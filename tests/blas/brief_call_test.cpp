// A brief call like one before goes to the BLAS at once: with the report, the errors and the method of a thread that
// kept nothing, whatever changed in between.
#include <gtest/gtest.h>
#include <omp.h>

#include <complex>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "product/plan/measured_rates.hpp"
#include "slow_native.hpp"
#include "vernier/offload.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test::brief_call_test {
namespace {

template <class T>
struct Call {
  std::int64_t m = 20, n = 30, k = 40;
  Op opa = Op::none, opb = Op::none;
  T alpha{1}, beta{0};
  std::int64_t more_lda = 0;
  bool has_a = true;
  Options options{.contract = default_contract<T>(), .threads = 1};

  // The report without its seconds, or the error; and C where it is made.
  std::string outcome() const {
    std::vector<T> a(static_cast<std::size_t>(m * k) + 999, T{2}), b(static_cast<std::size_t>(k * n), T{3}),
        c(static_cast<std::size_t>(m * n), T{5});
    const std::int64_t lda = (opa == Op::none ? m : k) + more_lda;
    try {
      Report report = gemm<T>(opa, opb, m, n, k, alpha, has_a ? a.data() : nullptr, lda, b.data(),
                              opb == Op::none ? k : n, beta, c.data(), m, options);
      EXPECT_GT(report.seconds, 0);
      report.seconds = report.seconds_statistics = report.seconds_residues = report.seconds_products = 0;
      report.seconds_recombine = report.seconds_bound = report.seconds_undecided = 0;
      const T expected = alpha * T(static_cast<float>(6 * k)) + beta * T{5};
      for (const T& x : c) EXPECT_EQ(x, expected);
      return report.json();
    } catch (const Error& error) {
      return error.what();
    }
  }
  std::string outcome_elsewhere() const {
    std::string text;
    std::thread([&] { text = outcome(); }).join();
    return text;
  }
  // Made twice before, as it is now or was.
  std::string expect_outcome(const std::string& what = "") const {
    const std::string here = outcome();
    EXPECT_EQ(here, outcome_elsewhere()) << what;
    EXPECT_EQ(here, outcome()) << what;
    return here;
  }
};

bool is_native(const std::string& outcome) { return outcome.find("\"native\"") != std::string::npos; }

template <class T>
class BriefCall : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("VERNIER_ENGINE");
    EXPECT_TRUE(is_native(call.expect_outcome()));
  }
  Call<T> call;
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(BriefCall, Types);

TYPED_TEST(BriefCall, FollowsTheEnvironment) {
  for (int i = 0; i < 2; ++i) {
    setenv("VERNIER_ENGINE", "portable", 1);
    EXPECT_FALSE(is_native(this->call.expect_outcome("set")));
    unsetenv("VERNIER_ENGINE");
    EXPECT_TRUE(is_native(this->call.expect_outcome("taken away")));
    setenv("VERNIER_TEST_OTHER", "x", 1);
    EXPECT_TRUE(is_native(this->call.expect_outcome("another one")));
    setenv("VERNIER_ENGINE", "abacus", 1);
    EXPECT_NE(this->call.expect_outcome("wrong").find("abacus"), std::string::npos);
    unsetenv("VERNIER_TEST_OTHER");
    EXPECT_NE(this->call.expect_outcome("the last one").find("abacus"), std::string::npos);
    unsetenv("VERNIER_ENGINE");
    forget_rates();
    EXPECT_TRUE(is_native(this->call.expect_outcome("rates")));
  }
}

TYPED_TEST(BriefCall, FollowsItsOptions) {
  const Call<TypeParam> before = this->call;
  const auto with = [&](const char* what, auto change) {
    this->call = before;
    change(this->call.options);
    const std::string changed = this->call.expect_outcome(what);
    this->call = before;
    this->call.expect_outcome(what);
    return changed;
  };
  EXPECT_FALSE(is_native(with("reproducible", [](Options& o) { o.contract.reproducible = true; })));
  EXPECT_FALSE(is_native(with("exact", [](Options& o) { o.contract = Contract::exact(); })));
  EXPECT_NE(with("rounding", [](Options& o) { o.contract.rounding = Rounding::up; }).find("nearest"),
            std::string::npos);
  EXPECT_NE(with("threads", [](Options& o) { o.threads = -1; }).find("threads"), std::string::npos);
  EXPECT_NE(with("bits", [](Options& o) { o.contract.bits_asked = 3; }).find("bits"), std::string::npos);
  EXPECT_NE(with("workspace", [](Options& o) { o.workspace_bytes = 8; }).find("workspace"), std::string::npos);
  EXPECT_FALSE(is_native(with("engine", [](Options& o) { o.engine = "portable"; })));
  EXPECT_TRUE(is_native(with("fallback", [](Options& o) { o.contract.fallback = Fallback::none; })));
  int told = 0;
  this->call.options.progress = [&](double) { ++told; };
  this->call.outcome();
  EXPECT_GT(told, 0);
}

TYPED_TEST(BriefCall, FollowsTheNumberOfThreads) {
  const int before = omp_get_max_threads();
  this->call.options.threads = 0;
  for (const int threads : {1, 2, 3, 1}) {
    omp_set_num_threads(threads);
    const std::string here = this->call.outcome();
    EXPECT_EQ(here, this->call.outcome());
    EXPECT_NE(here.find("\"threads\":" + std::to_string(threads)), std::string::npos) << here;
  }
  omp_set_num_threads(before);
}

// Where there is no GPU, an error.
TYPED_TEST(BriefCall, FollowsTheDeviceOfItsThread) {
  this->call.m = this->call.n = this->call.k = 70;
  const std::string on_cpu = this->call.expect_outcome();
  for (const Device device : {Device::cuda, Device::automatic}) {
    std::string here, elsewhere;
    {
      const DeviceScope scope(device);
      here = this->call.outcome();
      EXPECT_EQ(here, this->call.outcome());
    }
    std::thread([&] {
      const DeviceScope scope(device);
      elsewhere = this->call.outcome();
    }).join();
    EXPECT_EQ(here, elsewhere);
    EXPECT_EQ(this->call.outcome(), on_cpu);
  }
}

// Whatever was in order before.
TYPED_TEST(BriefCall, ChecksItsArguments) {
  const Call<TypeParam> before = this->call;
  this->call.more_lda = -1;
  EXPECT_NE(this->call.expect_outcome().find("lda"), std::string::npos);
  this->call = before;
  this->call.has_a = false;
  EXPECT_NE(this->call.expect_outcome().find("A is null"), std::string::npos);
  this->call.alpha = 0, this->call.beta = 1;
  EXPECT_EQ(this->call.expect_outcome().find("null"), std::string::npos) << "it is not read";
  this->call = before;
  this->call.opa = static_cast<Op>('X');
  EXPECT_NE(this->call.expect_outcome().find("opa"), std::string::npos);
  this->call = before;
  this->call.m = this->call.k, this->call.opa = Op::transpose;
  EXPECT_TRUE(is_native(this->call.expect_outcome()));
  this->call.opb = Op::conjugate_transpose, this->call.beta = 2;
  EXPECT_TRUE(is_native(this->call.expect_outcome()));
}

// By wrong estimates the native product takes long: it is brief all the same, once it was seen.
TYPED_TEST(BriefCall, IsBriefWhereItsEstimateIsNot) {
  const SlowNative slow(2, 15, 100, 1);
  this->call.m = this->call.n = this->call.k = 70;
  const auto ends = [&](const char* reason) { return this->call.outcome().find(reason) != std::string::npos; };
  EXPECT_TRUE(ends("estimates by"));
  bool brief = false;
  for (int i = 0; i < 500 && !brief; ++i) brief = ends("\"a small product\"");
  EXPECT_TRUE(brief);
  EXPECT_TRUE(ends("\"a small product\""));
}

// Beside other programs it may take too long now and then.
TYPED_TEST(BriefCall, IsSparedAPlanWhereTheNativeProductIsHome) {
  setenv("VERNIER_RATES", "/no/file", 1);
  forget_rates();
  forget_observations();
  this->call.m = this->call.n = this->call.k = std::is_same_v<TypeParam, float> ? 240 : 160;
  std::string outcome;
  for (int i = 0; i < 1000 && outcome.find("as of a call before") == std::string::npos; ++i)
    outcome = this->call.outcome();
  setenv("VERNIER_RATES", "none", 1);
  forget_rates();
  if (outcome.find("estimates") == std::string::npos || !is_native(outcome)) GTEST_SKIP() << outcome;
  EXPECT_NE(outcome.find("as of a call before"), std::string::npos) << outcome;
}

// Many more shapes than are kept, again and again, also from other threads.
TYPED_TEST(BriefCall, IsOfItsOwnShape) {
  const auto all = [] {
    Call<TypeParam> one;
    for (int round = 0; round < 3; ++round)
      for (one.m = 1; one.m < 40; one.m += 3)
        for (one.n = 1; one.n < 40; one.n += 6)
          for (one.k = 1; one.k < 20; one.k += 5) {
            const std::string text = one.outcome();
            for (const auto& [name, size] : {std::pair{"m", one.m}, {"n", one.n}, {"k", one.k}})
              EXPECT_NE(text.find('"' + std::string(name) + "\":" + std::to_string(size) + ','), std::string::npos)
                  << text;
          }
  };
  std::thread other(all);
  all();
  other.join();
}

}  // namespace
}  // namespace vernier::test::brief_call_test
