// Contract exact on a GPU: the bits of the CPU's, which are those of the real number rounded once.
#include "gpu/fixture.hpp"
#include "support/boundaries.hpp"

namespace vernier::test::exact_gpu_test {
namespace {

class ExactOnGpu : public testing::TestWithParam<std::string> {
 protected:
  template <class T>
  void expect_same(const Call<T>& call, const std::string& what, std::size_t limit = 0) {
    const cuda::Options options{
        .contract = Contract::exact(), .engine = GetParam(), .workspace_limit = limit, .count_open = true};
    const Outcome<T> got = multiply_on_gpu(call, options);
    EXPECT_EQ(difference_but_for_nans(got.c, on_cpu(call, Contract::exact())), "") << what;
    open_ += got.report.undecided;
  }
  std::int64_t open_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Engines, ExactOnGpu, testing::Values("sm90_int8", "mma_int8", "cublas_int8"), ReadableName());

TEST_P(ExactOnGpu, RoundsEveryFamilyCorrectly) {
  for (const Type type : {Type::float64, Type::float32})
    with_type(type, [this]<class T>(T) {
      for (const std::string& family : operand_families()) {
        const auto [a, b] = make_operands<T>(family, 70, 67, 130, 43);
        expect_same<T>({.a = a, .b = b}, family);
        expect_same<T>({.a = a, .b = b, .alpha = T{1} / 3, .beta = T{-0.7f}, .c = scattered_matrix<T>(70, 67, 2, 5)},
                       family + " with alpha and beta");
      }
    });
}

TEST_P(ExactOnGpu, RoundsBoundariesCorrectly) {
  for (const Type type : {Type::float64, Type::float32})
    with_type(type, [this]<class T>(T) {
      for (const std::string& family : boundary_families())
        for (const T alpha : {T{1}, T{-4}}) {
          const auto [a, b] = make_boundary_operands<T>(family, 40, 35, 40, 12);
          expect_same<T>({.a = a, .b = b, .alpha = family == "overflow_ties" ? T{-1} : alpha}, family);
        }
    });
  EXPECT_GT(open_, 0);
}

TEST_P(ExactOnGpu, RoundsWideExponentsCorrectly) {
  for (const Type type : {Type::float64, Type::float32})
    with_type(type, [this]<class T>(T) {
      const double widest = sizeof(T) == 4 ? 4 : 8;
      for (const double phi : {1.0, 4.0, widest}) {
        const auto a = scattered_matrix<T>(133, 270, phi, 16), b = scattered_matrix<T>(270, 135, phi, 17);
        expect_same<T>({.a = a, .b = b}, joined("phi ", phi));
      }
      const int reach = std::numeric_limits<T>::max_exponent;  // the whole range of the type
      const auto a = exp_rand_matrix<T>(20, 40, -reach + 3, reach - 2, 18);
      const auto b = exp_rand_matrix<T>(40, 20, -reach + 3, reach - 2, 19);
      expect_same<T>({.a = a, .b = b}, "all exponents");
      const auto tiny_a = exp_rand_matrix<T>(50, 40, -reach / 2 - 40, -reach / 2, 20);
      const auto tiny_b = exp_rand_matrix<T>(40, 50, -reach / 2 - 40, -reach / 2, 21);
      expect_same<T>({.a = tiny_a, .b = tiny_b}, "subnormal results");
      const T tiny = std::numeric_limits<T>::denorm_min() * 3, large = std::numeric_limits<T>::max() / 16;
      const auto [x, y] = make_operands<T>("random_phi_0_5", 34, 33, 50, 13);
      const auto c = scattered_matrix<T>(34, 33, 3, 14);
      for (const auto& [alpha, beta] : {std::pair<T, T>{tiny, large}, {large, tiny}, {tiny, 0}, {large, 0}})
        expect_same<T>({.a = x, .b = y, .alpha = alpha, .beta = beta, .c = c}, "alpha and beta from the ends");
    });
}

// C on entry is minus the rounded product: what is left is the rounding error of a rounded product, all of it.
TEST_P(ExactOnGpu, KeepsWhatARoundedProductHasLost) {
  const auto [a, b] = make_operands<double>("random_phi_0_5", 133, 134, 160, 15);
  const Matrix<double> c = on_cpu<double>({.a = a, .b = b}, Contract::exact());
  expect_same<double>({.a = a, .b = b, .alpha = -1, .beta = 1, .c = c}, "cancelled");
}

TEST_P(ExactOnGpu, PassesNanAndInfinityAsIeee754HasThem) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  auto [a, b] = make_operands<double>("random_phi_0_5", 40, 37, 50, 25);
  a(3, 4) = nan, a(5, 6) = infinity, b(6, 7) = 0, b(9, 8) = -infinity, a(7, 9) = 0, b(6, 9) = -infinity;
  auto c = scattered_matrix<double>(40, 37, 0.5, 26);
  c(1, 1) = nan, c(2, 2) = infinity, c(5, 3) = -infinity, c(3, 3) = infinity;
  for (const auto& [alpha, beta] : {std::pair<double, double>{1, 0},
                                    {-2, 0},
                                    {1, 1},
                                    {1.0 / 3, -1},
                                    {infinity, 0},
                                    {nan, 1},
                                    {2, infinity},
                                    {1, nan}})
    expect_same<double>({.a = a, .b = b, .alpha = alpha, .beta = beta, .c = c}, joined(alpha, ' ', beta));
}

TEST_P(ExactOnGpu, DoesNotDependOnShapeTransposesAndBlocks) {
  Random random(7);
  const auto size = [&](std::int64_t most) {
    const std::int64_t near[] = {1, 16, 31, 33, 63, 65, 127, 129, 193, 255, 257};
    const std::int64_t pick = random.integer(0, 21);
    return std::min(most, pick < 11 ? near[pick] : random.integer(1, most));
  };
  const int cases = GetParam() == "sm90_int8" ? 300 : 40;
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const std::int64_t m = size(300), n = size(300), k = size(500);
    const auto pad = random.integer(0, 5);
    with_type(i % 4 == 0 ? Type::float32 : Type::float64, [&]<class T>(T) {
      const auto [a, b] =
          make_operands<T>(i % 3 == 0 ? "random_phi_4" : "random_phi_0_5", m, n, k, static_cast<std::uint64_t>(i));
      const Call<T> call{.a = a,
                         .b = b,
                         .opa = all_ops[random.integer(0, 1)],
                         .opb = all_ops[random.integer(0, 1)],
                         .alpha = static_cast<T>(i % 2 == 0 ? 1 : random.normal()),
                         .beta = static_cast<T>(i % 5 == 0 ? random.normal() : 0),
                         .c = scattered_matrix<T>(m, n, 0.5, static_cast<std::uint64_t>(i)),
                         .pad_a = pad,
                         .pad_b = 5 - pad,
                         .pad_c = pad};
      expect_same(call, joined("case ", i, ", m = ", m, ", n = ", n, ", k = ", k));
    });
  }
  const auto [a, b] = make_operands<double>("random_phi_0_5", 900, 1000, 300, 11);
  const std::size_t least =
      cuda::gemm_workspace<double>(900, 1000, 300, {.contract = Contract::exact(), .engine = GetParam()}, true);
  expect_same<double>({.a = a, .b = b, .opa = Op::transpose}, "least workspace", least);
}

TEST_P(ExactOnGpu, TakesLongKAndManyTiles) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{33, 40, 70001}, {1023, 777, 2049}}) {
    const auto [a, b] = make_operands<double>("random_phi_0_5", m, n, k, 5);
    expect_same<double>({.a = a, .b = b}, joined(m, " x ", n, " x ", k));
  }
}

// So few elements are no integers that the sum of all products is not asked for.
TEST_P(ExactOnGpu, DecidesOpenEntriesByWhatRoundingLost) {
  const auto [a, b] = make_operands<float>("random_phi_0_5", 700, 650, 1500, 27);
  const cuda::Options options{.contract = Contract::exact(), .engine = GetParam(), .count_open = true};
  const Outcome<float> got = multiply_on_gpu<float>({.a = a, .b = b}, options);
  EXPECT_EQ(difference(got.c, on_cpu<float>({.a = a, .b = b}, Contract::exact())), "");
  EXPECT_GT(got.report.undecided, 20);
  EXPECT_LE(got.report.accumulated, got.report.undecided / 4);
}

TEST_P(ExactOnGpu, TakesFewModuliWhereTheyHoldTheProduct) {
  const auto [a, b] = make_operands<double>("integers", 500, 500, 400, 23);
  const cuda::Options options{.contract = Contract::exact(), .engine = GetParam(), .count_open = true};
  const Outcome<double> got = multiply_on_gpu<double>({.a = a, .b = b}, options);
  EXPECT_EQ(difference(got.c, on_cpu<double>({.a = a, .b = b}, Contract::exact())), "");
  EXPECT_EQ(got.report.undecided, 0);
  EXPECT_LE(got.report.plan.moduli, 8);
}

}  // namespace
}  // namespace vernier::test::exact_gpu_test
