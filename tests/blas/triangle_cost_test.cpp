// A triangle goes to residues in pieces only where its square would pay as well, and always where that was asked for.
#include "blas/level3/triangle_cost.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace vernier::test::triangle_cost_test {
namespace {

template <class T>
class TriangleCost : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(TriangleCost, Types);

TYPED_TEST(TriangleCost, IsAboveHalfOfTheSquares) {
  using T = TypeParam;
  for (const int threads : {1, 2, 16})
    for (const std::int64_t n : {300, 1500, 4000, 20000})
      for (const std::int64_t k : {100, 4000}) {
        const Options options{.contract = default_contract<T>(), .threads = threads};
        const double residues = cpu_residue_seconds<T>({n, n, k}, options.contract, usable_threads(threads)),
                     native = cpu_native_seconds<T>({n, n, k}, usable_threads(threads));
        const bool update = update_method<T>(n, k, options).residues();
        EXPECT_FALSE(update && residues > native) << threads << ' ' << n << ' ' << k;
        const bool large = n >= 4000 && k >= 4000;  // smaller pieces cost more than their share
        EXPECT_TRUE(update || !large || 2 * residues >= native) << threads << ' ' << n << ' ' << k;
        const bool diagonal_only = n <= cpu_cut(usable_threads(threads)).whole;
        EXPECT_FALSE(diagonal_only && factor_method<T>(n, k, options).residues()) << threads << ' ' << n << ' ' << k;
      }
}

TYPED_TEST(TriangleCost, IsNotAskedForWhereNothingElseMayBeTaken) {
  using T = TypeParam;
  Options options{.contract = default_contract<T>()};
  EXPECT_TRUE((chooses_by_estimate<T>({300, 300, 300}, options)));
  options.device = Device::automatic;
  EXPECT_TRUE((chooses_by_estimate<T>({50, 50, 50}, options)));
  EXPECT_FALSE((chooses_by_estimate<T>({300, 300, 300}, options)));
  options.device.reset();
  options.engine = "portable";
  EXPECT_TRUE(update_method<T>(10, 10, options).residues());
  EXPECT_TRUE(factor_method<T>(10, 10, options).residues());
  options.engine = "";
  options.contract.reproducible = true;
  EXPECT_TRUE(update_method<T>(10, 10, options).residues());
  options.contract.reproducible = false;
  options.contract.fallback = Fallback::none;
  EXPECT_TRUE(factor_method<T>(10, 10, options).residues());
}

// Whatever the estimates say, the way that took less is taken in the end; a contract that leaves no choice tells
// nothing.
TEST(TriangleMethods, FollowWhatTrianglesTook) {
  const char* before = std::getenv("VERNIER_RATES");
  const std::string rates = before != nullptr ? before : "";
  setenv("VERNIER_RATES", "/no/file", 1);
  forget_observations();
  const ProductClass triangle{element_type<double>, {3000, 3000, 3000}, 2, ProductForm::triangle};
  Rivals rivals;
  rivals.add(Method::native, 1), rivals.add(Method::residues, 1);
  const auto took = [&](Method method, double seconds) {
    for (int call = 0; call < 2; ++call) observe(triangle, rivals.span(), method, seconds);
  };
  took(Method::residues, 1);
  took(Method::native, 2);
  EXPECT_TRUE(ObservedChoice(triangle, {Method::native, 1}, {Method::residues, 1}).residues());
  EXPECT_FALSE(ObservedChoice(triangle, {Method::native, 1}, {Method::residues, 3}).residues())
      << "shares of estimates";
  const ProductClass whole{element_type<double>, {3000, 3000, 3000}, 2};
  choose_method(whole, rivals.span());
  EXPECT_EQ(rivals.all[1].seen, 0) << "a whole product is another class";
  ObservedChoice().done();
  forget_observations();
  before != nullptr ? setenv("VERNIER_RATES", rates.c_str(), 1) : unsetenv("VERNIER_RATES");
}

TEST(NativeTriangle, IsToldInThePlan) {
  const Plan square = explain<double>(Op::none, Op::none, 50, 50, 50, {.engine = "portable"});
  const Plan triangle = native_triangle(square);
  EXPECT_EQ(triangle.scheme, "native");
  EXPECT_EQ(triangle.moduli, 0);
  EXPECT_NE(triangle.reason.find("of a triangle the BLAS underneath does half"), std::string::npos);
}

}  // namespace
}  // namespace vernier::test::triangle_cost_test
