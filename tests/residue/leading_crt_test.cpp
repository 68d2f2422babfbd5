// T in dd from the leading limbs: where it decides, what all limbs say.
#include <gtest/gtest.h>

#include "number/host_device.hpp"
#include "residue/quad/leading_crt.hpp"
#include "support/random.hpp"

namespace vernier::leading_crt_test {
namespace {

using test::Random;

constexpr int limbs = 7;

// value 2^shift modulo p, times what residues of products are times.
std::int8_t residue_of(const ResidueSystem& system, int q, Int128 value, int shift) {
  const int p = moduli[static_cast<std::size_t>(q)];
  std::int64_t r = static_cast<std::int64_t>(value % p);
  for (int s = 0; s < shift; ++s) r = 2 * r % p;
  return static_cast<std::int8_t>(
      symmetric_residue(symmetric_residue(r, p) * system.row_factor[static_cast<std::size_t>(q)], p));
}

struct Both {
  DdOfSums leading, all;
};

Both sums_of(int count, Int128 value, int shift) {
  const ResidueSystem& system = residue_system(count);
  static const CrtTables<limbs> tables[] = {CrtTables<limbs>(residue_system(27)), CrtTables<limbs>(residue_system(28))};
  static const LeadingCrtTables<limbs> leading[] = {LeadingCrtTables<limbs>(residue_system(27)),
                                                    LeadingCrtTables<limbs>(residue_system(28))};
  CrtSums<limbs> all;
  LeadingCrtSums<limbs> first;
  for (int g = 0; g < tables[count - 27].pairs; ++g) {
    const auto byte = [&](int q) {
      return q < count ? static_cast<std::uint32_t>(static_cast<std::uint8_t>(residue_of(system, q, value, shift)))
                       : 0u;
    };
    const std::int32_t joined = joined_residues(tables[count - 27].pair[g], byte(2 * g) | byte(2 * g + 1) << 8, 0);
    all.add(joined, tables[count - 27], g);
    first.add(joined, leading[count - 27], g);
  }
  all.reduce(tables[count - 27]);
  first.reduce(leading[count - 27]);
  return {leading_dd(first), dd_of_sums(all)};
}

Int128 random_value(Random& random, int bits) {
  const auto word = [&] { return static_cast<Uint128>(random.integer(0, (std::int64_t{1} << 62) - 1)); };
  const Uint128 x = (word() << 62 | word()) >> (124 - bits);
  return random.integer(0, 1) == 0 ? static_cast<Int128>(x) : -static_cast<Int128>(x);
}

TEST(LeadingCrt, DecidesAsAllLimbsDo) {
  Random random(1);
  int doubts = 0;
  for (int count = 27; count <= 28; ++count)
    for (int i = 0; i < 4000; ++i) {
      const int bits = static_cast<int>(random.integer(60, 124)), shift = static_cast<int>(random.integer(0, 80));
      const Both x = sums_of(count, random_value(random, bits), shift);
      doubts += x.leading.doubt ? 1 : 0;
      if (x.leading.doubt) continue;
      ASSERT_FALSE(x.all.doubt);
      ASSERT_EQ(x.leading.hi, x.all.hi);
      ASSERT_EQ(x.leading.lo, x.all.lo);
    }
  EXPECT_GT(doubts, 0);  // small numbers and those that end soon
}

TEST(LeadingCrt, DecidesNearlyAllNumbersOfUsualSize) {
  Random random(2);
  int doubts = 0;
  for (int i = 0; i < 4000; ++i)  // 107 bits would be ties
    doubts +=
        sums_of(28, random_value(random, 124) | 1, static_cast<int>(random.integer(74, 86))).leading.doubt ? 1 : 0;
  EXPECT_LT(doubts, 4);
}

TEST(LeadingCrt, DoubtsZeroTiesAndSmallNumbers) {
  EXPECT_TRUE(sums_of(28, 0, 0).leading.doubt);
  EXPECT_TRUE(sums_of(28, 1, 0).leading.doubt);
  EXPECT_TRUE(sums_of(28, (static_cast<Int128>(1) << 107) + 1, 90).leading.doubt);
  const Int128 tie = (static_cast<Int128>(1) << 107) + (static_cast<Int128>(3) << 52) + 1;
  EXPECT_TRUE(sums_of(28, tie, 90).leading.doubt);
  EXPECT_TRUE(sums_of(28, (static_cast<Int128>(1) << 105) + (static_cast<Int128>(1) << 52), 90).leading.doubt);
}

}  // namespace
}  // namespace vernier::leading_crt_test
