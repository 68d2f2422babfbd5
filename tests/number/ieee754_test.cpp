#include "number/ieee754.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <random>

#include "support/compare.hpp"

namespace vernier::test::ieee754_test {
namespace {

template <class T>
class Ieee754Test : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Ieee754Test, Types);

// The one rounding as MPFR has it.
template <class T>
T rounded_by_mpfr(bool negative, std::uint64_t significand, int exponent) {
  mpfr_t x;
  mpfr_init2(x, 64);
  mpfr_set_ui_2exp(x, significand, exponent, MPFR_RNDN);
  if (negative) mpfr_neg(x, x, MPFR_RNDN);
  T result;
  if constexpr (sizeof(T) == 4)
    result = mpfr_get_flt(x, MPFR_RNDN);
  else
    result = mpfr_get_d(x, MPFR_RNDN);
  mpfr_clear(x);
  return result;
}

template <class T>
void expect_rounded(std::uint64_t significand, int exponent) {
  for (const bool negative : {false, true}) {
    const T got = round_scaled<T>(negative, significand, exponent);
    const T expected = rounded_by_mpfr<T>(negative, significand, exponent);
    ASSERT_EQ(bits_of(got), bits_of(expected))
        << significand << " * 2^" << exponent << ": got " << described(got) << ", expected " << described(expected);
  }
}

// Around the smallest numbers, where they become normal, one, and the largest: exponents of the leading bit.
template <class T>
std::vector<int> leading_exponents() {
  using F = Ieee754<T>;
  std::vector<int> list;
  for (int d = -4; d <= 4; ++d)
    for (const int e :
         {F::min_exponent - F::precision + 1, F::min_exponent - F::precision / 2, F::min_exponent, 0, F::max_exponent})
      list.push_back(e + d);
  for (const int e : {-5000, -F::max_exponent * 2, F::max_exponent * 2, 5000}) list.push_back(e);
  return list;
}

TYPED_TEST(Ieee754Test, RoundsRandomIntegersOnce) {
  std::mt19937_64 generator(1);
  for (const int leading : leading_exponents<TypeParam>())
    for (int repetition = 0; repetition < 500; ++repetition) {
      const std::uint64_t significand = generator() >> (generator() % 64);
      expect_rounded<TypeParam>(significand, leading + 1 - static_cast<int>(std::bit_width(significand)));
    }
}

// A kept part, then a rest of exactly one half, a little less and a little more: every length of the kept part.
TYPED_TEST(Ieee754Test, RoundsTiesToEvenAndTheirNeighboursApart) {
  std::mt19937_64 generator(2);
  for (const int leading : leading_exponents<TypeParam>())
    for (int kept_bits = 1; kept_bits <= 62; ++kept_bits)
      for (int repetition = 0; repetition < 4; ++repetition) {
        const std::uint64_t top = std::uint64_t{1} << (kept_bits - 1);
        const std::uint64_t kept = top | (generator() & (top - 1));
        const std::uint64_t tie = (kept << (64 - kept_bits)) | (std::uint64_t{1} << (63 - kept_bits));
        for (const std::uint64_t x : {tie - 1, tie, tie + 1}) expect_rounded<TypeParam>(x, leading - 63);
      }
}

// All ones: the carry runs through the significand into the exponent, and from the largest number into infinity.
TYPED_TEST(Ieee754Test, CarriesIntoTheNextBinadeAndIntoInfinity) {
  for (const int leading : leading_exponents<TypeParam>())
    for (int ones = 1; ones <= 64; ++ones) {
      const std::uint64_t x = ~std::uint64_t{0} << (64 - ones);
      expect_rounded<TypeParam>(x, leading - 63);
      if (ones < 64) expect_rounded<TypeParam>(x | 1, leading - 63);
    }
  using F = Ieee754<TypeParam>;
  const std::uint64_t largest = (std::uint64_t{1} << F::precision) - 1;
  EXPECT_EQ(round_scaled<TypeParam>(false, largest, last_bit_exponent<TypeParam>(F::max_exponent)),
            std::numeric_limits<TypeParam>::max());
  EXPECT_EQ(round_scaled<TypeParam>(true, 2 * largest + 1, last_bit_exponent<TypeParam>(F::max_exponent) - 1),
            -std::numeric_limits<TypeParam>::infinity());
}

TYPED_TEST(Ieee754Test, RoundsHalfOfTheSmallestNumberToZero) {
  const int least = last_bit_exponent<TypeParam>(-5000);
  EXPECT_EQ(round_scaled<TypeParam>(false, 1, least), std::numeric_limits<TypeParam>::denorm_min());
  EXPECT_EQ(bits_of(round_scaled<TypeParam>(false, 1, least - 1)), bits_of(TypeParam{0}));
  EXPECT_EQ(bits_of(round_scaled<TypeParam>(true, 1, least - 1)), bits_of(-TypeParam{0}));
  EXPECT_EQ(round_scaled<TypeParam>(false, (std::uint64_t{1} << 62) + 1, least - 63),
            std::numeric_limits<TypeParam>::denorm_min());
  EXPECT_EQ(bits_of(round_scaled<TypeParam>(true, 0, 17)), bits_of(-TypeParam{0}));
}

// An integer of 200 bits cut to 64 with a sticky last bit rounds as the whole integer does.
TYPED_TEST(Ieee754Test, AStickyLastBitStandsForAllBitsCutOff) {
  std::mt19937_64 generator(3);
  mpz_t whole;
  mpz_init(whole);
  mpfr_t x;
  mpfr_init2(x, 256);
  for (const int leading : leading_exponents<TypeParam>())
    for (int repetition = 0; repetition < 300; ++repetition) {
      const int kept = static_cast<int>(generator() % 60) + 1;  // then a tie, and below it nothing or a single bit
      mpz_set_ui(whole, (generator() | (std::uint64_t{1} << 63)) >> (64 - kept));
      mpz_mul_2exp(whole, whole, 1);
      if (repetition % 4 != 0) mpz_add_ui(whole, whole, 1);
      mpz_mul_2exp(whole, whole, static_cast<mp_bitcnt_t>(199 - kept));
      if (repetition % 2 != 0) mpz_add_ui(whole, whole, 1);
      mpfr_set_z_2exp(x, whole, leading - 199, MPFR_RNDN);
      const auto expected =
          static_cast<TypeParam>(sizeof(TypeParam) == 4 ? mpfr_get_flt(x, MPFR_RNDN) : mpfr_get_d(x, MPFR_RNDN));
      const bool sticky = mpz_scan1(whole, 0) < 136;
      mpz_tdiv_q_2exp(whole, whole, 136);
      const auto got = round_scaled<TypeParam>(false, mpz_get_ui(whole) | (sticky ? 1 : 0), leading - 63);
      ASSERT_EQ(bits_of(got), bits_of(expected)) << described(got) << ", expected " << described(expected);
    }
  mpfr_clear(x);
  mpz_clear(whole);
}

TYPED_TEST(Ieee754Test, ExponentsAreThoseOfTheLibrary) {
  using F = Ieee754<TypeParam>;
  for (int e = F::min_exponent - F::precision + 1; e <= F::max_exponent; ++e) {
    const TypeParam power = std::ldexp(TypeParam{1}, e);
    for (const TypeParam x : {power, std::nextafter(2 * power, TypeParam{0}), -power}) {
      if (!std::isfinite(x)) continue;
      ASSERT_EQ(exponent_of<TypeParam>(magnitude_bits(x)), std::ilogb(x)) << described(x);
    }
    if (e == F::max_exponent) continue;
    const TypeParam above = std::nextafter(power, std::numeric_limits<TypeParam>::infinity());
    ASSERT_EQ(last_bit_exponent<TypeParam>(e), std::ilogb(above - power)) << "2^" << e;
  }
}

}  // namespace
}  // namespace vernier::test::ieee754_test
