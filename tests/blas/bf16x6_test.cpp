// fp32 products of bf16 parts, against the replay of the engine's model: on emulated tiles, and on the hardware where
// there is one.
#include "bf16x6/blocking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <functional>
#include <limits>

#include "bf16x6/engine.hpp"
#include "bf16x6_engine_under_test.hpp"
#include "emulated_parts.hpp"
#include "engine/panel.hpp"
#include "product/arguments.hpp"
#include "support/bound.hpp"
#include "support/compare.hpp"
#include "support/generators.hpp"
#include "vernier/prepared.hpp"

namespace vernier::test::bf16x6_test {
namespace {

struct Call {
  Op opa = Op::none, opb = Op::none;
  float alpha = 1, beta = 0;
  int threads = 2;
  std::size_t limit = default_workspace_limit;
  std::int64_t pad = 0;
};

class Bf16x6GemmTest : public testing::TestWithParam<const Bf16x6Engine*> {
 protected:
  void SetUp() override {
    const std::string missing = missing_for_bf16x6();
    if (!missing.empty()) GTEST_SKIP() << "NOT TESTED: bf16 parts need AVX-512; this machine lacks " << missing;
  }

  // op(A) = a, op(B) = b, C as it was: false if the data do not fit.
  bool multiply(const Matrix<float>& a, const Matrix<float>& b, Matrix<float>& c, const Call& call = {}) {
    const Matrix<float> A = stored(call.opa, a, call.pad), B = stored(call.opb, b, call.pad);
    const ProductShape shape{a.rows(), b.columns(), a.columns()};
    blocking_ = choose_bf16x6_blocking(shape, call.threads, call.limit);
    EXPECT_LE(blocking_.bytes, call.limit);
    const GemmProblem<float> problem{rows_of(call.opa, A.data(), shape.m, shape.k, A.ld()),
                                     columns_of(call.opb, B.data(), shape.n, shape.k, B.ld()),
                                     {call.alpha, call.beta, c.data(), c.ld()}};
    Report report;
    std::vector<std::byte> memory(blocking_.bytes);
    const bool done = bf16x6_gemm(*GetParam(), blocking_, problem,
                                  {.workspace = memory.data(), .workspace_bytes = memory.size()}, report);
    EXPECT_EQ(c.broken_guard(), "");
    return done;
  }

  Bf16x6Blocking blocking_;
};

// The elements of each step in the order in which the tiles hold them, k padded to whole chunks.
Matrix<float> in_tile_order(const Matrix<float>& a) {
  const std::int64_t k = round_up(a.columns(), bf16x6_chunk);
  return Matrix<float>::of(a.rows(), k, [&](auto i, auto e) {
    const std::int64_t l = e / bf16x6_step * bf16x6_step + k_of_part_element(static_cast<int>(e % bf16x6_step));
    return l < a.columns() ? a(i, l) : 0.0f;
  });
}

// T on the model of the instruction: groups of k one after the other.
Matrix<float> replayed(const Matrix<float>& a, const Matrix<float>& b) {
  const Matrix<float> x = in_tile_order(a), y = transposed(in_tile_order(transposed(b)));
  const model::Engine& engine = model::find_engine("amx-bf16").engine;
  Matrix<float> sum(a.rows(), b.columns()), t(a.rows(), b.columns());
  for (std::int64_t l = 0; l < x.columns(); l += bf16x6_group) {
    const std::int64_t k = std::min<std::int64_t>(bf16x6_group, x.columns() - l);
    split::multiply(bf16x6_order(), engine, Op::none, Op::none, a.rows(), b.columns(), k, x.data() + l * x.ld(), x.ld(),
                    y.data() + l, y.ld(), t.data(), t.ld());
    for (std::int64_t j = 0; j < t.columns(); ++j)
      for (std::int64_t i = 0; i < t.rows(); ++i) sum(i, j) = l == 0 ? t(i, j) : sum(i, j) + t(i, j);
  }
  return sum;
}

Matrix<float> updated(const Matrix<float>& t, float alpha, float beta, const Matrix<float>& c) {
  return Matrix<float>::of(t.rows(), t.columns(), [&](auto i, auto j) {
    return beta == 0 ? alpha * t(i, j) : std::fma(alpha, t(i, j), beta * c(i, j));
  });
}

Operands<float> scattered(std::int64_t m, std::int64_t n, std::int64_t k, double phi = 0.5) {
  return {scattered_matrix<float>(m, k, phi, 1), scattered_matrix<float>(k, n, phi, 2)};
}

TEST_P(Bf16x6GemmTest, EqualsTheReplayOfTheModel) {
  struct Shape {
    std::int64_t m, n, k;
  };
  for (const Shape& s : {Shape{1, 1, 1},
                         {2, 3, 5},
                         {16, 64, 64},
                         {17, 65, 65},
                         {15, 63, 31},
                         {33, 70, 129},
                         {48, 130, 513},
                         {5, 3, 1700},
                         {270, 66, 40}}) {
    const Operands<float> x = scattered(s.m, s.n, s.k);
    Matrix<float> c(s.m, s.n, 3);
    ASSERT_TRUE(multiply(x.a, x.b, c));
    EXPECT_EQ(difference(c, replayed(x.a, x.b)), "") << s.m << " x " << s.n << " x " << s.k;
  }
}

TEST_P(Bf16x6GemmTest, HasTheSameBitsForEveryOpScalarAndLeadingDimension) {
  const Operands<float> x = scattered(37, 81, 150);
  const Matrix<float> t = replayed(x.a, x.b), old = scattered_matrix<float>(37, 81, 0.5, 3);
  for (const Op opa : {Op::none, Op::transpose})
    for (const Op opb : {Op::none, Op::transpose})
      for (const float alpha : {1.0f, -0.3f})
        for (const float beta : {0.0f, 1.0f, 0.7f}) {
          Matrix<float> c = padded(old, 5);
          ASSERT_TRUE(multiply(x.a, x.b, c, {.opa = opa, .opb = opb, .alpha = alpha, .beta = beta, .pad = 7}));
          EXPECT_EQ(difference(c, updated(t, alpha, beta, old)), "") << alpha << ' ' << beta;
        }
}

TEST_P(Bf16x6GemmTest, HasTheSameBitsForEveryBlockingAndNumberOfThreads) {
  const Operands<float> x = scattered(300, 260, 600);
  Matrix<float> expected(300, 260);
  ASSERT_TRUE(multiply(x.a, x.b, expected, {.threads = 1}));
  EXPECT_EQ(blocking_.n_block, 288);
  for (const int threads : {2, 3, 5}) {
    const std::size_t least = choose_bf16x6_blocking({300, 260, 600}, threads, 0).bytes;
    for (const std::size_t limit : {least, least + (std::size_t{1} << 20), default_workspace_limit}) {
      Matrix<float> c(300, 260);
      ASSERT_TRUE(multiply(x.a, x.b, c, {.threads = threads, .limit = limit}));
      EXPECT_EQ(difference(c, expected), "") << threads << " threads, " << limit << " bytes";
    }
    EXPECT_EQ(choose_bf16x6_blocking({300, 260, 600}, threads, least).n_block, 32);
  }
}

// Rows and columns of any size: those of 2^s x are 2^s times those of x.
TEST_P(Bf16x6GemmTest, ScalesRowsAndColumnsThatAreOutOfRange) {
  const Operands<float> x = scattered(40, 70, 100);
  Matrix<float> expected(40, 70), c(40, 70);
  ASSERT_TRUE(multiply(x.a, x.b, expected));
  const auto row = [](auto i) { return static_cast<int>(i % 5) * 30 - 60; };
  const auto column = [](auto j) { return static_cast<int>(j % 3) * 20 - 100; };
  const auto a = Matrix<float>::of(40, 100, [&](auto i, auto l) { return std::ldexp(x.a(i, l), row(i)); });
  const auto b = Matrix<float>::of(100, 70, [&](auto l, auto j) { return std::ldexp(x.b(l, j), column(j)); });
  for (const Op op : {Op::none, Op::transpose}) {
    ASSERT_TRUE(multiply(a, b, c, {.opa = op, .opb = op}));
    EXPECT_EQ(
        difference(c, Matrix<float>::of(
                          40, 70, [&](auto i, auto j) { return std::ldexp(expected(i, j), row(i) + column(j)); })),
        "");
  }
}

TEST_P(Bf16x6GemmTest, HoldsSubnormalAndTheLargestNumbers) {
  constexpr float least = std::numeric_limits<float>::denorm_min(), largest = std::numeric_limits<float>::max();
  const auto a = Matrix<float>::of(2, 2, [&](auto i, auto l) { return i == 0 ? least * float(3 + l) : largest; });
  const auto b = Matrix<float>::of(2, 3, [&](auto, auto j) { return j == 0 ? largest : j == 1 ? 0.25f : 0.0f; });
  Matrix<float> c(2, 3);
  ASSERT_TRUE(multiply(a, b, c));
  EXPECT_EQ(c(0, 0), least * 7 * largest);
  EXPECT_EQ(c(0, 1), least * 2);  // 7/4 of the least number
  EXPECT_EQ(c(1, 0), std::numeric_limits<float>::infinity());
  EXPECT_EQ(c(1, 1), largest / 2);
  EXPECT_EQ(bits_of(c(0, 2)), 0u);
  EXPECT_EQ(bits_of(c(1, 2)), 0u);
}

TEST_P(Bf16x6GemmTest, LeavesCAloneWhereTheDataDoNotFit) {
  const Operands<float> x = scattered(20, 90, 70);
  const Matrix<float> old = scattered_matrix<float>(20, 90, 0.5, 3);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 0x1p-90f})
    for (const bool in_b : {false, true}) {
      Operands<float> y = x;
      (in_b ? y.b(69, 89) : y.a(19, 69)) = bad;
      Matrix<float> c = old;
      EXPECT_FALSE(multiply(y.a, y.b, c)) << bad;
      EXPECT_EQ(difference(c, old), "");
    }
}

TEST_P(Bf16x6GemmTest, IsExactOnSmallIntegers) {
  const auto a = integer_matrix<float>(50, 90, 4000, 1), b = integer_matrix<float>(90, 66, 40, 2);
  Matrix<float> c(50, 66);
  ASSERT_TRUE(multiply(a, b, c));
  EXPECT_EQ(difference(c, Matrix<float>::of(50, 66,
                                            [&](auto i, auto j) {
                                              double sum = 0;
                                              for (std::int64_t l = 0; l < 90; ++l)
                                                sum += double{a(i, l)} * double{b(l, j)};
                                              return sum;
                                            })),
            "");
}

TEST_P(Bf16x6GemmTest, KeepsTheContract) {
  for (const double phi : {0.0, 0.5, 4.0})
    for (const std::int64_t k : {1, 3, 17, 40, 300, 1100}) {
      const Operands<float> x = scattered(9, 21, k, phi);
      Matrix<float> c(9, 21);
      ASSERT_TRUE(multiply(x.a, x.b, c));
      EXPECT_EQ(broken_bound(Contract::fp32(), x.a, x.b, c), "") << "phi " << phi << ", k = " << k;
    }
}

// Relative to |A||B|.
struct Errors {
  double mean = 0, largest = 0;
};

Errors errors_of(const Operands<float>& x, const Matrix<float>& c) {
  Errors e;
  for (std::int64_t j = 0; j < c.columns(); ++j)
    for (std::int64_t i = 0; i < c.rows(); ++i) {
      double sum = 0, size = 0;
      for (std::int64_t l = 0; l < x.a.columns(); ++l) {
        const double term = double{x.a(i, l)} * double{x.b(l, j)};
        sum += term;
        size += std::abs(term);
      }
      const double error = std::abs(c(i, j) - sum) / size;
      e.mean += error / static_cast<double>(c.rows() * c.columns());
      e.largest = std::max(e.largest, error);
    }
  return e;
}

TEST_P(Bf16x6GemmTest, ErrorsAreNoLargerThanThoseOfAChain) {
  Random random(5);
  const auto positive = [&](auto, auto) { return random.uniform(); };
  for (const std::int64_t k : {64, 640})
    for (const Operands<float>& x :
         {scattered(64, 48, k), scattered(64, 48, k, 4),
          Operands<float>{Matrix<float>::of(64, k, positive), Matrix<float>::of(k, 48, positive)}}) {
      Matrix<float> c(64, 48);
      ASSERT_TRUE(multiply(x.a, x.b, c));
      const auto chain = Matrix<float>::of(64, 48, [&](auto i, auto j) {
        float sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum = std::fma(x.a(i, l), x.b(l, j), sum);
        return sum;
      });
      const Errors ours = errors_of(x, c), theirs = errors_of(x, chain);
      EXPECT_LE(ours.mean, theirs.mean) << "k = " << k;
      EXPECT_LE(ours.largest, theirs.largest) << "k = " << k;
    }
}

std::vector<const Bf16x6Engine*> engines_under_test() {
  std::vector<const Bf16x6Engine*> list{&emulated_bf16x6_engine()};
  if (usable_bf16x6_engine() != nullptr) list.push_back(usable_bf16x6_engine());
  return list;
}
// A name in the environment is of no concern to products that its engine does not multiply, where the machine has it.
TEST(PartsByGemm, ANameInTheEnvironmentLeavesOtherProductsAlone) {
  if (bf16x6_engine() == nullptr) return;  // of another kind of processor: the name is unknown there
  const char* variable = std::getenv("VERNIER_ENGINE");
  const std::string before = variable != nullptr ? variable : "";
  setenv("VERNIER_ENGINE", "amx_bf16", 1);
  const double one = 1;
  const std::vector<std::function<void()>> calls{
      [] { explain<double>(Op::none, Op::none, 300, 300, 300); },
      [] { explain<double>(Op::none, Op::none, 0, 300, 300); },
      [] { explain<double>(Op::none, Op::none, 2, 2, 2); },
      [] { explain<float>(Op::none, Op::none, 9, 9, 9, {.contract = Contract::fp64()}); },
      [] { explain<std::complex<float>>(Op::none, Op::none, 300, 300, 300, {.contract = Contract::fp32()}); },
      [] { gemm_workspace<double>(300, 300, 300, {}); },
      [] { EXPECT_NE(default_engine(), ""); },
      [&] { PreparedOperand<double>(Side::left, Op::none, 1, 1, &one, 1); }};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (usable_bf16x6_engine() != nullptr) {
      EXPECT_NO_THROW(calls[i]()) << i;
      continue;
    }
    try {
      calls[i]();
      ADD_FAILURE() << "call " << i << ": an engine that cannot run here was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::unsupported) << i;
      EXPECT_NE(std::string(error.what()).find("VERNIER_ENGINE \"amx_bf16\""), std::string::npos) << error.what();
    }
  }
  unsetenv("VERNIER_ENGINE");
  EXPECT_THROW(explain<double>(Op::none, Op::none, 9, 9, 9, {.engine = "amx_bf16"}), Error);
  EXPECT_THROW(
      explain<std::complex<float>>(Op::none, Op::none, 9, 9, 9, {.contract = Contract::fp32(), .engine = "amx_bf16"}),
      Error);
}

// Through the public interface, on machines that have the engine: the plan, what the data change, and whose bits.
TEST(PartsByGemm, TakesThePlansWay) {
  const Bf16x6Engine* engine = usable_bf16x6_engine();
  if (engine == nullptr) GTEST_SKIP() << "NOT TESTED: this machine has no AMX with bf16";
  const std::int64_t n = 700;
  Operands<float> x = scattered(n, n, n);
  Matrix<float> c(n, n), again(n, n);
  const auto run = [&](Matrix<float>& out, const Options& options) {
    return gemm(Op::none, Op::none, n, n, n, 1.0f, x.a.data(), n, x.b.data(), n, 0.0f, out.data(), n, options);
  };
  Options fp32{.contract = Contract::fp32()}, named = fp32, reproducible = fp32;
  named.engine = engine->name;
  reproducible.contract.reproducible = true;
  EXPECT_EQ(run(c, named).plan.scheme, "bf16x6");
  std::vector<std::byte> memory(gemm_workspace<float>(n, n, n, named));
  named.workspace = memory.data();
  named.workspace_bytes = memory.size();
  EXPECT_EQ(run(again, named).plan.engine, "amx_bf16");
  EXPECT_EQ(difference(again, c), "");
  EXPECT_EQ(run(c, reproducible).plan.scheme, "residues");
  named.contract = Contract::fp64();
  EXPECT_THROW(run(c, named), Error);
  named.contract = Contract::fp32();
  x.a(5, 7) = std::numeric_limits<float>::quiet_NaN();
  const Report report = run(c, named);
  EXPECT_NE(report.plan.scheme, "bf16x6");
  EXPECT_TRUE(std::isnan(c(5, 0)));
  EXPECT_FALSE(std::isnan(c(6, 0)));
}

// What is listed as supported can be named, and what is not says what it lacks; none of them is an int8 engine.
TEST(PartsByGemm, TheEngineIsListed) {
  ASSERT_EQ(part_engines().size(), bf16x6_engine() != nullptr ? 1U : 0U);
  for (const EngineInfo& engine : part_engines()) {
    EXPECT_EQ(engine.supported, usable_bf16x6_engine() != nullptr);
    EXPECT_EQ(engine.missing.empty(), engine.supported);
    EXPECT_FALSE(engine.description.empty());
    for (const EngineInfo& other : engines()) EXPECT_NE(other.name, engine.name);
    const Options named{.contract = Contract::fp32(), .engine = engine.name};
    const auto plan = [&] { return explain<float>(Op::none, Op::none, 9, 9, 9, named); };
    if (engine.supported)
      EXPECT_EQ(plan().engine, engine.name);
    else
      EXPECT_THROW(plan(), Error);
  }
}

TEST(PartsByGemm, AnEngineThatIsNotThereIsAnError) {
  if (usable_bf16x6_engine() != nullptr) GTEST_SKIP() << "NOT TESTED: this machine has the engine";
  EXPECT_THROW(explain<float>(Op::none, Op::none, 9, 9, 9, Options{.contract = Contract::fp32(), .engine = "amx_bf16"}),
               Error);
}

INSTANTIATE_TEST_SUITE_P(Engines, Bf16x6GemmTest, testing::ValuesIn(engines_under_test()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace vernier::test::bf16x6_test
