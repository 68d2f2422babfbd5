// The recombination that a GPU runs, against the portable one: entry by entry, bit for bit.
#include "residue/recombine/crt.hpp"

#include <gtest/gtest.h>

#include <random>

#include "number/host_device.hpp"
#include "residue_block.hpp"

namespace vernier::crt_test {
namespace {

using test::Block;

template <class T, int Limbs>
T device_entry(const CrtTables<Limbs>& tables, int count, const Block& block, int element, int exponent) {
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
  }
  sums.reduce(tables);
  return rounded_crt<T>(sums, exponent);
}

template <class T, int Limbs>
void equals_the_portable_one(int count) {
  test::Random random(count);
  Block block(count, random);
  const CrtTables<Limbs> tables(block.system);
  for (const int scale : {0, 40, -40, 500, 560, -300, -500, 600}) {
    block.scale(2 * scale, 30, random);
    T expected[block_elements];
    recombine_portable(block.tables, block.residues, Block::stride, block.row_scales.data(), block.column_scales.data(),
                       expected);
    for (int j = 0; j < strip_size; ++j)
      for (int i = 0; i < strip_size; ++i) {
        const int exponent =
            -(block.row_scales[static_cast<std::size_t>(i)] + block.column_scales[static_cast<std::size_t>(j)]);
        const T got = device_entry<T>(tables, count, block, residue_index(i, j), exponent);
        const T want = expected[j * strip_size + i];
        ASSERT_EQ(std::bit_cast<typename Ieee754<T>::Bits>(got), std::bit_cast<typename Ieee754<T>::Bits>(want))
            << count << " moduli, scale " << scale << ", (" << i << ", " << j << "): " << got << " for " << want;
      }
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
      for (int g = 0; g < tables.pairs; ++g) {
        const auto byte = [&](int q) {
          if (q >= count) return 0;
          const int p = modulus_of(ModuliList::with_root, q);
          const auto r = static_cast<int>(x % p);
          return multiply_mod(r, system.row_factor[static_cast<std::size_t>(q)], p) & 255;
        };
        sums.add(joined_residues(tables.pair[g], static_cast<std::uint32_t>(byte(2 * g) | byte(2 * g + 1) << 8), 0),
                 tables, g);
      }
      sums.reduce(tables);
      ASSERT_EQ(rounded_crt<double>(sums, 0), static_cast<double>(x)) << count << " moduli, round " << round;
    }
  }
}

}  // namespace
}  // namespace vernier::crt_test
