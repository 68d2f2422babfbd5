#include "number/wide_integer.hpp"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <random>

namespace vernier::test::wide_integer_test {
namespace {

mpz_class integer(const WideInteger& x) {
  mpz_class z;
  mpz_import(z.get_mpz_t(), x.limb.size(), -1, sizeof(std::uint64_t), 0, 0, x.limb.data());
  return z;
}

constexpr int width = 64 * WideInteger::limbs;

// Random integers of every length, some with long runs of zeros and ones.
WideInteger random_integer(std::mt19937_64& generator) {
  WideInteger x;
  const auto bits = static_cast<int>(generator() % (width + 1));
  for (int i = 0; i < WideInteger::limbs; ++i) {
    const std::uint64_t kind = generator() % 4;
    std::uint64_t limb = kind == 0 ? 0 : kind == 1 ? ~std::uint64_t{0} : generator();
    if (64 * i >= bits)
      limb = 0;
    else if (bits - 64 * i < 64)
      limb &= (std::uint64_t{1} << (bits - 64 * i)) - 1;
    x.limb[static_cast<std::size_t>(i)] = limb;
  }
  return x;
}

TEST(WideInteger, MultipliesModuloItsWidth) {
  std::mt19937_64 generator(1);
  for (int repetition = 0; repetition < 20000; ++repetition) {
    WideInteger x = random_integer(generator);
    const auto factor = static_cast<std::uint32_t>(repetition % 5 == 0 ? 0xffffffffu : generator());
    mpz_class expected = integer(x) * static_cast<unsigned long>(factor);
    mpz_fdiv_r_2exp(expected.get_mpz_t(), expected.get_mpz_t(), width);
    x *= factor;
    ASSERT_EQ(integer(x).get_str(16), expected.get_str(16)) << factor;
  }
}

TEST(WideInteger, HasTheRemaindersOfItsValue) {
  std::mt19937_64 generator(2);
  for (int repetition = 0; repetition < 2000; ++repetition) {
    const WideInteger x = random_integer(generator);
    const mpz_class z = integer(x);
    for (const int p : moduli)
      ASSERT_EQ(static_cast<unsigned long>(x.remainder(static_cast<std::uint32_t>(p))),
                mpz_fdiv_ui(z.get_mpz_t(), static_cast<unsigned long>(p)))
          << z.get_str(16) << " modulo " << p;
  }
}

TEST(WideInteger, CutsOutBits) {
  std::mt19937_64 generator(3);
  for (int repetition = 0; repetition < 300; ++repetition) {
    const WideInteger x = random_integer(generator);
    for (int first = 0; first < width + 64; first += 1 + repetition % 7)
      for (const int count : {1, 8, 52, 63, 64}) {
        mpz_class expected = integer(x) >> static_cast<unsigned long>(first);
        mpz_fdiv_r_2exp(expected.get_mpz_t(), expected.get_mpz_t(), static_cast<mp_bitcnt_t>(count));
        ASSERT_EQ(x.bits(first, count), expected.get_ui()) << first << ' ' << count;
      }
  }
}

TEST(WideInteger, CountsItsBits) {
  EXPECT_EQ(WideInteger{}.bit_width(), 0);
  for (int bit = 0; bit < width; ++bit) {
    WideInteger x;
    x.limb[static_cast<std::size_t>(bit / 64)] = std::uint64_t{1} << (bit % 64);
    EXPECT_EQ(x.bit_width(), bit + 1);
    x.limb[0] |= 1;
    EXPECT_EQ(x.bit_width(), bit + 1);
  }
}

TEST(WideInteger, HoldsEveryProductOfModuli) {
  for (int count = 0; count <= max_moduli; ++count)
    for (int first = 0; first <= count; ++first)
      for (int last = first; last <= std::min(first + 6, count); ++last) {
        mpz_class expected = 1;
        for (int q = 0; q < count; ++q)
          if (q < first || q >= last) expected *= moduli[static_cast<std::size_t>(q)];
        ASSERT_EQ(integer(product_of_moduli(count, first, last)).get_str(), expected.get_str())
            << count << ' ' << first << ' ' << last;
      }
  EXPECT_EQ(product_of_moduli(max_moduli).bit_width(), 342);
}

}  // namespace
}  // namespace vernier::test::wide_integer_test
