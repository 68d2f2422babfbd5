// The product of |A| and |B| in e5m2 is a lower bound, and what is made of it an upper one, against exact values.
#include <gtest/gtest.h>

#include "bound_twin.hpp"
#include "model/spec.hpp"
#include "support/exact.hpp"
#include "support/generators.hpp"
#include "support/random.hpp"

namespace vernier::test::bound_fp8_test {
namespace {

void expect_lowered(double x, int exponent) {
  const std::uint8_t byte = bound_byte(x, exponent);
  const auto value_of = [&](int e5m2) {
    const Unpacked number = unpack(model::shape_of(model::Format::e5m2), static_cast<std::uint8_t>(e5m2));
    EXPECT_NE(number.kind, NumberClass::nan) << x;
    return number.kind == NumberClass::infinite
               ? INFINITY
               : std::ldexp(static_cast<double>(number.significand), number.exponent - 2);
  };
  const double magnitude = std::ldexp(std::abs(x), -exponent);  // exact, but for results below 2^-1074
  EXPECT_LE(std::ldexp(value_of(byte), -bound_byte_top), magnitude) << x << " to 2^" << exponent;
  EXPECT_GT(std::ldexp(value_of(byte + 1), -bound_byte_top), magnitude) << x << " to 2^" << exponent;
}

TEST(BoundByte, IsTheLargestNumberOfE5m2ThatIsNotAbove) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const int exponent = static_cast<int>(random.integer(-1022, 1022)), depth = static_cast<int>(random.integer(0, 40));
    expect_lowered(random.sign() * std::ldexp(1 + random.uniform(), std::max(exponent - depth, -1040)), exponent);
  }
  for (const double x : {0.0, 1.0, 1.75, 2 - 0x1p-52, 0x1p-30, 0x1.7p-31, 0x1p-31, 0x1p-32, 0x1p-1074})
    expect_lowered(x, 0);
  expect_lowered(0x1p-1074, -1074);
  expect_lowered(0x1.fffp-1070, -1060);
}

TEST(BoundByte, OfNanAndInfinitiesIsZero) {
  EXPECT_EQ(bound_byte(INFINITY, 0), 0);
  EXPECT_EQ(bound_byte(-INFINITY, 1023), 0);
  EXPECT_EQ(bound_byte(NAN, 3), 0);
}

void expect_bounds(const std::string& family, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto [a, b] = make_operands<double>(family, m, n, k, 11);
  const auto rows = bound_twin_rows(a), columns = bound_twin_columns(b);
  const ExactProduct<double> exact(a, b);
  const BoundProduct product = cuda::fp8_bound_product();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const VectorStatistics &x = rows[static_cast<std::size_t>(i)].statistics,
                             &y = columns[static_cast<std::size_t>(j)].statistics;
      if (x.zero() || y.zero()) continue;
      const float s = bound_twin_sum(rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
      const mpz_class& magnitude = exact.magnitude(i, j);
      const std::string where =
          family + ", k = " + std::to_string(k) + ", entry " + std::to_string(i) + ", " + std::to_string(j);
      const int shift = x.exponent + y.exponent - product.unit;  // of S's unit
      mpz_class lower = exact_value(static_cast<double>(s) * product.lower), whole = magnitude;
      if (shift >= 0)
        lower <<= static_cast<unsigned>(shift);
      else
        whole <<= static_cast<unsigned>(-shift);
      EXPECT_TRUE(lower <= whole) << where;
      if (s == 0 && bound_zero_share(product, x) + bound_zero_share(product, y) >= 1) {
        EXPECT_TRUE(magnitude == 0) << where;
      }
      if (magnitude == 0) continue;
      const double norms = bound_norm(x) * bound_norm(y);
      const int code = bound_code(static_cast<float>(s / norms * std::ldexp(1.0, -product.unit)));
      long power = 0;
      const double fraction = mpz_get_d_2exp(&power, magnitude.get_mpz_t());
      const double log2_share =
          std::log2(fraction) + static_cast<double>(power + exact_unit - x.exponent - y.exponent) - std::log2(norms);
      EXPECT_LE(log2_share, bound_entry_log2(product, k, code) + 1e-9) << where;
      EXPECT_LE(log2_share, bound_entry_16(product, k, code) / 16.0 + 1e-9) << where;
    }
}

TEST(BoundFp8, ProductsLieBetweenTheirBounds) {
  for (const std::string& family : operand_families()) {
    expect_bounds(family, 5, 4, 1);
    expect_bounds(family, 4, 5, 97);
    expect_bounds(family, 3, 3, 2300);
  }
}

}  // namespace
}  // namespace vernier::test::bound_fp8_test
