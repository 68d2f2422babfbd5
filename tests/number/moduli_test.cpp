#include "number/moduli.hpp"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace vernier::test::moduli_test {
namespace {

TEST(Moduli, AreFortyNineAndPairwiseCoprime) {
  ASSERT_EQ(moduli.size(), 49u);
  for (std::size_t i = 0; i < moduli.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(std::gcd(moduli[i], moduli[j]), 1) << moduli[i] << ' ' << moduli[j];
}

TEST(Moduli, AreTheLargestCoprimeToAllBefore) {
  EXPECT_EQ(moduli[0], largest_modulus);
  EXPECT_TRUE(std::is_sorted(moduli.rbegin(), moduli.rend()));
  for (int p = largest_modulus; p >= moduli.back(); --p) {
    if (std::find(moduli.begin(), moduli.end(), p) != moduli.end()) continue;
    EXPECT_TRUE(std::any_of(moduli.begin(), moduli.end(), [&](int q) { return q > p && std::gcd(p, q) != 1; }))
        << p << " was left out";
  }
}

TEST(Moduli, HaveSymmetricResiduesThatFillOneByte) {
  for (const int p : moduli) {
    EXPECT_EQ(largest_residue(p) - smallest_residue(p) + 1, p);
    EXPECT_GE(smallest_residue(p), -128);
    EXPECT_LE(largest_residue(p), 127);
    EXPECT_EQ(smallest_residue(p), p == 256 ? -128 : -largest_residue(p)) << p;
  }
}

void expect_residue(std::int64_t x, int p) {
  const int r = symmetric_residue(x, p);
  ASSERT_GE(r, smallest_residue(p)) << x << " modulo " << p;
  ASSERT_LE(r, largest_residue(p)) << x << " modulo " << p;
  mpz_class difference = static_cast<long>(x);
  difference -= r;
  ASSERT_NE(mpz_divisible_ui_p(difference.get_mpz_t(), static_cast<unsigned long>(p)), 0) << x << " modulo " << p;
}

TEST(SymmetricResidue, IsCongruentAndSymmetricForEveryIntegerOfARange) {
  for (const int p : moduli)
    for (std::int64_t x = -20000; x <= 20000; ++x) expect_residue(x, p);
}

TEST(SymmetricResidue, HoldsAtTheEndsOfInt64) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = -(least + 1);
  for (const int p : moduli)
    for (std::int64_t d = 0; d <= 600; ++d) {
      expect_residue(least + d, p);
      expect_residue(most - d, p);
    }
}

TEST(ModularArithmetic, EveryUnitHasItsInverse) {
  for (const int p : moduli)
    for (int a = -2 * p; a <= 2 * p; ++a) {
      if (std::gcd(a, p) != 1) continue;
      const int x = inverse_mod(a, p);
      ASSERT_GE(x, 1);
      ASSERT_LT(x, p);
      ASSERT_EQ(((a * x - 1) % p + p) % p, 0) << a << " modulo " << p;
    }
}

TEST(ModularArithmetic, PowersAndProductsAgreeWithTheirIntegers) {
  std::mt19937_64 generator(1);
  std::uniform_int_distribution<int> any(-1000000, 1000000);
  for (const int p : moduli) {
    for (int e = 0; e <= 300; ++e) {
      const mpz_class power = mpz_class(1) << static_cast<unsigned long>(e);
      const mpz_class rest = power % p;
      ASSERT_EQ(power_of_two_mod(e, p), symmetric_residue(rest.get_si(), p)) << "2^" << e << " modulo " << p;
    }
    for (int repetition = 0; repetition < 1000; ++repetition) {
      const int a = any(generator), b = any(generator);
      const mpz_class rest = mpz_class(a) * b % p;
      ASSERT_EQ(multiply_mod(a, b, p), symmetric_residue(rest.get_si(), p)) << a << " * " << b << " modulo " << p;
    }
  }
}

TEST(ModuliWithRoot, AreCoprimeAndHaveASquareRootOfMinusOne) {
  for (std::size_t i = 0; i < moduli_with_root.size(); ++i) {
    const int p = moduli_with_root[i], root = root_of_minus_one(p);
    EXPECT_GT(root, 0) << p;
    EXPECT_EQ(root * root % p, p - 1) << p;
    EXPECT_EQ(p % 2, 1) << "2 has an inverse";
    for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(std::gcd(p, moduli_with_root[j]), 1) << p;
  }
}

// None larger was left out, by trial of all roots: a test that knows nothing of prime factors.
TEST(ModuliWithRoot, AreTheLargest) {
  EXPECT_TRUE(std::is_sorted(moduli_with_root.rbegin(), moduli_with_root.rend()));
  for (int p = largest_modulus; p >= moduli_with_root.back(); --p) {
    if (p % 2 == 0 || root_of_minus_one(p) == 0) continue;
    EXPECT_TRUE(std::any_of(moduli_with_root.begin(), moduli_with_root.end(),
                            [&](int q) { return q == p || (q > p && std::gcd(p, q) != 1); }))
        << p << " was left out";
  }
}

// (x + iy)(u + iv) by the two products of x +- sy and u +- sv, for every modulus and many numbers.
TEST(ModuliWithRoot, TakeAComplexProductToTwoRealOnes) {
  std::mt19937_64 random(3);
  for (const int p : moduli_with_root) {
    const int s = root_of_minus_one(p), half = (p + 1) / 2;
    for (int round = 0; round < 1000; ++round) {
      const auto any = [&] { return static_cast<int>(random() % static_cast<std::uint64_t>(p)); };
      const int x = any(), y = any(), u = any(), v = any();
      const int plus = multiply_mod(multiply_mod(x + s * y, u + s * v, p), half, p);
      const int minus = multiply_mod(multiply_mod(x + (p - s) * y, u + (p - s) * v, p), half, p);
      EXPECT_EQ(symmetric_residue(plus + minus, p), symmetric_residue(x * u - y * v, p));
      EXPECT_EQ(multiply_mod(plus - minus, p - s, p), symmetric_residue(x * v + y * u, p));
    }
  }
}

}  // namespace
}  // namespace vernier::test::moduli_test
