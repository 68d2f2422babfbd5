// A triangle goes to residues in pieces only where its square would pay as well, and always where that was asked for.
#include "blas/level3/triangle_cost.hpp"

#include <gtest/gtest.h>

namespace vernier::test {
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
        const bool update = residues_serve_update<T>(n, k, options);
        EXPECT_FALSE(update && residues > native) << threads << ' ' << n << ' ' << k;
        EXPECT_TRUE(update || 2 * residues >= native) << threads << ' ' << n << ' ' << k;
        const bool diagonal_only = n <= cpu_cut(usable_threads(threads)).whole;
        EXPECT_FALSE(diagonal_only && residues_serve_factor<T>(n, k, options)) << threads << ' ' << n << ' ' << k;
      }
}

TYPED_TEST(TriangleCost, IsNotAskedForWhereNothingElseMayBeTaken) {
  using T = TypeParam;
  Options options{.contract = default_contract<T>()};
  EXPECT_TRUE(chooses_by_estimate<T>(options));
  options.engine = "portable";
  EXPECT_TRUE(residues_serve_update<T>(10, 10, options));
  EXPECT_TRUE(residues_serve_factor<T>(10, 10, options));
  options.engine = "";
  options.contract.reproducible = true;
  EXPECT_TRUE(residues_serve_update<T>(10, 10, options));
  options.contract.reproducible = false;
  options.contract.fallback = Fallback::none;
  EXPECT_TRUE(residues_serve_factor<T>(10, 10, options));
}

TEST(NativeTriangle, IsToldInThePlan) {
  const Plan square = explain<double>(Op::none, Op::none, 50, 50, 50, {.engine = "portable"});
  const Plan triangle = native_triangle(square);
  EXPECT_EQ(triangle.scheme, "native");
  EXPECT_EQ(triangle.moduli, 0);
  EXPECT_NE(triangle.reason.find("of a triangle the BLAS underneath does half"), std::string::npos);
}

}  // namespace
}  // namespace vernier::test
