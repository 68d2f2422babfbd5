// Products of a matrix and its transpose: half of them is computed, and all of C keeps its bound.
#include <cmath>
#include <limits>

#include "fixture.hpp"
#include "support/bound.hpp"

namespace vernier::test::symmetric_product_test {
namespace {

class SymmetricProduct : public testing::TestWithParam<std::string> {
 protected:
  static Options options(std::size_t limit = 0) {
    return {.contract = Contract::fp64(), .engine = GetParam(), .workspace_limit = limit};
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, SymmetricProduct, testing::ValuesIn(supported_engines()), ReadableName());

bool is_halved(const Report& report) { return report.plan.reason.find("half of the products") != std::string::npos; }

// A A^T in the bound, symmetric, for operands in whatever order; and beside a C that is not symmetric.
template <class T>
void check(const Matrix<T>& a, const Options& options) {
  const Matrix<T> b = transposed(a);
  const Matrix<T> c = scattered_matrix<T>(a.rows(), a.rows(), 1, 77);
  const ExactProduct<T> exact(a, b);
  for (const auto& [opa, opb] : {std::pair{Op::none, Op::none}, {Op::none, Op::transpose}, {Op::transpose, Op::none}}) {
    const auto out = multiply<T>({.a = a, .b = b, .opa = opa, .opb = opb}, options);
    ASSERT_EQ(out.report.plan.scheme, "residues");
    EXPECT_TRUE(is_halved(out.report)) << out.report.plan.reason;
    EXPECT_EQ(broken_bound(options.contract, a, b, exact, out.c), "");
    EXPECT_EQ(asymmetry(out.c), "");
    const auto beside =
        multiply<T>({.a = a, .b = b, .opa = opa, .opb = opb, .alpha = -2, .beta = 0.75, .c = c}, options);
    EXPECT_EQ(difference(beside.c, combined<T>(-2, out.c, 0.75, c)), "");
  }
}

TEST_P(SymmetricProduct, KeepsItsBound) {
  for (const std::int64_t m : {1, 31, 33, 200})
    for (const double phi : {0.5, 4.0, 9.0}) check(scattered_matrix<double>(m, 70, phi, 3), options());
  Options single = options();
  single.contract = Contract::fp32();
  check(scattered_matrix<float>(100, 70, 0.5, 4), single);
}

TEST_P(SymmetricProduct, KeepsItsBoundBlockByBlock) {
  const auto whole = multiply<double>({.a = Matrix<double>(300, 90), .b = Matrix<double>(90, 300)}, options());
  const std::size_t least = gemm_workspace<double>(300, 300, 90, options(), true);
  EXPECT_LT(least, whole.report.plan.workspace);
  check(scattered_matrix<double>(300, 90, 0.5, 5), options(least));
}

TEST_P(SymmetricProduct, KeepsItsBoundWith14Moduli) { check(scattered_matrix<double>(120, 600, 0.5, 6), options()); }

TEST_P(SymmetricProduct, OfOneMatrixThatIsSymmetric) {
  const std::int64_t n = 130;
  const auto x = scattered_matrix<double>(n, n, 1, 7);
  const auto a = Matrix<double>::of(n, n, [&](auto i, auto j) { return x(std::min(i, j), std::max(i, j)); });
  Matrix<double> c(n, n);
  const Report report =
      gemm(Op::none, Op::none, n, n, n, 1.0, a.data(), a.ld(), a.data(), a.ld(), 0.0, c.data(), c.ld(), options());
  EXPECT_TRUE(is_halved(report));
  EXPECT_EQ(broken_bound(Contract::fp64(), a, a, c), "");
}

TEST_P(SymmetricProduct, NoneIfOneElementDiffers) {
  const auto a = scattered_matrix<double>(96, 80, 0.5, 8);
  for (const auto& [i, l] : {std::pair{0, 0}, {50, 41}, {95, 79}, {31, 64}}) {
    Matrix<double> b = transposed(a);
    b(l, i) = std::nextafter(b(l, i), 10.0);
    const auto out = multiply<double>({.a = a, .b = b}, options());
    EXPECT_FALSE(is_halved(out.report));
    EXPECT_EQ(broken_bound(Contract::fp64(), a, b, out.c), "");
  }
  EXPECT_FALSE(is_halved(multiply<double>({.a = a, .b = scattered_matrix<double>(80, 97, 0.5, 8)}, options()).report));
}

TEST_P(SymmetricProduct, NoneWhereBitsArePromised) {
  const auto a = scattered_matrix<double>(96, 80, 0.5, 9);
  Options asked = options();
  asked.contract.reproducible = true;
  EXPECT_FALSE(is_halved(multiply<double>({.a = a, .b = transposed(a)}, asked).report));
  EXPECT_FALSE(is_halved(multiply<double>({.a = a, .b = transposed(a)}, {.contract = Contract::exact()}).report));
}

TEST_P(SymmetricProduct, NanAndInfinitiesAreWhereTheyBelong) {
  auto a = scattered_matrix<double>(96, 80, 0.5, 10);
  a(3, 7) = std::numeric_limits<double>::quiet_NaN();
  a(70, 9) = std::numeric_limits<double>::infinity();
  const auto out = multiply<double>({.a = a, .b = transposed(a)}, options());
  EXPECT_TRUE(is_halved(out.report));
  for (std::int64_t j = 0; j < 96; ++j)
    for (std::int64_t i = 0; i < 96; ++i) {
      if (i == 3 || j == 3)
        EXPECT_TRUE(std::isnan(out.c(i, j))) << i << ", " << j;
      else if (i == 70 || j == 70)
        EXPECT_EQ(out.c(i, j), a(i + j - 70, 9) > 0 ? INFINITY : -INFINITY) << i << ", " << j;
      else
        EXPECT_TRUE(std::isfinite(out.c(i, j))) << i << ", " << j;
    }
}

// Data that residues do not hold: the native product makes the lower triangle, and has no other bits there.
TEST_P(SymmetricProduct, IsHalvedNativelyToo) {
  const auto a = exp_rand_matrix<double>(540, 9, -400, 400, 11), b = transposed(a);  // two panels
  const ExactProduct<double> exact(a, b);
  const Matrix<double> c = scattered_matrix<double>(a.rows(), a.rows(), 1, 78);
  for (const auto& [opa, opb] : {std::pair{Op::none, Op::none}, {Op::none, Op::transpose}, {Op::transpose, Op::none}}) {
    const auto out = multiply<double>({.a = a, .b = b, .opa = opa, .opb = opb, .alpha = -2}, options());
    EXPECT_EQ(out.report.plan.scheme, "native");
    EXPECT_EQ(broken_bound(Contract::fp64(), a, b, exact, combined<double>(-0.5, out.c, 0, out.c)), "");
    EXPECT_EQ(asymmetry(out.c), "");
    const Call<double> beside{.a = a, .b = b, .opa = opa, .opb = opb, .beta = 0.75, .c = c};
    EXPECT_EQ(difference(multiply<double>(beside, options()).c, multiply<double>(beside, {.engine = "native"}).c), "");
  }
}

}  // namespace
}  // namespace vernier::test::symmetric_product_test
