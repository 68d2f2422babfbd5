#include "scheme/recombine.hpp"

#include <gmpxx.h>

#include <algorithm>
#include <array>

#include "backends.hpp"
#include "number/ieee754.hpp"
#include "support/compare.hpp"
#include "support/exact.hpp"
#include "support/random.hpp"

namespace vernier::test {
namespace {

template <class T>
class RecombineTest : public SchemeTest<T> {};
TYPED_TEST_SUITE(RecombineTest, Types);

mpz_class integer(const WideInteger& x) {
  mpz_class z;
  mpz_import(z.get_mpz_t(), x.limb.size(), -1, sizeof(std::uint64_t), 0, 0, x.limb.data());
  return z;
}

mpz_class random_integer(const mpz_class& limit, Random& r) {  // 0 .. limit
  mpz_class z = 0;
  for (int i = 0; i < 7; ++i) z = (z << 60) + static_cast<long>(r.integer(0, (std::int64_t{1} << 60) - 1));
  return z % mpz_class(limit + 1);
}

// The integers of one block, |C| <= P / 2 (1 - 2^-20).
std::vector<mpz_class> integers(const ResidueSystem& system, Random& r) {
  const mpz_class product = integer(system.product), limit = (product * 1048575) >> 21;
  const auto bits = static_cast<std::int64_t>(mpz_sizeinbase(limit.get_mpz_t(), 2));
  std::vector<mpz_class> list;
  for (int e = 0; e < block_elements; ++e) {
    mpz_class c;
    const auto length = static_cast<unsigned long>(r.integer(0, bits - 1));
    const auto below = static_cast<unsigned long>(r.integer(0, static_cast<std::int64_t>(length)));
    switch (e % 8) {
      case 0:
        c = random_integer(limit, r);
        break;
      case 1:
        c = limit - e / 16;  // next to the end
        break;
      case 2:
        c = e / 16;  // zero and tiny ones
        break;
      case 3:
        c = mpz_class(1) << length;
        break;
      case 4: {  // a tie of float or double, or one bit beside it, however far down
        const unsigned long precision = e % 16 == 4 ? 24 : 53;
        const unsigned long half = length > precision ? length - precision : 0;
        const mpz_class least = mpz_class(1) << (precision - 1);
        c = (least + random_integer(least - 1, r)) * 2 + 1;
        c <<= half;
        c += mpz_class(r.integer(-1, 1)) << (half == 0 ? 0 : below % half);
        break;
      }
      case 5:
        c = random_integer(mpz_class(1) << length, r);
        break;
      case 6:  // all ones
        c = (mpz_class(1) << length) - 1 - (mpz_class(1) << below >> 1);
        break;
      default:  // next to halves, thirds ... of P, and of 2^53
        c = product / (2 + e / 16) + static_cast<long>(r.integer(-2, 2));
        break;
    }
    c = abs(c);
    if (c > limit) c = limit;
    list.push_back(e / 8 % 2 == 0 ? c : mpz_class(-c));
  }
  return list;
}

struct Block {
  static constexpr std::size_t stride = block_elements + 64;
  const ResidueSystem& system;
  RecombineTables tables;
  std::vector<mpz_class> c;  // [column][row]
  std::vector<std::int8_t> storage;
  std::int8_t* residues;
  std::array<int, strip_size> row_scales{}, column_scales{};

  Block(int count, Random& r)
      : system(residue_system(count)),
        tables(system),
        c(integers(system, r)),
        storage(stride * static_cast<std::size_t>(count) + 64) {
    residues = storage.data() + (64 - reinterpret_cast<std::uintptr_t>(storage.data()) % 64) % 64;
    for (int q = 0; q < count; ++q) {
      const auto i = static_cast<std::size_t>(q);
      const int p = moduli[i];
      for (int e = 0; e < block_elements; ++e) {
        const auto rest = static_cast<std::int64_t>(
            mpz_fdiv_ui(c[static_cast<std::size_t>(e)].get_mpz_t(), static_cast<unsigned long>(p)));
        residues[i * stride + static_cast<std::size_t>(residue_index(e % strip_size, e / strip_size))] =
            static_cast<std::int8_t>(symmetric_residue(rest * system.row_factor[i], p));
      }
    }
  }

  // Sums of scales around the given one.
  void scale(int sum, int spread, Random& r) {
    for (auto* scales : {&row_scales, &column_scales})
      for (int& s : *scales) s = sum / 2 + static_cast<int>(r.integer(-spread, spread));
  }
};

template <class T>
Matrix<T> recombined(decltype(SchemeBackend<T>::recombine) recombine, const Block& block) {
  alignas(64) T tile[block_elements];
  std::fill_n(tile, block_elements, poison<T>());
  recombine(block.tables, block.residues, Block::stride, block.row_scales.data(), block.column_scales.data(), tile);
  return Matrix<T>::of(strip_size, strip_size, [&](auto i, auto j) { return tile[j * strip_size + i]; });
}

template <class T>
Matrix<T> exact(const Block& block) {
  return Matrix<T>::of(strip_size, strip_size, [&](auto i, auto j) {
    return rounded<T>(
        block.c[static_cast<std::size_t>(j * strip_size + i)],
        -(block.row_scales[static_cast<std::size_t>(i)] + block.column_scales[static_cast<std::size_t>(j)]));
  });
}

// Every number of moduli, and scales that give normal, subnormal, vanishing, huge and infinite results.
template <class T>
void expect_one_rounding(decltype(SchemeBackend<T>::recombine) recombine) {
  using F = Ieee754<T>;
  Random random(1);
  for (int count = 2; count <= max_moduli; ++count) {
    Block block(count, random);
    const int bits = block.system.product.bit_width();
    const int least = F::min_exponent - F::precision + 1;
    for (const auto& [sum, spread] : std::initializer_list<std::pair<int, int>>{{0, 0},
                                                                                {bits, 20},
                                                                                {-least, 10},
                                                                                {bits - least, bits / 4 + 2},
                                                                                {bits - F::min_exponent, 8},
                                                                                {bits - F::max_exponent, bits / 4 + 2},
                                                                                {-F::max_exponent, 40},
                                                                                {2300, 30},
                                                                                {-2300, 30}}) {
      block.scale(sum, spread, random);
      ASSERT_EQ(difference(recombined<T>(recombine, block), exact<T>(block)), "")
          << count << " moduli, sums of scales about " << sum;
    }
  }
}

TYPED_TEST(RecombineTest, PortableRoundsTheExactIntegerOnceForEveryNumberOfModuli) {
  expect_one_rounding<TypeParam>(recombine_portable<TypeParam>);
}
TYPED_TEST(RecombineTest, Avx512RoundsTheExactIntegerOnceForEveryNumberOfModuli) {
  VERNIER_NEEDS_AVX512(TypeParam);
  expect_one_rounding<TypeParam>(avx512_backend<TypeParam>()->recombine);
}

TYPED_TEST(RecombineTest, Avx512HasTheBitsOfPortable) {
  VERNIER_NEEDS_AVX512(TypeParam);
  Random random(2);
  for (int count = 2; count <= max_moduli; ++count)
    for (int repetition = 0; repetition < 3; ++repetition) {
      Block block(count, random);
      block.scale(static_cast<int>(random.integer(-1500, 1500)), 60, random);
      ASSERT_EQ(difference(recombined<TypeParam>(avx512_backend<TypeParam>()->recombine, block),
                           recombined<TypeParam>(recombine_portable<TypeParam>, block)),
                "")
          << count << " moduli";
    }
}

// Small cases that a reader can check: C = 1 has residues (P / p_q)^-1.
TYPED_TEST(RecombineTest, GivesTheIntegersOneAndMinusOne) {
  for (int count = 2; count <= max_moduli; ++count) {
    Random random(3);
    Block block(count, random);
    for (int q = 0; q < count; ++q) {
      const auto i = static_cast<std::size_t>(q);
      const int one = symmetric_residue(block.system.row_factor[i], moduli[i]);
      std::fill_n(block.residues + i * Block::stride, block_elements, static_cast<std::int8_t>(one));
      block.residues[i * Block::stride + 5] = static_cast<std::int8_t>(symmetric_residue(-one, moduli[i]));
    }
    const auto got = recombined<TypeParam>(best_backend<TypeParam>().recombine, block);
    const auto expected = Matrix<TypeParam>::of(strip_size, strip_size, [](auto i, auto j) {
      return residue_index(static_cast<int>(i), static_cast<int>(j)) == 5 ? -1 : 1;
    });
    ASSERT_EQ(difference(got, expected), "") << count << " moduli";
  }
}

TEST(ResidueSystem, FactorsInvertTheCofactors) {
  for (int count = 2; count <= max_moduli; ++count) {
    const ResidueSystem& system = residue_system(count);
    EXPECT_EQ(&system, &residue_system(count));
    const mpz_class product = integer(system.product);
    long exponent = 0;
    const double leading = mpz_get_d_2exp(&exponent, product.get_mpz_t());
    EXPECT_NEAR(system.log2_product, std::log2(leading) + static_cast<double>(exponent), 1e-9);
    for (int q = 0; q < count; ++q) {
      const auto i = static_cast<std::size_t>(q);
      EXPECT_EQ(cmp(integer(system.cofactor[i]) * moduli[i], product), 0);
      const mpz_class one = integer(system.cofactor[i]) * system.row_factor[i] - 1;
      EXPECT_NE(mpz_divisible_ui_p(one.get_mpz_t(), static_cast<unsigned long>(moduli[i])), 0);
    }
  }
}

// The least number of moduli with 2 * 2^bound <= P (1 - 2^-20), in integers for whole bounds.
TEST(ResidueSystem, HasTheLeastNumberOfModuliForABound) {
  for (int bound = 1; bound <= 345; ++bound) {
    int expected = 0;
    for (int count = max_moduli; count >= 2; --count)
      if ((mpz_class(1) << static_cast<unsigned long>(bound + 1 + 20)) <=
          integer(product_of_moduli(count)) * ((1 << 20) - 1))
        expected = count;
    EXPECT_EQ(moduli_for(bound), expected) << bound;
  }
}

}  // namespace
}  // namespace vernier::test
