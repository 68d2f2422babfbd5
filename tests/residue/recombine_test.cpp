#include "residue/recombine/recombine.hpp"

#include <algorithm>
#include <cmath>

#include "backends.hpp"
#include "number/ieee754.hpp"
#include "residue_block.hpp"
#include "support/compare.hpp"
#include "support/exact.hpp"

namespace vernier::test::recombine_test {
namespace {

template <class T>
class RecombineTest : public SchemeTest<T> {};
TYPED_TEST_SUITE(RecombineTest, Types);

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
TYPED_TEST(RecombineTest, VectorsRoundTheExactIntegerOnceForEveryNumberOfModuli) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    expect_one_rounding<TypeParam>(vector->recombine);
  }
}

TYPED_TEST(RecombineTest, VectorsHaveTheBitsOfPortable) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    Random random(2);
    for (int count = 2; count <= max_moduli; ++count)
      for (int repetition = 0; repetition < 3; ++repetition) {
        Block block(count, random);
        block.scale(static_cast<int>(random.integer(-1500, 1500)), 60, random);
        ASSERT_EQ(difference(recombined<TypeParam>(vector->recombine, block),
                             recombined<TypeParam>(recombine_portable<TypeParam>, block)),
                  "")
            << count << " moduli";
      }
  }
}

double exact_element(const Block& block, int e) {
  return rounded<double>(block.c[static_cast<std::size_t>(e)],
                         -(block.row_scales[static_cast<std::size_t>(e % strip_size)] +
                           block.column_scales[static_cast<std::size_t>(e / strip_size)]));
}

// 13 to 15 moduli, all products of two factors, blocks of any integers and of large ones; and the one element that is
// not certain is seen, wherever it is.
void expect_speculative(decltype(&recombine_speculative_portable) recombine) {
  Random random(6);
  for (int count = 13; count <= 15; ++count)
    for (int repetition = 0; repetition < 30; ++repetition) {
      const ResidueSystem& system = residue_system(count);
      Block block(count, repetition % 2 == 0 ? integers(system, random) : large_integers(system, random));
      block.scale(system.product.bit_width(), 100, random);
      const double divisor = static_cast<double>(random.integer(16, 31) * random.integer(16, 31)) / 256;
      Matrix<double> expected = exact<double>(block);
      double largest = 0;
      for (std::int64_t e = 0; e < block_elements; ++e) {
        expected(e % strip_size, e / strip_size) /= divisor;
        largest = std::max(largest, std::abs(rounded<double>(block.c[static_cast<std::size_t>(e)], 0)));
      }
      const auto certain_below = [&](double limit) {
        alignas(64) double tile[block_elements];
        std::fill_n(tile, block_elements, poison<double>());
        const bool certain = recombine(block.tables, block.residues, Block::stride, block.row_scales.data(),
                                       block.column_scales.data(), {divisor, limit}, tile);
        const auto result =
            Matrix<double>::of(strip_size, strip_size, [&](auto i, auto j) { return tile[j * strip_size + i]; });
        EXPECT_EQ(difference(result, expected), "") << count << " moduli, divisor " << divisor;
        return certain;
      };
      EXPECT_FALSE(certain_below(largest));
      EXPECT_TRUE(certain_below(std::nextafter(largest, 2 * largest)));
      const int e = static_cast<int>(random.integer(0, block_elements - 1));
      const mpz_class limit = (integer(system.product) * 1048575) >> 21;
      block.set(e, repetition % 4 < 2 ? limit : mpz_class(-limit));
      expected(e % strip_size, e / strip_size) = exact_element(block, e) / divisor;
      EXPECT_FALSE(certain_below(rounded<double>(limit, 0))) << "element " << e;
    }
}

TEST(RecombineOfSpeculativeProducts, PortableDividesWhatIsRoundedAndSeesWhatIsNotCertain) {
  expect_speculative(recombine_speculative_portable);
}
TEST(RecombineOfSpeculativeProducts, VectorsDivideWhatIsRoundedAndSeeWhatIsNotCertain) {
  VERNIER_NEEDS_VECTORS(double);
  for (const SchemeBackend<double>* vector : vector_backends<double>()) {
    expect_speculative(vector->recombine_speculative);
  }
}

// An odd multiple of half a unit in the last place, or 2^distance away from it.
mpz_class beside_a_tie(unsigned long bits, unsigned long distance, bool above, Random& random) {
  const mpz_class half = mpz_class(1) << (bits - 55);
  const mpz_class tie = ((mpz_class(1) << 53) + random_integer((mpz_class(1) << 52) - 1, random) * 2 + 1) * half;
  return distance == 0 ? tie : above ? mpz_class(tie + (half >> distance)) : mpz_class(tie - (half >> distance));
}

unsigned long bits_of_block(const ResidueSystem& system) {
  const mpz_class limit = (integer(system.product) * 1048575) >> 21;
  return mpz_sizeinbase(limit.get_mpz_t(), 2);
}

// The vector form rounds large integers from fractions, and must see the one that they do not tell, wherever it is.
TEST(RecombineOfDoubles, VectorsSeeTheOneElementBesideATie) {
  VERNIER_NEEDS_VECTORS(double);
  for (const SchemeBackend<double>* vector : vector_backends<double>()) {
    Random random(5);
    auto* const recombine = vector->recombine;
    for (const int count : {8, 11, 13, 14, 15, 16, 18, 20, 23, 26, 31, 40, 49}) {
      Block block(count, large_integers(residue_system(count), random));
      const unsigned long bits = bits_of_block(block.system);
      block.scale(static_cast<int>(bits), 20, random);
      Matrix<double> expected = exact<double>(block);
      ASSERT_EQ(difference(recombined<double>(recombine, block), expected), "") << count << " moduli";
      for (int e = 0; e < block_elements; e += count == 15 ? 1 : 29) {
        const mpz_class before = block.c[static_cast<std::size_t>(e)];
        // At the limit of what 99 bits tell, or nearer.
        const auto distance =
            static_cast<unsigned long>(e % 4 == 0 ? 0 : random.integer(20, static_cast<int>(bits) - 56));
        block.set(e, beside_a_tie(bits, distance, e % 2 == 0, random) * (e % 8 < 4 ? 1 : -1));
        expected(e % strip_size, e / strip_size) = exact_element(block, e);
        ASSERT_EQ(difference(recombined<double>(recombine, block), expected), "")
            << count << " moduli, element " << e << ", 2^-" << distance << " of half a unit from a tie";
        block.set(e, before);
        expected(e % strip_size, e / strip_size) = exact_element(block, e);
      }
    }
  }
}

TEST(RecombineOfDoubles, VectorsRoundLargeIntegersOnceAtTheEndsOfTheRange) {
  VERNIER_NEEDS_VECTORS(double);
  for (const SchemeBackend<double>* vector : vector_backends<double>()) {
    using F = Ieee754<double>;
    Random random(7);
    for (int count = 8; count <= max_moduli; count += count < 20 ? 1 : 4) {
      Block block(count, large_integers(residue_system(count), random));
      const int bits = static_cast<int>(bits_of_block(block.system));
      for (const int sum :
           {-F::min_exponent, -F::min_exponent + 1, bits - F::max_exponent, bits - F::max_exponent - 1,
            bits - F::max_exponent - 2, bits - F::min_exponent, bits - F::min_exponent + 40, 2400, -2400})
        for (const int spread : {0, 1, 30}) {
          block.scale(sum, spread, random);
          ASSERT_EQ(difference(recombined<double>(vector->recombine, block), exact<double>(block)), "")
              << count << " moduli, sums of scales about " << sum;
        }
    }
  }
}

// Rows and columns that are not there any more, and single zeros.
TEST(RecombineOfDoubles, VectorsGiveZerosBesideLargeIntegers) {
  VERNIER_NEEDS_VECTORS(double);
  for (const SchemeBackend<double>* vector : vector_backends<double>()) {
    Random random(8);
    for (const int count : {8, 14, 15, 19, 49})
      for (const int live : {32, 31, 17, 16, 4, 0}) {
        Block block(count, large_integers(residue_system(count), random));
        for (int e = 0; e < block_elements; ++e)
          if (e % strip_size >= live || e / strip_size >= 30 || e % 91 == 0) block.set(e, 0);
        block.scale(static_cast<int>(bits_of_block(block.system)), 10, random);
        const Matrix<double> got = recombined<double>(vector->recombine, block);
        ASSERT_EQ(difference(got, exact<double>(block)), "") << count << " moduli, " << live << " rows";
        EXPECT_FALSE(std::signbit(got(31, 31)));
      }
  }
}

// One lane of round_by_fraction, in integers and the same operations on doubles: what its bounds are proved of.
struct Fraction {
  double c, below, width;

  Fraction(const Block& block, std::size_t index) {
    const FractionTables& tables = block.tables.fraction;
    const auto limb = [](const mpz_class& x, unsigned long i) {
      return mpz_class((x >> (52 * i)) & ((mpz_class(1) << 52) - 1));
    };
    mpz_class high = 0, low = -FractionTables::error;
    for (int first = 0; first < block.system.count; first += 6) {
      const auto pair = static_cast<std::size_t>(first / 6);
      mpz_class z = 0;
      for (int g = 0; g < 2; ++g) {
        const int begin = first + 3 * g, end = std::min(begin + 3, block.system.count);
        if (begin >= end) continue;
        mpz_class product = 1, y = 0;
        for (int q = begin; q < end; ++q) product *= moduli[static_cast<std::size_t>(q)];
        for (int q = begin; q < end; ++q)
          y += product / moduli[static_cast<std::size_t>(q)] *
               block.residues[static_cast<std::size_t>(q) * Block::stride + index];
        z += (y + 2 * product) * tables.multiplier[2 * pair + static_cast<std::size_t>(g)];
      }
      EXPECT_TRUE(z < mpz_class(1) << 51);
      high += limb(z * tables.inverse_high[pair], 1);
      low += limb(z * tables.inverse_high[pair], 0) + limb(z * tables.inverse_low[pair], 1);
    }
    const mpz_class shifted = (high << 17) & ((mpz_class(1) << 64) - 1);
    const mpz_class signed_high = shifted >> 63 != 0 ? mpz_class(shifted - (mpz_class(1) << 64)) : shifted;
    const double x = signed_high.get_d(), rest = rounded<double>(low, 0);
    c = x * tables.product;
    below = std::fma(rest, tables.unit, std::fma(x, tables.product_rest, std::fma(x, tables.product, -c)));
    width = tables.width;
  }
};

TEST(RecombineOfDoubles, FractionsHoldTheIntegerBetweenTheirBounds) {
  Random random(6);
  for (int count = 2; count <= max_moduli; ++count) {
    const Block block(count, random);
    int doubts = 0;
    for (int e = 0; e < block_elements; ++e) {
      const mpz_class& integer = block.c[static_cast<std::size_t>(e)];
      const Fraction f(block, static_cast<std::size_t>(residue_index(e % strip_size, e / strip_size)));
      const mpq_class least = mpq_class(f.c) + mpq_class(f.below), most = mpq_class(f.c) + mpq_class(f.below + f.width);
      ASSERT_TRUE(least < integer) << count << " moduli";
      ASSERT_TRUE(integer < most) << count << " moduli";
      const bool doubt = f.c + f.below != f.c + (f.below + f.width);
      doubts += doubt ? 1 : 0;
      ASSERT_TRUE(doubt || integer != 0) << count << " moduli";
    }
    EXPECT_GT(doubts, count < 8 ? 0 : block_elements / 8) << count << " moduli";  // zeros, ties and what is beside them
  }
}

// Three products whose real and imaginary parts are two blocks: yv at random, xu = re + yv, the sums im + xu + yv.
std::vector<std::int8_t> products_of(const Block& re, const Block& im, Random& r) {
  const std::size_t part = static_cast<std::size_t>(re.system.count) * Block::stride;
  std::vector<std::int8_t> products(3 * part + 64);
  std::int8_t* p = products.data() + (64 - reinterpret_cast<std::uintptr_t>(products.data()) % 64) % 64;
  for (std::size_t q = 0; q < static_cast<std::size_t>(re.system.count); ++q)
    for (std::size_t e = 0; e < block_elements; ++e) {
      const std::size_t at = q * Block::stride + e;
      const int modulus = moduli[q];
      const auto yv = static_cast<int>(r.integer(smallest_residue(modulus), largest_residue(modulus)));
      const int xu = symmetric_residue(re.residues[at] + yv, modulus);
      p[at] = static_cast<std::int8_t>(xu);
      p[part + at] = static_cast<std::int8_t>(yv);
      p[2 * part + at] = static_cast<std::int8_t>(symmetric_residue(im.residues[at] + xu + yv, modulus));
    }
  return products;
}

template <class T>
void expect_parts(decltype(SchemeBackend<T>::recombine_complex) recombine) {
  Random random(4);
  for (int i = 2; i <= 2 * max_moduli - 1; ++i) {
    const int count = (i + 2) / 2;
    const ResidueSystem& system = residue_system(count);
    Block re(count, i % 2 == 0 ? integers(system, random) : large_integers(system, random));
    Block im(count, i % 2 == 0 ? integers(system, random) : large_integers(system, random));
    if (i % 4 == 1) im.set(static_cast<int>(random.integer(0, block_elements - 1)), 1);  // in doubt there alone
    re.scale(static_cast<int>(random.integer(-900, 900)), 60, random);
    im.row_scales = re.row_scales, im.column_scales = re.column_scales;
    const std::vector<std::int8_t> products = products_of(re, im, random);
    const std::int8_t* aligned = products.data() + (64 - reinterpret_cast<std::uintptr_t>(products.data()) % 64) % 64;
    alignas(64) T x[block_elements], y[block_elements];
    recombine(re.tables, {aligned, Block::stride, static_cast<std::size_t>(count) * Block::stride},
              re.row_scales.data(), re.column_scales.data(), x, y);
    for (const auto& [block, tile] : {std::pair{&re, x}, std::pair{&im, y}}) {
      const auto got = Matrix<T>::of(strip_size, strip_size, [&](auto i, auto j) { return tile[j * strip_size + i]; });
      ASSERT_EQ(difference(got, exact<T>(*block)), "") << count << " moduli, " << (block == &re ? "real" : "imaginary");
    }
  }
}

TYPED_TEST(RecombineTest, PortablePartsAreThoseOfThreeProducts) {
  expect_parts<TypeParam>(recombine_complex_portable<TypeParam>);
}
TYPED_TEST(RecombineTest, VectorPartsAreThoseOfThreeProducts) {
  VERNIER_NEEDS_VECTORS(TypeParam);
  for (const SchemeBackend<TypeParam>* vector : vector_backends<TypeParam>()) {
    expect_parts<TypeParam>(vector->recombine_complex);
  }
}

// (3 + 4i)(5 - 2i) = 23 + 14i, by 15, -8 and 7 * 3: modulo 256 and 255, (P / p_q)^-1 is -1 and 1.
TYPED_TEST(RecombineTest, GivesASmallComplexProduct) {
  const RecombineTables tables(residue_system(2));
  alignas(64) std::int8_t products[6][block_elements] = {};
  const int integers[3] = {15, -8, 21};
  for (int part = 0; part < 3; ++part) products[2 * part][0] = static_cast<std::int8_t>(-integers[part]);
  for (int part = 0; part < 3; ++part) products[2 * part + 1][0] = static_cast<std::int8_t>(integers[part]);
  const int scales[strip_size] = {};
  alignas(64) TypeParam x[block_elements], y[block_elements];
  best_backend<TypeParam>().recombine_complex(tables, {products[0], block_elements, 2 * block_elements}, scales, scales,
                                              x, y);
  EXPECT_EQ(x[0], 23);
  EXPECT_EQ(y[0], 14);
  EXPECT_EQ(x[1], 0);
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
}  // namespace vernier::test::recombine_test
