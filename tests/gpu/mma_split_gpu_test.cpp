// Error-corrected products by mma.sync, as every GPU from compute capability 8.0 on takes them: the bits of the model's
// row for this GPU, and the attempts under contract fp32.
#include <array>

#include "gpu/split_fixture.hpp"
#include "product/plan/gpu_model.hpp"

namespace vernier::test::mma_split_gpu_test {
namespace {

using cuda::SplitGemmPlan, cuda::plan_split_gemm, cuda::split_gemm, cuda::split_gemm_made, cuda::split_operands_of;

const GpuModel any_gpu = derived_gpu_model({90, 132, 1.98e9, 3.35e12});

// "" where the table has no row for mma.sync of this GPU.
std::string row_of(const Scheme& s) {
  const int capability = cuda::current_device().compute_capability;
  const char* gpu = capability < 89 ? "ampere-" : capability == 89 ? "ada-" : capability == 90 ? "hopper-mma-" : "";
  return *gpu == 0 ? "" : gpu + std::string(model::to_string(s.low)) + "-fp32";
}

Matrix<float> replayed(const Scheme& s, const Matrix<float>& a, const Matrix<float>& b) {
  Matrix<float> c(a.rows(), b.columns());
  split::multiply(s, model::find_engine(row_of(s)).engine, Op::none, Op::none, a.rows(), b.columns(), a.columns(),
                  a.data(), a.ld(), b.data(), b.ld(), c.data(), c.ld());
  return c;
}

struct Made {
  Matrix<float> c;
  std::string scheme;
};
Made multiplied(const SplitGemmPlan& plan, const Matrix<float>& a, const Matrix<float>& b, Layout layout = {},
                Update update = {}, const Matrix<float>* old = nullptr) {
  const Matrix<float> at = stored(layout.opa, a, layout.pad), bt = stored(layout.opb, b, layout.pad);
  Matrix<float> c = old != nullptr ? padded(*old, layout.pad) : Matrix<float>(a.rows(), b.columns(), layout.pad);
  const MatrixOnDevice da(at, layout.shift), db(bt, layout.shift), dc(c, layout.shift);
  const cuda::Stream stream;
  const cuda::DeviceWorkspace workspace(plan.workspace, stream);
  check(cudaMemsetAsync(workspace.data(), 0xff, plan.workspace, stream), "poison");
  split_gemm(plan,
             split_operands_of(
                 {layout.opa, layout.opb, plan.m, plan.n, plan.k, nullptr, da.data(), at.ld(), db.data(), bt.ld()}),
             {{update.alpha, nullptr}, {update.beta, nullptr}}, dc.data(), c.ld(), workspace.data(), stream);
  const std::string made = split_gemm_made(plan, workspace.data(), stream);
  dc.fetch(c);
  EXPECT_EQ(c.broken_guard(), "");
  return {c, made};
}

class MmaSplit : public testing::Test {
 protected:
  void SetUp() override {
    if (row_of(find_scheme("halfhalf_sep")).empty()) GTEST_SKIP() << "NOT TESTED: the model has no row of this GPU";
  }
};

TEST_F(MmaSplit, HasTheBitsOfTheModel) {
  constexpr Layout layouts[] = {
      {}, {Op::none, Op::transpose, 3, 1}, {Op::transpose, Op::none, 4, 0}, {Op::transpose, Op::transpose, 1, 0}};
  int turn = 0;
  for (const char* name : cuda::split_kernel_schemes(any_gpu))
    for (const auto& [m, n, k] :
         {std::array<std::int64_t, 3>{1, 1, 1}, {130, 67, 33}, {128, 128, 128}, {300, 190, 1100}, {70, 260, 401}}) {
      const int kind = turn % kinds;
      const Layout layout = layouts[turn++ % 4];
      const Operands<float> x = sample(kind, m, n, k);
      const Made made = multiplied(plan_split_gemm(name, m, n, k, any_gpu), x.a, x.b, layout);
      EXPECT_EQ(difference(made.c, padded(replayed(find_scheme(name), x.a, x.b), layout.pad)), "")
          << name << ", kind " << kind << ", " << m << " x " << n << " x " << k;
    }
}

TEST_F(MmaSplit, UpdatesC) {
  const std::int64_t m = 131, n = 140, k = 70;
  const Operands<float> x = sample(0, m, n, k);
  const Matrix<float> old = scattered_matrix<float>(m, n, 0.5, 9);
  const SplitGemmPlan plan = plan_split_gemm("halfhalf_sep", m, n, k, any_gpu);
  const Matrix<float> t = replayed(find_scheme("halfhalf_sep"), x.a, x.b);
  for (const Update u : {Update{-1, 1}, {0, 3}, {2.5F, -0.75F}, {0, 0}}) {
    const auto expected = Matrix<float>::of(m, n, [&](auto i, auto j) {
      const float before = u.beta == 0 ? 0 : u.beta * old(i, j);
      return u.alpha == 0 ? before : std::fma(u.alpha, t(i, j), before);
    });
    EXPECT_EQ(difference(multiplied(plan, x.a, x.b, {}, u, &old).c, expected), "") << u.alpha << ", " << u.beta;
  }
}

TEST_F(MmaSplit, TheDataChooseTheScheme) {
  const std::int64_t m = 150, n = 190, k = 700;
  const SplitGemmPlan plan = plan_split_gemm(m, n, k, 1, any_gpu);
  for (const auto& [phi, scheme] : {std::pair{0.1, "halfhalf_sep"}, {5.0, "bf16x6_sep"}}) {
    const auto a = scattered_matrix<float>(m, k, phi, 1), b = scattered_matrix<float>(k, n, phi, 2);
    const Made made = multiplied(plan, a, b);
    EXPECT_EQ(made.scheme, scheme);
    EXPECT_EQ(difference(made.c, replayed(find_scheme(scheme), a, b)), "") << scheme;
    EXPECT_EQ(broken_bound(Contract::fp32(), a, b, made.c), "") << scheme;
  }
  auto a = scattered_matrix<float>(m, k, 20, 1), b = scattered_matrix<float>(k, n, 20, 2);
  const auto conventional = [&] {
    return Matrix<float>::of(m, n, [&](auto i, auto j) {
      float sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum = std::fma(a(i, l), b(l, j), sum);
      return sum;
    });
  };
  Made made = multiplied(plan, a, b);
  EXPECT_EQ(made.scheme, "conventional");
  EXPECT_EQ(difference(made.c, conventional()), "");
  a = scattered_matrix<float>(m, k, 0.5, 1), b = scattered_matrix<float>(k, n, 0.5, 2);
  a(5, 94) = std::numeric_limits<float>::infinity(), b(3, 100) = std::numeric_limits<float>::quiet_NaN();
  made = multiplied(plan, a, b);
  EXPECT_EQ(made.scheme, "conventional");
  EXPECT_EQ(difference_but_for_nans(made.c, conventional()), "");
}

}  // namespace
}  // namespace vernier::test::mma_split_gpu_test
