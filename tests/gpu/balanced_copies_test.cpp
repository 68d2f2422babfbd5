// Products of balanced copies: of operands graded along k whose vectors are too long for kernels that balance.
#include "engine/int8_engine_cuda.hpp"
#include "gpu/captured.hpp"
#include "gpu/engines.hpp"
#include "gpu/fixture.hpp"
#include "gpu/graded.hpp"
#include "gpu/on_device.hpp"
#include "residue/bound/balance.hpp"
#include "residue/choice.hpp"
#include "residue/regularity.hpp"
#include "support/bound.hpp"

namespace vernier::test::balanced_copies_test {
namespace {

constexpr std::int64_t n = 34, k = 8900;

Operands<double> graded_both(std::int64_t m, int grades = 40, int shift_a = 0, int shift_b = 0) {
  return graded(
      m, n, k, grades, [=](auto, int grade) { return shift_a + grade; },
      [=](auto, int grade) { return shift_b - grade; });
}

cuda::Options usual(const Contract& contract = Contract::fp64()) {
  return {.contract = contract, .engine = usual_engine()};
}

Report multiply(const Operands<double>& x, const cuda::Options& options) {
  const auto out = multiply_on_gpu(Call<double>{.a = x.a, .b = x.b}, options);
  EXPECT_EQ(broken_bound(options.contract, x.a, x.b, out.c), "") << options.engine << ", " << options.contract.text();
  return out.report;
}

cuda::ProductMemory known(std::int64_t m, const cuda::Options& options) {
  return cuda::remembered(cuda::plan_of<double>({m, n, k}, options, true), {nullptr, false});
}

// Moduli of the operands as they are; then copies are known to take fewer, on Hopper.
int learn(const Operands<double>& x, const cuda::Options& options) {
  const int moduli = multiply(x, options).plan.moduli;
  for (int i = 0; i < 2; ++i) multiply(x, options);
  EXPECT_EQ(known(x.a.rows(), options).copies > 0, cuda::takes_hopper_kernels());
  return moduli;
}

TEST(BalancedCopiesOnGpu, KeepTheirBound) {
  constexpr std::int64_t m = 40;
  const auto even = graded_both(m);
  std::vector<int> moduli;
  for (int i = 0; i < 6; ++i) {
    auto x = even;
    if (i == 3) {
      x.a(5, 7) = std::numeric_limits<double>::infinity();
      const auto out = multiply_on_gpu(Call<double>{.a = x.a, .b = x.b}, usual());
      EXPECT_FALSE(std::isfinite(out.c(5, 3)));
      moduli.push_back(0);
    } else {
      moduli.push_back(multiply(x, usual()).plan.moduli);
    }
  }
  if (cuda::takes_hopper_kernels()) {
    EXPECT_GT(moduli[4], 0);
    EXPECT_LE(moduli[4], 15);
    EXPECT_LT(moduli[4], moduli[0]) << "as they are";
  }
  // They are given up where an element leaves the normal numbers.
  for (const auto& [a, b] : {std::pair{1015, -900}, {-1040, 900}}) {
    const auto x = graded(
        m, n, k, 40, [a = a](auto, int) { return a; }, [b = b](auto, int grade) { return b - grade; });
    for (int i = 0; i < 3; ++i) multiply(x, usual());
  }
}

// Contracts without a bound product have the place of those that have one: nothing of theirs is balanced.
TEST(BalancedCopiesOnGpu, BelongToContractsThatHaveABound) {
  for (const Contract& contract : {Contract::fp32(), Contract::fp64()}) {
    const auto x = graded_both(41);
    learn(x, usual(contract));
    const cuda::Options promised = usual(reproducible(contract));
    const auto out = multiply_on_gpu(Call<double>{.a = x.a, .b = x.b}, promised);
    EXPECT_EQ(broken_bound(contract, x.a, x.b, out.c), "");
    const Matrix<double> cpu = on_cpu(Call<double>{.a = x.a, .b = x.b}, contract);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < x.a.rows(); ++i) ASSERT_EQ(out.c(i, j), cpu(i, j)) << contract.text();
    multiply(x, usual(contract));
  }
}

TEST(BalancedCopiesOnGpu, ServeEveryEngine) {
  const auto x = graded_both(42);
  learn(x, usual());
  for (const cuda::DeviceInt8Engine* engine : cuda::device_int8_engines())
    if (engine->missing().empty())
      for (int i = 0; i < 2; ++i) multiply(x, {.contract = Contract::fp64(), .engine = std::string(engine->name())});
}

// Their memory counts: a limit or a workspace without room for them takes operands as they are.
TEST(BalancedCopiesOnGpu, StayWithinTheWorkspace) {
  constexpr std::int64_t m = 43;
  const auto x = graded_both(m);
  const int plain = learn(x, usual());
  cuda::Options limited = usual(), own = usual();
  limited.workspace_limit = cuda::gemm_workspace<double>(m, n, k, usual()) + 100000;
  const cuda::DeviceBuffer<std::byte> memory(limited.workspace_limit);
  own.workspace = memory.data();
  own.workspace_bytes = memory.bytes();
  for (const cuda::Options& options : {limited, own}) {
    EXPECT_EQ(multiply(x, options).plan.moduli, plain);
    const int again = multiply(x, usual()).plan.moduli;
    if (cuda::takes_hopper_kernels()) {
      EXPECT_LT(again, plain) << "copies are still known";
    }
  }
  cuda::Options least = usual();
  least.workspace_limit = cuda::gemm_workspace<double>(m, n, k, usual(), true);
  multiply(x, least);
}

// Data that are not graded any more end them.
TEST(BalancedCopiesOnGpu, EndWithTheGrades) {
  constexpr std::int64_t m = 44;
  const auto x = graded_both(m), even = graded_both(m, 1);
  learn(x, usual());
  for (int i = 0; i < 2; ++i) {
    multiply(even, usual());
    EXPECT_EQ(known(m, usual()).copies, 0);
    EXPECT_FALSE(known(m, usual()).irregular);
  }
  learn(x, usual());
}

// Without a host, too, where products whose host waited took copies: for data that are as those were, that are even,
// and of which elements leave the normal numbers or are none.
TEST(BalancedCopiesOnGpu, ServeWithoutAHost) {
  constexpr std::int64_t m = 45;
  const auto shifted = [](int a, int b) {
    return graded(
        m, n, k, 40, [a](auto, int) { return a; }, [b](auto, int grade) { return b - grade; });
  };
  const auto x = graded_both(m), even = graded_both(m, 1), large = shifted(1020, -900), small = shifted(-1040, 900);
  const auto special = [y = x]() mutable {
    y.a(5, 7) = std::numeric_limits<double>::infinity();
    y.b(8, 3) = std::numeric_limits<double>::quiet_NaN();
    return y;
  }();
  cuda::Options options = usual();
  const int plain = learn(x, options);
  const auto expect_product = [&](const Operands<double>& y, const Matrix<double>& c) {
    if (&y != &special) {
      EXPECT_EQ(broken_bound(Contract::fp64(), y.a, y.b, c), "");
      return;
    }
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) ASSERT_EQ(std::isfinite(c(i, j)), i != 5 && j != 3) << i << ", " << j;
  };
  const OnDevice<cuda::Outcome> outcome(std::vector<cuda::Outcome>(1));
  options.asynchronous = true;
  options.outcome = outcome.data();
  const auto moduli = [&](const Operands<double>& y) {
    auto out = multiply_on_gpu(Call<double>{.a = y.a, .b = y.b}, options);
    expect_product(y, out.c);
    cuda::complete_report(out.report, outcome.read()[0]);
    return out.report.plan.moduli;
  };
  const int balanced = moduli(x);
  EXPECT_GT(moduli(even), 0);
  moduli(large);
  const int of_small = moduli(small);
  if (cuda::takes_hopper_kernels()) {
    EXPECT_EQ(of_small, 0) << "natively, of operands as they are";
  }
  moduli(special);
  EXPECT_EQ(moduli(x), balanced);
  if (cuda::takes_hopper_kernels()) {
    EXPECT_LE(balanced, 15);
    EXPECT_LT(balanced, plain);
  }
  options.asynchronous = false;
  options.outcome = nullptr;
  const DeviceCopy<double> a(x.a), b(x.b), c(Matrix<double>(m, n));
  const cuda::Stream stream;
  options.stream = stream;
  const double one = 1, zero = 0;
  const CapturedProduct graph(stream, [&] {
    cuda::gemm(Op::none, Op::none, m, n, k, &one, a.data(), x.a.ld(), b.data(), x.b.ld(), &zero, c.data(), m, options);
  });
  for (const auto* y : {&x, &even, &large, &small, &special, &x}) {
    overwrite(a, y->a);
    overwrite(b, y->b);
    graph.replay(stream);
    Matrix<double> got(m, n);
    c.read(got);
    expect_product(*y, got);
  }
}

// A first product that goes natively, and from which copies are known, is not followed by a pause.
TEST(BalancedCopiesOnGpu, AreTriedAtOnce) {
  if (!cuda::takes_hopper_kernels()) GTEST_SKIP() << "no copies";
  constexpr std::int64_t size = 3072, depth = 9000, least_grade = -20;
  std::vector<double> x(static_cast<std::size_t>(size * depth)), y(x.size());
  std::uint64_t state = 7;
  for (std::int64_t l = 0; l < depth; ++l) {
    const double up = std::ldexp(1.0, static_cast<int>(least_grade + l * 40 / depth));
    for (std::int64_t i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(l * size + i);
      for (double* to : {&x[at], &y[at]}) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        *to = static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
      }
      x[at] *= up, y[at] /= up;
    }
  }
  const cuda::DeviceBuffer<double> a(x.size()), b(y.size()), c(static_cast<std::size_t>(size * size));
  cuda::copy_to_device(a.data(), x.data(), a.bytes());
  cuda::copy_to_device(b.data(), y.data(), b.bytes());
  const double one = 1, zero = 0;
  const auto product = [&] {
    const Report report = cuda::gemm(Op::none, Op::transpose, size, size, depth, &one, a.data(), size, b.data(), size,
                                     &zero, c.data(), size, cuda::Options{.contract = Contract::fp64()});
    cuda::check(cudaDeviceSynchronize(), "cuda::gemm");
    return report;
  };
  EXPECT_TRUE(product().fallback) << "too many moduli as they are";
  const Report second = product();
  EXPECT_EQ(second.plan.scheme, "residues") << second.plan.reason;
  EXPECT_LE(second.plan.moduli, 15);
}

}  // namespace
}  // namespace vernier::test::balanced_copies_test
