// The recombination that a GPU runs, against the portable one: entry by entry, bit for bit.
#include "residue/recombine/crt.hpp"

#include <gtest/gtest.h>

#include <random>

#include "number/host_device.hpp"
#include "residue_block.hpp"

namespace vernier::crt_test {
namespace {

using test::Block;

// What two sums decide; how often.
struct Decided {
  TwoCrtSums sums;
  int count = 0;

  template <class Tables>
  void compare(const Tables& tables, int exponent, double exact) {
    double t = 0;
    const bool decided = sums.round(tables, exponent, t);
    if (decided) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(t), std::bit_cast<std::uint64_t>(exact)) << t << " for " << exact;
    }
    count += decided ? 1 : 0;
    sums = {};
  }
};

template <class T, int Limbs>
T device_entry(const CrtTables<Limbs>& tables, int count, const Block& block, int element, int exponent,
               Decided& leading) {
  CrtSums<Limbs> sums;
  for (int g = 0; g < tables.pairs; ++g) {
    const auto byte = [&](int q) {
      return q < count
                 ? static_cast<std::uint8_t>(
                       block.residues[static_cast<std::size_t>(q) * Block::stride + static_cast<std::size_t>(element)])
                 : std::uint8_t{0};
    };
    const std::uint32_t residues = static_cast<std::uint32_t>(byte(2 * g) | byte(2 * g + 1) << 8);
    sums.add(joined_residues(tables.pair[g], residues, 0), tables, g);
    leading.sums.add(joined_residues(tables.pair[g], residues, 0), tables, g);
  }
  sums.reduce(tables);
  const T t = rounded_crt<T>(sums, exponent);
  if (std::is_same_v<T, double> && Limbs <= 4) leading.compare(tables, exponent, static_cast<double>(t));
  return t;
}

template <class T, int Limbs>
void equals_the_portable_one(int count) {
  test::Random random(count);
  Block block(count, random);
  const CrtTables<Limbs> tables(block.system);
  Decided leading;
  for (const int scale : {0, 40, -40, 500, 560, -300, -500, 600}) {
    block.scale(2 * scale, 30, random);
    T expected[block_elements];
    recombine_portable(block.tables, block.residues, Block::stride, block.row_scales.data(), block.column_scales.data(),
                       expected);
    for (int j = 0; j < strip_size; ++j)
      for (int i = 0; i < strip_size; ++i) {
        const int exponent =
            -(block.row_scales[static_cast<std::size_t>(i)] + block.column_scales[static_cast<std::size_t>(j)]);
        const T got = device_entry<T>(tables, count, block, residue_index(i, j), exponent, leading);
        const T want = expected[j * strip_size + i];
        ASSERT_EQ(std::bit_cast<typename Ieee754<T>::Bits>(got), std::bit_cast<typename Ieee754<T>::Bits>(want))
            << count << " moduli, scale " << scale << ", (" << i << ", " << j << "): " << got << " for " << want;
      }
    if (std::is_same_v<T, double> && Limbs <= 4 && count >= 13 && std::abs(scale) <= 40) {
      EXPECT_GT(leading.count, block_elements / 4) << count << " moduli, scale " << scale;
    }
    leading.count = 0;
  }
}

template <class T>
void equals_the_portable_one_for_every_number_of_moduli() {
  for (int count = 2; count <= max_moduli; ++count) {
    switch (crt_limbs(count)) {
      case 3:
        equals_the_portable_one<T, 3>(count);
        break;
      case 4:
        equals_the_portable_one<T, 4>(count);
        break;
      case 6:
        equals_the_portable_one<T, 6>(count);
        break;
      case 9:
        equals_the_portable_one<T, 9>(count);
        break;
      case 11:
        equals_the_portable_one<T, 11>(count);
        break;
      default:
        FAIL() << crt_limbs(count) << " limbs are not compiled";
    }
  }
}

TEST(DeviceCrt, EqualsThePortableRecombinationToDouble) {
  equals_the_portable_one_for_every_number_of_moduli<double>();
}
TEST(DeviceCrt, EqualsThePortableRecombinationToFloat) { equals_the_portable_one_for_every_number_of_moduli<float>(); }

// Of integers below P / 2, which a compiler rounds to double by itself.
TEST(DeviceCrt, ThreeLimbsHoldAllNumbersOfModuliWithARootThatAreAllowed) {
  std::mt19937_64 random(7);
  int undecided_of_large = 0;
  for (int count = 2; three_limbs_hold(count, ModuliList::with_root); ++count) {
    const ResidueSystem& system = residue_system(count, ModuliList::with_root);
    const CrtTables<3> tables(system);
    const int most_bits = system.product.bit_width() - 2;
    ASSERT_LE(most_bits, 117) << "the leading limb of " << count << " moduli";
    for (int round = 0; round < 20000; ++round) {
      const auto any = static_cast<Uint128>(random()) << 64 | random();
      auto x = static_cast<Int128>(any >> (128 - (round % most_bits + 1)));
      if (round % 2 == 0) x = -x;
      CrtSums<3> sums;
      TwoCrtSums leading;
      for (int g = 0; g < tables.pairs; ++g) {
        const auto byte = [&](int q) {
          if (q >= count) return 0;
          const int p = modulus_of(ModuliList::with_root, q);
          const auto r = static_cast<int>(x % p);
          return multiply_mod(r, system.row_factor[static_cast<std::size_t>(q)], p) & 255;
        };
        const auto bytes = static_cast<std::uint32_t>(byte(2 * g) | byte(2 * g + 1) << 8);
        sums.add(joined_residues(tables.pair[g], bytes, 0), tables, g);
        leading.add(joined_residues(tables.pair[g], bytes, 0), tables, g);
      }
      sums.reduce(tables);
      ASSERT_EQ(rounded_crt<double>(sums, 0), static_cast<double>(x)) << count << " moduli, round " << round;
      double t = 0;
      const bool decided = leading.round(tables, 0, t);
      if (decided) {
        ASSERT_EQ(t, static_cast<double>(x)) << count << " moduli, round " << round;
      }
      undecided_of_large += !decided && count > 12 && round % most_bits + 1 >= most_bits - 8 ? 1 : 0;
    }
  }
  EXPECT_LE(undecided_of_large, 2);
}

}  // namespace
}  // namespace vernier::crt_test
