
#include <gtest/gtest.h>

#include "number/moduli.hpp"

namespace vernier::float_remainder_test {
namespace {

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
