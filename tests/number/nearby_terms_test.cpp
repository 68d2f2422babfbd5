#include "number/nearby_terms.hpp"

#include <gtest/gtest.h>

#include <random>

#include "number/host_device.hpp"

namespace vernier::nearby_terms_test {
namespace {

TEST(NearbyTerms, HoldTheirExactSumAndRefuseWhatDoesNotFit) {
  std::mt19937_64 random(1);
  int kept = 0, refused = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const int bits = 1 + static_cast<int>(random() % 54), lowest = -static_cast<int>(random() % 40);
    NearbyTerms near;
    Int128 sum = 0;  // in units of 2^(lowest - 20)
    for (int t = 0; t < 12; ++t) {
      const auto magnitude = static_cast<std::int64_t>(random() >> (64 - bits));
      const std::int64_t x = random() % 2 == 0 ? magnitude : -magnitude;
      const int unit = lowest + static_cast<int>(random() % 30) - 15;
      const NearbyTerms before = near;
      if (near.add(x, unit, bits)) {
        sum += static_cast<Int128>(x) << (unit - lowest + 20);
        ++kept;
      } else {
        EXPECT_EQ(near.sum, before.sum);
        ++refused;
      }
      ASSERT_TRUE(sum == static_cast<Int128>(near.sum) << (near.unit - lowest + 20));
      ASSERT_TRUE(near.bits == 63 || (near.sum >> near.bits) == 0 || (near.sum >> near.bits) == -1);
    }
  }
  EXPECT_GT(kept, 10000);
  EXPECT_GT(refused, 10000);
}

// Products of slices of 6 bits, weights falling by 2^6: six terms a word.
TEST(NearbyTerms, HoldSixProductsOfSlices) {
  NearbyTerms near;
  for (int t = 0; t < 6; ++t) EXPECT_TRUE(near.add((1 << 24), -80 - 6 * t, 25)) << t;
  EXPECT_FALSE(near.add(1, -80 - 6 * 6, 25));
}

}  // namespace
}  // namespace vernier::nearby_terms_test
