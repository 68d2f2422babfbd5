// Products of proofs beside norms against exact sums: theorem 5 holds for any number of bits.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lapack/verified/regularity_proof.hpp"
#include "number/long_accumulator.hpp"
#include "support/random.hpp"

namespace vernier::test::remainder_test {
namespace {

using Square = std::vector<double>;

std::size_t at(std::int64_t i, std::int64_t j, std::int64_t n) { return static_cast<std::size_t>(i + j * n); }

// phi 8: rows and columns of few large elements.
Square scattered(std::int64_t n, double phi, std::uint64_t seed) {
  Random r(seed);
  Square x(static_cast<std::size_t>(n * n));
  for (double& e : x) e = r.scattered(phi);
  return x;
}

TEST(Remainder, ProductsBesideNormsKeepTheirShare) {
  for (const std::int64_t n : {1, 60, 150})
    for (const double phi : {0.5, 8.0})
      for (const int bits : {24, 31, 45, 53, 58, 59, 60, 61, 62, 75, 110}) {
        const double root = std::sqrt(static_cast<double>(n));
        const RemainderBits asked = remainder_by_norms(n, std::ldexp(0.9, bits - 3) / root);
        ASSERT_TRUE(asked.enough);
        ASSERT_EQ(asked.contract.bits_asked, bits);
        const Square r = scattered(n, phi, 1), a = scattered(n, phi, 2);
        Square c(r.size());
        gemm<double>(Op::none, Op::none, n, n, n, 1, r.data(), n, a.data(), n, 0, c.data(), n,
                     {.contract = asked.contract, .threads = 2});
        const FactorNorms norms{row_norms(n, r.data(), {.threads = 2}), column_norms(n, a.data(), n, {.threads = 2})};
        int beyond = 0;
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; i += 7) {
            LongAccumulator error;
            for (std::int64_t l = 0; l < n; ++l) error.add_product(r[at(i, l, n)], a[at(l, j, n)]);
            error.add_product(-c[at(i, j, n)], 1);
            const double size = norms.rows[at(i, 0, n)] * norms.columns[at(j, 0, n)],
                         own = std::fabs(c[at(i, j, n)]) * 0x1p-53;
            const double off = std::fabs(error.rounded<double>());
            ASSERT_LE(off, asked.share * size * (1 + 0x1p-40) + own) << n << ' ' << bits << ' ' << i << ' ' << j;
            beyond += off > asked.share * size * 0x1p-12 + own ? 1 : 0;
          }
        EXPECT_TRUE(beyond > 0 || n == 1 || bits > 53) << n << ' ' << bits << ": more bits than were asked for";
      }
}

TEST(Remainder, MoreBitsThanResiduesHoldAreRefused) {
  EXPECT_FALSE(remainder_by_norms(100, 0x1p105).enough);
  EXPECT_FALSE(remainder_by_norms(1000000, 1).enough);
  EXPECT_FALSE(remainder_by_norms(100, INFINITY).enough);
}

TEST(Remainder, NormsAreBoundedFromAbove) {
  constexpr std::int64_t n = 67;
  for (const int exponent : {0, 500, -530, -1060}) {
    Square x = scattered(n, 1, 3);
    for (double& e : x) e = std::ldexp(e, exponent);
    const FactorNorms norms{row_norms(n, x.data(), {.threads = 3}), column_norms(n, x.data(), n, {.threads = 3})};
    for (std::int64_t i = 0; i < n; ++i) {
      double row = 0, column = 0;  // scaled, rounded to nearest: the bounds are above by more than that
      for (std::int64_t l = 0; l < n; ++l) {
        row = std::hypot(row, std::ldexp(x[at(i, l, n)], -exponent));
        column = std::hypot(column, std::ldexp(x[at(l, i, n)], -exponent));
      }
      EXPECT_GE(std::ldexp(norms.rows[at(i, 0, n)], -exponent), row * (1 - 0x1p-45));
      EXPECT_GE(std::ldexp(norms.columns[at(i, 0, n)], -exponent), column * (1 - 0x1p-45));
      if (exponent == 0) {
        EXPECT_LE(norms.rows[at(i, 0, n)], row * (1 + 0x1p-40));
        EXPECT_LE(norms.columns[at(i, 0, n)], column * (1 + 0x1p-40));
      }
    }
  }
}

}  // namespace
}  // namespace vernier::test::remainder_test
