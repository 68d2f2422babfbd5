// Whoever has int8 products made gives each a word of its own to keep pace by.
#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "blas/complex_gemm_cuda.hpp"
#include "blas/prepared_run.hpp"
#include "cuda/device.hpp"
#include "product/arguments.hpp"
#include "residue/gemm_cuda.hpp"
#include "support/random.hpp"

namespace vernier::cuda::pace_word_test {
namespace {

// The Hopper engine, which others use through this; spoils the word before and after each product.
class Noting final : public DeviceInt8Engine {
 public:
  std::string_view name() const override { return used_.name(); }
  std::string_view description() const override { return used_.description(); }
  std::string missing() const override { return used_.missing(); }
  ByteForm form() const override { return used_.form(); }
  std::int64_t longest_k() const override { return used_.longest_k(); }
  bool sums_in_memory() const override { return used_.sums_in_memory(); }
  void multiply(const DeviceInt8Product& p, cudaStream_t stream) const override {
    ++products;
    without_word += p.steps == nullptr;
    spoil(p.steps, stream);
    used_.multiply(p, stream);
    spoil(p.steps, stream);
  }

  mutable int products = 0, without_word = 0;

 private:
  static void spoil(std::uint32_t* word, cudaStream_t stream) {
    if (word != nullptr) check(cudaMemsetAsync(word, 0x55, sizeof *word, stream), "spoil");
  }

  const DeviceInt8Engine& used_ = sm90_int8_engine();
};

class PaceWord : public testing::Test {
 protected:
  PaceWord() {
    fill(a, 1);
    fill(b, 2);
  }
  void SetUp() override {
    if (!takes_hopper_kernels()) GTEST_SKIP() << "Hopper's engine alone keeps pace";
  }

  // multiply(engine): true, with C.
  template <class Multiply>
  void expect_words(const Multiply& multiply) const {
    const auto product = [&](const DeviceInt8Engine& engine) {
      check(cudaMemset(c.data(), 0, c.bytes()), "clear");
      EXPECT_TRUE(multiply(engine));
      return on_host(c.data(), static_cast<std::int64_t>(c.size()), nullptr);
    };
    const Noting noting;
    EXPECT_EQ(product(noting), product(sm90_int8_engine()));
    EXPECT_GT(noting.products, 0);
    EXPECT_EQ(noting.without_word, 0);
  }

  static Options options_of(const Contract& contract) { return {.contract = contract, .engine = "sm90_int8"}; }
  DeviceResidueProblem<double> problem() const {
    return {rows_of(Op::none, a.data(), m, k, m), columns_of(Op::none, b.data(), n, k, k), {{1}, {0}, c.data(), m}};
  }

  static constexpr std::int64_t m = 300, n = 200, k = 500;
  const DeviceBuffer<double> a{2 * m * k}, b{2 * k * n}, c{2 * m * n};  // complex, or half of them real

 private:
  static void fill(const DeviceBuffer<double>& x, unsigned seed) {
    test::Random random(seed);
    std::vector<double> host(x.size());
    for (double& e : host) e = random.uniform() - 0.5;
    copy_to_device(x.data(), host.data(), x.bytes());
  }
};

TEST_F(PaceWord, ProductsByResidues) {
  const Options options = options_of(Contract::fp64());
  const DeviceProductPlan plan = plan_of<double>({m, n, k}, options, false);
  Report report;
  expect_words([&](const DeviceInt8Engine& engine) { return residue_gemm(plan, engine, problem(), options, report); });
}

TEST_F(PaceWord, ExactProducts) {
  const Options options = options_of(Contract::exact());
  const DeviceProductPlan plan = plan_of<double>({m, n, k}, options, false);
  Report report;
  expect_words([&](const DeviceInt8Engine& engine) {
    exact_gemm(plan, engine, problem(), options, report);
    return true;
  });
}

TEST_F(PaceWord, ComplexProducts) {
  using Complex = std::complex<double>;
  const Options options = options_of(Contract::fp64());
  const auto plan = plan_device_complex<double>({m, n, k}, Op::none, Op::none, false, options.contract,
                                                limits_of(sm90_int8_engine()));
  ASSERT_TRUE(plan.has_value());
  const DeviceWorkspace workspace(plan->bytes, nullptr);
  const Complex alpha = 1, beta = 0;
  const DeviceComplexProblem<double> problem{Op::none,
                                             Op::none,
                                             m,
                                             n,
                                             k,
                                             &alpha,
                                             reinterpret_cast<const Complex*>(a.data()),
                                             m,
                                             reinterpret_cast<const Complex*>(b.data()),
                                             k,
                                             &beta,
                                             reinterpret_cast<Complex*>(c.data()),
                                             m};
  expect_words([&](const DeviceInt8Engine& engine) {
    return complex_residue_gemm(*plan, engine, problem, options, workspace.data());
  });
}

TEST_F(PaceWord, ProductsOfPreparedOperands) {
  const Options options = options_of(Contract::fp64());
  const PreparedData<double> prepared(Side::left, Op::none, m, k, a.data(), m, options);
  PreparedReport report;
  expect_words([&](const DeviceInt8Engine& engine) {
    return PreparedRun<double>({&prepared, prepared.copy}, {nullptr, problem().b}, engine, problem(), options)
        .run(report);
  });
}

}  // namespace
}  // namespace vernier::cuda::pace_word_test
