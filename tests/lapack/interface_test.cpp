// All public headers in one source: none may clash with another.
#include <gtest/gtest.h>

#if VERNIER_X86
#include <immintrin.h>
#endif

#include "vernier/cuda.hpp"
#include "vernier/lapack.hpp"
#include "vernier/level3.hpp"
#include "vernier/model.hpp"
#include "vernier/slices.hpp"
#include "vernier/split.hpp"
#include "vernier/vernier.h"
#include "vernier/vernier.hpp"

namespace vernier::test {
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

}  // namespace
}  // namespace vernier::test
