// Level-3 routines, orders that no memory holds, and factors that no element holds beside them.
#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <vector>

#include "vernier/level3.hpp"

namespace vernier::test::level3_sizes_test {
namespace {

// n n sizeof(T) is 0 in 64 bits for n = 2^32: such an order is refused, no scratch of that size is taken for memory.
TEST(Level3Sizes, WhoseProductDoesNotFit64BitsAreRefusedBeforeAnythingIsRead) {
  constexpr std::int64_t n = std::int64_t{1} << 32;
  Options options{.contract = Contract::fp64()};
  options.contract.reproducible = true;
  double x = 1;
  const auto status = [](auto call) {
    try {
      call();
    } catch (const Error& error) {
      return error.status();
    }
    return Status::ok;
  };
  EXPECT_EQ(status([&] { symm(Side::left, Uplo::lower, n, 1, 1.0, &x, n, &x, n, 0.0, &x, n, options); }),
            Status::invalid_argument);
  EXPECT_EQ(status([&] { syrk(Uplo::lower, Op::none, n, 1, 1.0, &x, n, 0.0, &x, n, options); }),
            Status::invalid_argument);
  EXPECT_EQ(status([&] { syr2k(Uplo::lower, Op::none, n, 1, 1.0, &x, n, &x, n, 0.0, &x, n, options); }),
            Status::invalid_argument);
  EXPECT_EQ(status([&] { gemmt(Uplo::lower, Op::none, Op::none, n, 1, 1.0, &x, n, &x, 1, 0.0, &x, n, options); }),
            Status::invalid_argument);
  EXPECT_EQ(status([&] { trmm(Side::left, Uplo::lower, Op::none, Diag::unit, n, n, 1.0, &x, n, &x, n, options); }),
            Status::invalid_argument);
  EXPECT_EQ(status([&] { trsm(Side::right, Uplo::lower, Op::none, Diag::unit, n, n, 1.0, &x, n, &x, n, options); }),
            Status::invalid_argument);
}

// Matrices of no elements may have no address; a step from that one is what the sanitizers see.
TEST(Level3Sizes, OfNoRowsStepFromNoNullPointer) {
  const double* none = nullptr;
  double* out = nullptr;
  for (const double alpha : {0.0, 2.0})
    for (const Diag diag : {Diag::unit, Diag::non_unit}) {
      EXPECT_NO_THROW(trmm(Side::left, Uplo::lower, Op::none, diag, 0, 3, alpha, none, 1, out, 1));
      EXPECT_NO_THROW(trsm(Side::left, Uplo::lower, Op::none, diag, 0, 3, alpha, none, 1, out, 1));
      EXPECT_NO_THROW(trmm(Side::right, Uplo::upper, Op::transpose, diag, 3, 0, alpha, none, 1, out, 3));
      EXPECT_NO_THROW(symm(Side::left, Uplo::lower, 0, 3, alpha, none, 1, none, 1, 2.0, out, 1));
      EXPECT_NO_THROW(gemm(Op::none, Op::none, 0, 3, 2, alpha, none, 1, none, 2, 2.0, out, 1));
    }
}

TEST(Level3Sizes, AnOpThatIsNoneAndAWorkspaceAreRefused) {
  double x[4] = {1, 1, 1, 1}, c[4] = {5, 5, 5, 5};
  const auto op = static_cast<Op>(7);
  EXPECT_THROW(syrk(Uplo::lower, op, 2, 2, 1.0, x, 2, 0.0, c, 2), Error);
  EXPECT_THROW(syr2k(Uplo::lower, op, 2, 2, 1.0, x, 2, x, 2, 0.0, c, 2), Error);
  EXPECT_THROW(gemmt(Uplo::lower, op, Op::none, 2, 2, 1.0, x, 2, x, 2, 0.0, c, 2), Error);
  EXPECT_THROW(gemmt(Uplo::lower, Op::none, op, 2, 2, 1.0, x, 2, x, 2, 0.0, c, 2), Error);
  EXPECT_THROW(trmm(Side::left, Uplo::lower, op, Diag::unit, 2, 2, 1.0, x, 2, c, 2), Error);
  EXPECT_THROW(trsm(Side::left, Uplo::lower, op, Diag::unit, 2, 2, 1.0, x, 2, c, 2), Error);
  std::vector<std::byte> memory(std::size_t{1} << 22);
  const Options own{.contract = Contract::fp64(), .workspace = memory.data(), .workspace_bytes = memory.size()};
  EXPECT_THROW(symm(Side::left, Uplo::lower, 2, 2, 1.0, x, 2, x, 2, 0.0, c, 2, own), Error);
  EXPECT_THROW(trmm(Side::left, Uplo::lower, Op::none, Diag::unit, 2, 2, 1.0, x, 2, c, 2, own), Error);
  for (const double e : c) EXPECT_EQ(e, 5);
}

// alpha comes last: alpha B underflows where alpha A B does not, and alpha B overflows where A B is 0.
TEST(Level3Sizes, TrmmMultipliesByAlphaLast) {
  constexpr std::int64_t n = 3;
  const std::vector<double> a = {0x1p200, 0, 0, 0, 0x1p200, 0, 0, 0, 0};
  for (const char* engine : {"", "portable", "native"})
    for (const double alpha : {0x1p-60, 0x1p300}) {
      const Options options{.contract = Contract::fp64(), .engine = engine};
      std::vector<double> b = {0x1.fffffp-1020, 0x1.23457p-1020, 0x1p800};
      trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, n, 1, alpha, a.data(), n, b.data(), n, options);
      EXPECT_EQ(b, (std::vector<double>{0x1.fffffp-820 * alpha, 0x1.23457p-820 * alpha, 0})) << engine << alpha;
    }
}

// ... but where A B overflows and alpha A B does not, on either side, at any order; what is not read is not asked.
TEST(Level3Sizes, TrmmMultipliesByAlphaFirstWhereTheProductMayOverflow) {
  for (const std::int64_t n : {2, 300})
    for (const Side side : {Side::left, Side::right})
      for (const double alpha : {0x1p-900, -0x1p-900}) {
        std::vector<double> a(static_cast<std::size_t>(n * n), std::numeric_limits<double>::infinity());
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < j; ++i) a[static_cast<std::size_t>(i + j * n)] = i == j - 1 ? 0x1p600 : 0;
        std::vector<double> b(static_cast<std::size_t>(n * n), 0x1p700), expected = b;
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i) {
            const bool alone = side == Side::left ? i == n - 1 : j == 0;
            expected[static_cast<std::size_t>(i + j * n)] = alpha * 0x1p700 + (alone ? 0 : alpha * 0x1p700 * 0x1p600);
          }
        trmm(side, Uplo::upper, Op::none, Diag::unit, n, n, alpha, a.data(), n, b.data(), n);
        EXPECT_EQ(b, expected) << n << ", " << alpha;
      }
}

// ... and last again where an element of alpha B would underflow, whose product does not.
TEST(Level3Sizes, TrmmLosesNoProductWhereOthersOverflow) {
  const std::vector<double> a = {0x1p300, 0, 0, 0x1p300};
  std::vector<double> b = {0x1p1000, 0x1p-1000};
  trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, 2, 1, 0x1p-300, a.data(), 2, b.data(), 2);
  EXPECT_EQ(b[1], 0x1p-1000);
}

}  // namespace
}  // namespace vernier::test::level3_sizes_test
