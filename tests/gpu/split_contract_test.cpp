// Contract fp32 on a Hopper GPU: the data choose the scheme, and every choice keeps the bound.
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "gpu/busy.hpp"
#include "gpu/split_fixture.hpp"

namespace vernier::test::split_contract_test {
namespace {

struct Made {
  Matrix<float> c;
  std::string scheme;
};

Made under_contract(const Matrix<float>& a, const Matrix<float>& b, const cuda::SplitGemmPlan& plan) {
  Matrix<float> c(a.rows(), b.columns());
  const MatrixOnDevice da(a), db(b), dc(c);
  const cuda::Stream stream;
  const cuda::DeviceWorkspace workspace(plan.workspace, stream);
  check(cudaMemsetAsync(workspace.data(), 0xff, plan.workspace, stream), "poison");
  const auto x = cuda::split_operands_of(
      {Op::none, Op::none, plan.m, plan.n, plan.k, nullptr, da.data(), a.ld(), db.data(), b.ld()});
  cuda::split_gemm(plan, x, {{1, nullptr}, {0, nullptr}}, dc.data(), c.ld(), workspace.data(), stream);
  const std::string made = cuda::split_gemm_made(plan, workspace.data(), stream);
  dc.fetch(c);
  return {c, made};
}

// first: of large products, tried before the others.
cuda::SplitGemmPlan chain(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& first = "") {
  cuda::SplitGemmPlan plan = cuda::plan_split_gemm(m, n, k);
  if (!first.empty())
    plan.attempts.insert(plan.attempts.begin(), cuda::plan_split_gemm(first, m, n, k).attempts.front());
  return plan;
}

TEST(SplitContract, TheDataChooseTheScheme) {
  const std::int64_t m = 70, n = 90, k = 700;
  struct Case {
    const char* what;
    double phi;
    const char *first, *made;
  };
  for (const Case& c :
       {Case{"even", 0.1, "", "halfhalf_sep"}, Case{"even", 0.1, "halfhalf_long", "halfhalf_long"},
        Case{"even", 0.1, "halfhalf_fold", "halfhalf_fold"}, Case{"scattered", 1.5, "", "halfhalf_sep"},
        Case{"scattered", 1.5, "halfhalf_long", "halfhalf_long"},
        Case{"scattered", 1.5, "halfhalf_fold", "halfhalf_sep"}, Case{"wide", 5, "", "bf16x6_short"},
        Case{"wide", 5, "halfhalf_long", "bf16x6_short"}, Case{"wide", 5, "halfhalf_fold", "bf16x6_short"}}) {
    const auto a = scattered_matrix<float>(m, k, c.phi, 1), b = scattered_matrix<float>(k, n, c.phi, 2);
    const Made made = under_contract(a, b, chain(m, n, k, c.first));
    EXPECT_EQ(made.scheme, c.made) << c.what << ' ' << c.first;
    EXPECT_EQ(difference(made.c, on_model(find_scheme(made.scheme), a, b)), "") << c.what << ' ' << c.first;
    EXPECT_EQ(broken_bound(Contract::fp32(), a, b, made.c), "") << c.what << ' ' << c.first;
  }
}

TEST(SplitContract, WideDataTakeShortRunsWhereRunsOrTilesAreFew) {
  const auto last = [](std::int64_t n, std::int64_t k) {
    return cuda::plan_split_gemm(n, n, k).attempts.back().scheme();
  };
  EXPECT_EQ(last(4096, 64), "bf16x6_short");
  EXPECT_EQ(last(4096, 256), "bf16x6_sep");
  EXPECT_EQ(last(1024, 1024), "bf16x6_short");
  EXPECT_EQ(last(16384, 16384), "bf16x6_sep");
  const cuda::SplitGemmPlan longest = cuda::plan_split_gemm(4096, 4096, 1 << 20);
  EXPECT_EQ(longest.attempts[longest.attempts.size() - 2].scheme(), "tf32tf32_sep");
}

TEST(SplitContract, LongAndLargeProductsTakeLongRuns) {
  const auto shifted = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    const cuda::SplitGemmPlan plan = cuda::plan_split_gemm(m, n, k);
    const auto form = [](const cuda::SplitAttempt& t) { return t.kernel->form; };
    return std::ranges::find(plan.attempts, SplitForm::half_shifted, form)->scheme();
  };
  EXPECT_EQ(shifted(2048, 2048, 2048), "halfhalf_long");
  EXPECT_EQ(shifted(16384, 16384, 16384), "halfhalf_long");
  EXPECT_EQ(shifted(2048, 2048, 2047), "halfhalf_sep");
  EXPECT_EQ(shifted(1920, 2048, 4096), "halfhalf_sep");  // cuBLAS may cut k
  EXPECT_EQ(shifted(64, 65536, 4096), "halfhalf_sep");   // narrow tiles
}

// Each entry by fused multiply-adds in the order of k.
Matrix<float> conventional(const Matrix<float>& a, const Matrix<float>& b) {
  return Matrix<float>::of(a.rows(), b.columns(), [&](auto i, auto j) {
    float sum = 0;
    for (std::int64_t l = 0; l < a.columns(); ++l) sum = std::fma(a(i, l), b(l, j), sum);
    return sum;
  });
}

TEST(SplitContract, DataThatNoSplitHoldsAreMultipliedConventionally) {
  for (const auto& [m, n, k] :
       {std::array<std::int64_t, 3>{70, 90, 700}, {1, 300, 33}, {300, 500, 50}, {129, 193, 16}}) {
    const auto a = scattered_matrix<float>(m, k, 20, 1), b = scattered_matrix<float>(k, n, 20, 2);
    const Made made = under_contract(a, b, chain(m, n, k, "halfhalf_fold"));
    EXPECT_EQ(made.scheme, "conventional");
    EXPECT_EQ(difference(made.c, conventional(a, b)), "") << m << ' ' << n << ' ' << k;
  }
}

TEST(SplitContract, InfinitiesAndNansMakeTheProductConventional) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (int where = 0; where < 3; ++where) {
    Operands<float> x = sample(0, 140, 210, 95);
    if (where != 1) x.a(5, 94) = inf, x.a(139, 0) = nan;
    if (where != 0) x.b(94, 7) = -inf, x.b(3, 209) = nan, x.b(0, 8) = 0;
    const Made made = under_contract(x.a, x.b, chain(140, 210, 95));
    EXPECT_EQ(made.scheme, "conventional");
    EXPECT_EQ(difference_but_for_nans(made.c, conventional(x.a, x.b)), "") << where;
  }
}

TEST(SplitContract, GemmTakesTheSplitWhereItPays) {
  const std::int64_t n = least_split_order();
  const auto a = scattered_matrix<float>(n, n, 0.5, 1), b = scattered_matrix<float>(n, n, 0.5, 2);
  Matrix<float> c(n, n);
  const MatrixOnDevice da(a), db(b), dc(c);
  const float one = 1, zero = 0;
  const Report report = cuda::gemm<float>(Op::none, Op::none, n, n, n, &one, da.data(), a.ld(), db.data(), b.ld(),
                                          &zero, dc.data(), c.ld());
  check(cudaDeviceSynchronize(), "gemm");
  dc.fetch(c);
  EXPECT_EQ(report.plan.scheme, "split");
  EXPECT_EQ(difference(c, on_gpu(find_scheme("halfhalf_sep"), a, b)), "");
  const Plan small = cuda::explain<float>(Op::none, Op::none, 64, 64, 64);
  EXPECT_NE(small.scheme, "split");
}

TEST(SplitContract, HoldsOnEveryFamily) {
  for (const std::string& family : operand_families()) {
    const auto x = make_operands<float>(family, 45, 60, 260, 3);
    const Made made = under_contract(x.a, x.b, chain(45, 60, 260));
    EXPECT_EQ(broken_bound(Contract::fp32(), x.a, x.b, made.c), "") << family << ", " << made.scheme;
  }
}

TEST(SplitContract, HoldsWhereTheLargeElementsMeetZeros) {
  // Every product that counts lies 2^span below the product of the maxima.
  for (int span : {20, 30, 44, 70, 110}) {
    Operands<float> x = sample(0, 40, 40, 96);
    for (std::int64_t l = 0; l < 96; ++l)
      for (std::int64_t v = 0; v < 40; ++v) {
        x.a(v, l) = l == 0 ? std::ldexp(1.0f, span / 2) : l == 1 ? 0 : std::ldexp(x.a(v, l), -span / 2);
        x.b(l, v) = l == 1 ? std::ldexp(1.0f, span / 2) : l == 0 ? 0 : std::ldexp(x.b(l, v), -span / 2);
      }
    const Made made = under_contract(x.a, x.b, chain(40, 40, 96));
    EXPECT_EQ(broken_bound(Contract::fp32(), x.a, x.b, made.c), "") << span << ", " << made.scheme;
  }
}

TEST(SplitContract, ScalarsMayLieInDeviceMemory) {
  const Operands<float> x = sample(0, 60, 50, 128);
  const Matrix<float> t = on_model(find_scheme("halfhalf_sep"), x.a, x.b), old = sample(1, 60, 50, 50).a;
  const cuda::SplitGemmPlan plan = chain(60, 50, 128);
  Matrix<float> c = padded(old, 0);
  Matrix<float> scalars(2, 1);
  scalars(0, 0) = 2.5f, scalars(1, 0) = -0.5f;
  const MatrixOnDevice da(x.a), db(x.b), dc(c), ds(scalars);
  const cuda::Stream stream;
  const cuda::DeviceWorkspace workspace(plan.workspace, stream);
  const auto operands =
      cuda::split_operands_of({Op::none, Op::none, 60, 50, 128, nullptr, da.data(), 60, db.data(), 128});
  cuda::split_gemm(plan, operands, {{0, ds.data()}, {0, ds.data() + 1}}, dc.data(), c.ld(), workspace.data(), stream);
  stream.wait();
  dc.fetch(c);
  const auto expected =
      Matrix<float>::of(60, 50, [&](auto i, auto j) { return std::fma(2.5f, t(i, j), -0.5f * old(i, j)); });
  EXPECT_EQ(difference(c, expected), "");
}

// Calls of a host that may wait, on one stream, with verdicts spoilt before each. One is made beforehand.
class Waited {
 public:
  explicit Waited(cuda::SplitGemmPlan plan) : plan_(std::move(plan)), workspace_(plan_.workspace, stream_) {
    const std::int64_t n = plan_.n;
    const auto scattered = [&](double phi, int draw) { return scattered_matrix<float>(n, n, phi, draw); };
    data_.emplace("halfhalf_sep", Data{scattered(1.5, 1), scattered(1.5, 2)});
    data_.emplace("bf16x6_short", Data{scattered(5, 3), scattered(5, 4)});
    queue("halfhalf_sep", 0);  // every attempt: all kernels are loaded from here on
  }

  // Of data that take this scheme: how many attempts were queued.
  int queue(const std::string& scheme, double patience) {
    const std::int64_t n = plan_.n;
    const Data& data = data_.at(scheme);
    check(cudaMemsetAsync(workspace_.data(), 0xff, plan_.workspace, stream_), "poison");
    return cuda::split_gemm(plan_,
                            cuda::split_operands_of({Op::none, Op::none, n, n, n, nullptr, data.on_device_a.data(), n,
                                                     data.on_device_b.data(), n}),
                            {{1, nullptr}, {0, nullptr}}, dc_.data(), n, workspace_.data(), stream_, patience);
  }
  int queue_patiently(const std::string& scheme) { return queue(scheme, 10); }
  void expect(const std::string& scheme) {
    ASSERT_EQ(cuda::split_gemm_made(plan_, workspace_.data(), stream_), scheme);
    dc_.fetch(c_);
    EXPECT_EQ(difference(c_, on_gpu(find_scheme(scheme), data_.at(scheme).a, data_.at(scheme).b)), "");
  }
  // Queues until a question is answered by yes, which may take a pause of 64. How many attempts the last call queued.
  int queue_until_told(const std::string& scheme) {
    int queued = all();
    for (int i = 0; i < 66 && queued == all(); ++i) queued = queue_patiently(scheme);
    return queued;
  }
  int all() const { return static_cast<int>(plan_.attempts.size()); }
  cudaStream_t stream() const { return stream_; }

 private:
  struct Data {
    Matrix<float> a, b;
    MatrixOnDevice on_device_a{a}, on_device_b{b};
  };

  const cuda::SplitGemmPlan plan_;
  std::map<std::string, Data> data_;
  Matrix<float> c_{plan_.m, plan_.n};
  const MatrixOnDevice dc_{c_};
  const cuda::Stream stream_;
  const cuda::DeviceWorkspace workspace_;
};

// Ordinary and wide data in turns: an answer to the question before would be the wrong one.
TEST(SplitContract, AHostThatMayWaitQueuesNoAttemptBehindTheOneThatIsMade) {
  const std::int64_t n = 640;
  for (const bool alone : {true, false}) {
    Waited calls(chain(n, n, n, alone ? "" : "halfhalf_fold"));
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(calls.queue_until_told("halfhalf_sep"), alone ? 1 : calls.all());
      calls.expect("halfhalf_sep");
      EXPECT_EQ(calls.queue_patiently("bf16x6_short"), calls.all());
      calls.expect("bf16x6_short");
    }
  }
}

TEST(SplitContract, WhatABusyStreamDoesNotAnswerInTimeIsQueued) {
  Waited calls(cuda::plan_split_gemm(640, 640, 640));
  EXPECT_EQ(calls.queue_until_told("halfhalf_sep"), 1);
  occupy(1, 100, calls.stream());
  for (int i = 0; i < 7; ++i) EXPECT_EQ(calls.queue("halfhalf_sep", cuda::split_gemm_patience), calls.all());
  calls.expect("halfhalf_sep");
  EXPECT_EQ(calls.queue_until_told("halfhalf_sep"), 1);
  calls.expect("halfhalf_sep");
}

TEST(SplitContract, ACapturedGraphChoosesAnewEachTime) {
  const std::int64_t m = 64, n = 64, k = 256;
  const auto even = scattered_matrix<float>(m, k, 0.1, 1), wide = scattered_matrix<float>(m, k, 5, 2),
             b = scattered_matrix<float>(k, n, 0.1, 3);
  const cuda::SplitGemmPlan plan = cuda::plan_split_gemm(m, n, k);
  Matrix<float> c(m, n);
  const MatrixOnDevice da(even), db(b), dc(c);
  const cuda::Stream stream;
  const cuda::DeviceWorkspace workspace(plan.workspace, stream);
  stream.wait();
  const auto x = cuda::split_operands_of({Op::none, Op::none, m, n, k, nullptr, da.data(), m, db.data(), k});
  cudaGraph_t graph;
  cudaGraphExec_t run;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  cuda::split_gemm(plan, x, {{1, nullptr}, {0, nullptr}}, dc.data(), m, workspace.data(), stream);
  check(cudaStreamEndCapture(stream, &graph), "capture");
  check(cudaGraphInstantiate(&run, graph, 0), "graph");
  for (const auto& [a, scheme] : {std::pair{&even, "halfhalf_sep"}, {&wide, "bf16x6_short"}, {&even, "halfhalf_sep"}}) {
    copy_to_device(da.data(), a->data(), static_cast<std::size_t>(m * k) * 4);
    check(cudaGraphLaunch(run, stream), "graph");
    EXPECT_EQ(cuda::split_gemm_made(plan, workspace.data(), stream), scheme);
    dc.fetch(c);
    EXPECT_EQ(difference(c, on_model(find_scheme(scheme), *a, b)), "") << scheme;
  }
  check(cudaGraphExecDestroy(run), "graph");
  check(cudaGraphDestroy(graph), "graph");
}

}  // namespace
}  // namespace vernier::test::split_contract_test
