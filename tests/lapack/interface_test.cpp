// All public headers in one source: none may clash with another.
#include <gtest/gtest.h>

#if VERNIER_X86
#include <immintrin.h>
#endif

#include "vernier/cuda.hpp"
#include "vernier/lapack.hpp"
#include "vernier/level3.hpp"
#include "vernier/model.hpp"
#include "vernier/quad.hpp"
#include "vernier/slices.hpp"
#include "vernier/split.hpp"
#include "vernier/verified.hpp"
#include "vernier/vernier.h"
#include "vernier/vernier.hpp"

#include <chrono>
#include <functional>
#include <utility>

namespace vernier::test::interface_test {
namespace {

TEST(PublicHeaders, NameATriangleAlike) {
  const double l[] = {2, 1, 0, 1};  // [2 0; 1 1]
  double c[] = {0, 0, 7, 0};
  syrk<double>(Uplo::lower, Op::none, 2, 2, 1.0, l, 2, 0.0, c, 2);
  EXPECT_EQ(potrf<double>(Uplo::lower, 2, c, 2), 0);
  EXPECT_EQ(c[0], 2);
  EXPECT_EQ(c[1], 1);
  EXPECT_EQ(c[2], 7);
  EXPECT_EQ(c[3], 1);
}

TEST(Lapack, RefusesOptionsThatItCannotKeep) {
  double a[] = {2, 1, 1, 3}, workspace[64];
  std::int64_t pivots[2];
  Options own = {.workspace = workspace, .workspace_bytes = sizeof workspace};
  EXPECT_THROW((void)getrf<double>(2, 2, a, 2, pivots, own), Error);
  EXPECT_THROW((void)getrf<double>(2, 2, a, 2, pivots, {.contract = Contract::exact()}), Error);
  EXPECT_EQ(a[0], 2);
  EXPECT_EQ(a[1], 1);
}

// One matrix of order 2^24 has more elements than any memory; the others are small.
TEST(Lapack, RefusesAreasBeyondAnyMemoryBeforeItReads) {
  constexpr std::int64_t n = std::int64_t{1} << 24;
  double a = 1, b = 7, c = 7;
  dd x{1, 0}, y{7, 0};
  std::int64_t pivots = 5;
  DeterminantInterval determinant{};
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"getrf", [&] { (void)getrf<double>(n, n, &a, n, &pivots); }},
      {"gesv", [&] { (void)gesv<double>(n, 1, &a, n, &pivots, &b, n); }},
      {"potrf", [&] { (void)potrf<double>(Uplo::upper, n, &a, n); }},
      {"solve", [&] { (void)solve<double>(Op::none, n, 1, &a, n, &b, n, &c, n); }},
      {"quad_getrf", [&] { (void)quad_getrf(n, n, &x, n, &pivots); }},
      {"quad_potrf", [&] { (void)quad_potrf(Uplo::lower, n, &x, n); }},
      {"quad_gesv", [&] { (void)quad_gesv(n, 1, &x, n, &pivots, &y, n); }},
      {"quad_trsm", [&] { quad_trsm(Side::left, Uplo::lower, Op::none, Diag::unit, n, 1, 1, &x, n, &y, n); }},
      {"quad_solve", [&] { (void)quad_solve(n, 1, &a, n, &b, n, &y, n); }},
      {"verified_solve", [&] { (void)verified_solve(n, 1, &a, n, &b, n, &b, &c, n); }},
      {"verified_inverse", [&] { (void)verified_inverse(n, &a, n, &b, &c, n); }},
      {"verified_determinant", [&] { (void)verified_determinant(n, &a, n, determinant); }},
      {"verified_definite", [&] { (void)verified_definite(n, &a, n, b); }},
  };
  for (const auto& [routine, call] : calls) EXPECT_THROW(call(), Error) << routine;
  EXPECT_TRUE(a == 1 && b == 7 && c == 7 && x.hi == 1 && y.hi == 7 && pivots == 5);
}

#if VERNIER_X86
TEST(Lapack, KeepsSubnormalsWhereTheCallerFlushesThem) {
  double a[] = {4, 0x1p-1070, 0, 1};
  std::int64_t pivots[2];
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  (void)getrf<double>(2, 2, a, 2, pivots, {.contract = Contract::parse("fp64+reproducible")});
  _mm_setcsr(before);
  EXPECT_EQ(a[1], 0x1p-1072);
}
#endif

// Loops over columns, products or right-hand sides that have no elements would take hours.
TEST(OutputsWithoutElements, TakeNoTimeHoweverManyThereAre) {
  constexpr std::int64_t many = std::int64_t{1} << 40;
  constexpr Op none = Op::none;
  const double x[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  const double* const list[] = {x};
  double y[8] = {}, z[8] = {};
  double* const outputs[] = {y};
  std::int64_t pivots[1];
  const dd q[4] = {};
  dd r[4] = {};
  const auto exact = Options{.contract = Contract::exact()};
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"gemm", [&] { gemm<double>(none, none, 0, many, 1, 2, x, 1, x, 1, 0.5, y, 1); }},
      {"gemm, exact", [&] { gemm<double>(none, none, 0, many, 0, 2, x, 1, x, 1, 0.5, y, 1, exact); }},
      {"gemm, rows", [&] { gemm<double>(none, none, many, 0, 0, 2, x, many, x, 1, 0.5, y, many); }},
      {"slices", [&] { gemm_by_slices<double>(none, none, 0, many, 1, 2, x, 1, x, 1, 0.5, y, 1); }},
      {"batch", [&] { gemm_batched<double>(none, none, 0, 3, 1, 2, list, 1, list, 1, 0.5, outputs, 1, many); }},
      {"strides", [&] { gemm_strided_batched<double>(none, none, 3, 0, 1, 2, x, 3, 1, x, 1, 1, 0.5, y, 3, 3, many); }},
      {"columns in strides",
       [&] { gemm_strided_batched<double>(none, none, 0, many, 1, 2, x, 1, 1, x, 1, 1, 0.5, y, 1, 1, 3); }},
      {"symm", [&] { symm<double>(Side::left, Uplo::lower, 0, many, 2, x, 1, x, 1, 0.5, y, 1); }},
      {"trmm", [&] { trmm<double>(Side::left, Uplo::lower, none, Diag::unit, 0, many, 2, x, 1, y, 1); }},
      {"trsm", [&] { trsm<double>(Side::left, Uplo::lower, none, Diag::unit, 0, many, 2, x, 1, y, 1); }},
      {"getrf", [&] { (void)getrf<double>(0, many, y, 1, pivots); }},
      {"gesv", [&] { (void)gesv<double>(0, many, y, 1, pivots, z, 1); }},
      {"posv", [&] { (void)posv<double>(Uplo::lower, 0, many, y, 1, z, 1); }},
      {"quad_gemm", [&] { quad_gemm<dd, dd, dd>(none, none, 0, many, 1, 2, q, 1, q, 1, 0.5, r, 1); }},
      {"quad_solve", [&] { (void)quad_solve<double, double>(0, many, x, 1, x, 1, r, 1); }},
      {"interval_gemm", [&] { interval_gemm(none, none, 0, many, 0, x, nullptr, 1, x, nullptr, 1, y, z, 1); }},
      {"interval_gemm, rows",
       [&] { interval_gemm(none, none, many, 0, 1, x, nullptr, many, x, nullptr, 1, y, z, many); }},
      {"interval_gemm_ends", [&] { interval_gemm_ends(none, none, 0, many, 0, x, x, 1, x, x, 1, y, z, 1); }},
      {"verified_solve", [&] { EXPECT_TRUE(verified_solve(0, many, x, 1, x, 1, y, z, 1).verified); }}};
  for (const auto& [name, call] : calls) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_NO_THROW(call()) << name;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << name;
  }
  for (const double e : y) EXPECT_EQ(e, 0);
}

}  // namespace
}  // namespace vernier::test::interface_test
