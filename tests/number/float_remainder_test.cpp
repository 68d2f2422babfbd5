#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "number/moduli.hpp"

namespace vernier::float_remainder_test {
namespace {

// What the vector instructions compute, one at a time. sum: start + y.
std::int32_t float_remainder(std::int32_t sum, const FloatRemainder& r) {
  const auto quotient = std::bit_cast<std::int32_t>(std::fma(std::bit_cast<float>(sum), r.inverse, r.bias));
  const auto low = static_cast<std::int16_t>(quotient), low_factor = static_cast<std::int16_t>(r.factors);
  return sum + low * low_factor + (quotient >> 16) * (r.factors >> 16);
}

TEST(FloatRemainder, EverySumLeavesItsSymmetricRemainder) {
  for (const int p : moduli) {
    const FloatRemainder r = make_float_remainder(p);
    int expected = 0;
    for (int y = 0; y < float_remainder_quotients * p; ++y) {
      ASSERT_EQ(float_remainder(r.start + y, r), expected) << "p = " << p << ", y = " << y;
      if (++expected > largest_residue(p)) expected -= p;
    }
  }
}

}  // namespace
}  // namespace vernier::float_remainder_test
