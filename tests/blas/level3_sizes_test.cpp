// Level-3 routines and orders that no memory holds.
#include <gtest/gtest.h>

#include "vernier/level3.hpp"

namespace vernier::test {
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

}  // namespace
}  // namespace vernier::test
