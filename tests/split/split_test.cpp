// Splitting into low-precision parts: what is kept, and how often the second part underflows (Ootomo and Yokota 2021,
// sections 3.1 and 3.3).
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "split/schemes.hpp"

namespace vernier::split_test {
namespace {

using split::find_scheme;
using split::Scheme;

float from_word(const Scheme& s, std::uint64_t word) {
  return from_low(split_rule(s).low, static_cast<std::uint32_t>(word));
}

// sum_p 2^-shift_p part_p, exactly.
double kept(const Scheme& s, float v) {
  std::uint64_t words[max_split_parts];
  split::split(s, v, words);
  double sum = 0;
  for (std::size_t p = 0; p < s.shifts.size(); ++p) sum += std::ldexp(from_word(s, words[p]), -s.shifts[p]);
  return sum;
}

// 23, or fewer: the fraction bits of v that the sum of its parts has; the papers' "len".
int kept_bits(const Scheme& s, float v) {
  const double error = std::abs(kept(s, v) - v);
  if (error == 0) return 23;
  return std::ilogb(v) - std::ilogb(error) - 1;
}

double mean_kept_bits(const Scheme& s) {
  std::mt19937 random(7);
  double sum = 0;
  const int count = 400000;
  for (int i = 0; i < count; ++i) {
    sum += kept_bits(s, word_float(0x3f800000u | (random() & 0x7fffff)));
  }
  return sum / count;
}

TEST(Split, TwoPartsKeep22AndThreeQuartersBitsOnAverage) {
  for (const char* name : {"markidis", "halfhalf", "tf32tf32"})
    EXPECT_NEAR(mean_kept_bits(find_scheme(name)), 22.75, 0.005) << name;
}

TEST(Split, RoundSplitKeepsNoMoreThanTwoRoundings) {
  EXPECT_NEAR(mean_kept_bits(find_scheme("egemm")), mean_kept_bits(find_scheme("markidis")), 0.005);
}

TEST(Split, ThreeBf16PartsKeepEverything) { EXPECT_EQ(mean_kept_bits(find_scheme("bf16x9")), 23); }

TEST(Split, LosesAtMostTheLastBit) {
  std::mt19937 random(3);
  for (const char* name : {"halfhalf", "tf32tf32", "halfhalf_sep", "tf32tf32_sep"}) {
    const Scheme& s = find_scheme(name);
    for (int i = 0; i < 100000; ++i) {
      const float v = word_float(0x3f800000u | (random() & 0x7fffff));
      ASSERT_LE(std::abs(kept(s, v) - v), 0x1p-23) << name << ' ' << v;
    }
  }
}

TEST(Split, KnownParts) {
  std::uint64_t w[max_split_parts];
  split::split(find_scheme("halfhalf"), 1 + 0x1p-11f, w);  // a tie: to even, and the rest comes back as +2^-11 2^11
  EXPECT_EQ(w[0], 0x3c00u);
  EXPECT_EQ(w[1], 0x3c00u);
  split::split(find_scheme("egemm"), 1 + 0x1p-11f, w);  // away: the rest is negative
  EXPECT_EQ(w[0], 0x3c01u);
  EXPECT_EQ(from_word(find_scheme("egemm"), w[1]), -0x1p-11f);
  split::split(find_scheme("tf32tf32"), -(1 + 0x1p-11f), w);
  EXPECT_EQ(w[0], float_word(-(1 + 0x1p-10f)));
  EXPECT_EQ(w[1], float_word(1.0f));
  split::split(find_scheme("bf16x9"), 1 + 0x1p-9f + 0x1p-17f, w);  // 1, 2^-1 2^-8, 2^-1 2^-16
  EXPECT_EQ(w[0], 0x3f80u);
  EXPECT_EQ(w[1], 0x3f00u);
  EXPECT_EQ(w[2], 0x3f00u);
}

// P(l0 = n) = 2^-(n + 1) for n < 13 zeros after the kept bits, 2^-13 for all thirteen.
double probability_of_zeros_at_least(int n) { return n <= 0 ? 1 : n <= 13 ? std::ldexp(1.0, -n) : 0; }

TEST(Split, SecondPartUnderflowsAsOftenAsThePapersSay) {
  // Rounding toward zero throughout, as the papers assume for these formulas.
  Scheme cut = find_scheme("markidis");
  cut.first_rounding = cut.rest_rounding = model::Rounding::toward_zero;
  std::mt19937 random(11);
  const int count = 200000;
  for (int e = -14; e <= 12; ++e) {
    int tiny = 0, gone = 0;
    for (int i = 0; i < count; ++i) {
      std::uint64_t w[max_split_parts];
      split::split(cut, std::ldexp(word_float(0x3f800000u | (random() & 0x7fffff)), e), w);
      tiny += (w[1] & 0x7c00) == 0;
      gone += (w[1] & 0x7fff) == 0;
    }
    // e - (l0 + 11) <= -15, and e - (l0 + 1) <= -15; no remainder at all counts as l0 = 13.
    const double gradual = probability_of_zeros_at_least(std::min(13, e + 4));
    const double full = probability_of_zeros_at_least(std::min(13, e + 14));
    EXPECT_NEAR(tiny / double{count}, gradual, 4 * std::sqrt(gradual / count) + 1e-12) << "e = " << e;
    EXPECT_NEAR(gone / double{count}, full, 4 * std::sqrt(full / count) + 1e-12) << "e = " << e;
  }
}

TEST(Split, ScalingByTwoToTheEleventhRemovesTheUnderflow) {
  const Scheme& s = find_scheme("halfhalf");
  std::mt19937 random(5);
  for (int e = -14; e <= 14; ++e)
    for (int i = 0; i < 20000; ++i) {
      const float v = std::ldexp(word_float(0x3f800000u | (random() & 0x7fffff)), e);
      ASSERT_LE(std::abs(kept(s, v) - v), std::ldexp(1.0, std::max(e - 23, -36))) << v;
    }
}

TEST(SplitScale, BringsTheLargestElementInto14) {
  for (float x : {0x1p-149f, 0x1.8p-140f, 0x1p-126f, 1.0f, 0x1.fffffep127f, 3e-30f}) {
    const int s = split_scale(float_word(x));
    EXPECT_EQ(std::ilogb(std::ldexp(double{x}, s)), scaled_exponent) << x;
    EXPECT_EQ(SplitScale(s)(x), std::ldexp(double{x}, s)) << x;
  }
  EXPECT_EQ(split_scale(0), 0);
  EXPECT_EQ(split_scale(0x7f800000u), 0);
}

TEST(SplitScale, UnscalingRoundsOnce) {
  std::mt19937 random(9);
  for (int i = 0; i < 400000; ++i) {
    const int e = static_cast<int>(random() % 553) - 326;  // all that two scales can ask for
    const int ex = static_cast<int>(random() % 120) - 60;
    const float x = std::ldexp(word_float(0x3f800000u | (random() & 0x7fffff)), ex) * (random() % 2 ? 1 : -1);
    const float expected = static_cast<float>(std::ldexp(double{x}, e));
    ASSERT_EQ(float_word(unscale(x, e)), float_word(expected)) << x << " e = " << e;
  }
}

TEST(SplitSchemes, UnknownNamesAreErrors) { EXPECT_THROW(find_scheme("halfquarter"), Error); }

TEST(SplitSchemes, EveryTermNamesPartsAndSumsThatExist) {
  for (const Scheme& s : split::schemes()) {
    for (const split::Term& t : s.terms) {
      EXPECT_LT(std::max(t.a, t.b), static_cast<int>(s.shifts.size())) << s.name;
      ASSERT_LT(t.sum, static_cast<int>(s.sums.size())) << s.name;
      const auto at = [&](int p) { return s.shifts[static_cast<std::size_t>(p)]; };
      EXPECT_EQ(at(t.a) + at(t.b), s.sums[static_cast<std::size_t>(t.sum)].shift) << s.name;
    }
    for (std::size_t q = 1; q < s.sums.size(); ++q) {
      const split::Sum& before = s.sums[q - 1];
      if (before.carry == split::Carry::none)
        EXPECT_GT(s.sums[q].shift, before.shift) << s.name;
      else
        EXPECT_EQ(s.sums[q].shift, before.shift) << s.name;
    }
  }
}

}  // namespace
}  // namespace vernier::split_test
