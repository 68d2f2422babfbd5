// Chinese remainders of eight elements at a time: sums of groups of three moduli -> the integer's leading bits, by
// 52-bit multiply-adds (IFMA). For AVX-512 sources only.
#pragma once

#include <immintrin.h>
#include <algorithm>

#include "number/ieee754.hpp"
#include "residue/convert/bytes_avx512.hpp"
#include "residue/recombine/recombine.hpp"

namespace vernier {

namespace {

constexpr std::uint64_t mask52 = (std::uint64_t{1} << 52) - 1;

// An integer as its leading 63 bits with sign, the last of them sticky if it has more, and the exponent of bit 0.
struct Leading {
  __m512i significand, exponent;
};

// As LeadingTile has it.
struct LongLeading {
  __m512i high, low, exponent;
};

// How much of an integer is wanted: what one rounding to T needs, or two words.
enum class Wanted { one_word, two_words };

template <int Limbs>
inline void propagate(__m512i (&t)[Limbs]) {
  for (int l = 0; l + 1 < Limbs; ++l) {
    t[l + 1] = _mm512_add_epi64(t[l + 1], _mm512_srli_epi64(t[l], 52));
    t[l] = _mm512_and_si512(t[l], set1(mask52));
  }
  t[Limbs - 1] = _mm512_and_si512(t[Limbs - 1], set1(mask52));
}

template <int Limbs>
inline __mmask8 make_magnitude(__m512i (&t)[Limbs]) {
  const __mmask8 negative = _mm512_test_epi64_mask(t[Limbs - 1], set1(std::uint64_t{1} << 51));
  if (negative == 0) return negative;
  for (int l = 0; l < Limbs; ++l) t[l] = _mm512_mask_xor_epi64(t[l], negative, t[l], set1(mask52));
  t[0] = _mm512_mask_add_epi64(t[0], negative, t[0], set1(1));
  propagate(t);
  return negative;
}

inline __m512i with_sticky(__m512i top, __m512i rest) {
  return _mm512_mask_or_epi64(top, _mm512_test_epi64_mask(rest, rest), top, set1(1));
}

// The 64 bits behind the two words that leading_bits makes of the upper three limbs, and what lies behind those too.
template <int Limbs>
inline __m512i below_word(const __m512i (&t)[Limbs]) {
  __m512i word = _mm512_slli_epi64(t[Limbs - 3], 35);
  if constexpr (Limbs > 3) word = _mm512_or_si512(word, _mm512_srli_epi64(t[Limbs - 4], 17));
  return word;
}
template <int Limbs>
inline __m512i rest_of(const __m512i (&t)[Limbs], __m512i rest) {
  if constexpr (Limbs > 3) rest = _mm512_or_si512(rest, _mm512_slli_epi64(t[Limbs - 4], 47));
  for (int l = 0; l < Limbs - 4; ++l) rest = _mm512_or_si512(rest, t[l]);
  return rest;
}

// C from limbs that are its value modulo 2^(52 Limbs), |C| < 2^(52 Limbs - 1).
template <Wanted W, int Limbs>
inline auto leading_bits(__m512i (&t)[Limbs]) {
  static_assert(Limbs > 2);
  propagate(t);
  const __mmask8 negative = make_magnitude(t);
  __m512i exponent = _mm512_set1_epi64(52 * (Limbs - 2));  // of the last bit of t[Limbs - 2]
  for (int step = 0; step < Limbs - 1; ++step) {           // bring the first nonzero limb to the top
    const __mmask8 empty = _mm512_testn_epi64_mask(t[Limbs - 1], t[Limbs - 1]);
    if (empty == 0) break;
    for (int l = Limbs - 1; l > 0; --l) t[l] = _mm512_mask_mov_epi64(t[l], empty, t[l - 1]);
    t[0] = _mm512_mask_mov_epi64(t[0], empty, _mm512_setzero_si512());
    exponent = _mm512_mask_sub_epi64(exponent, empty, exponent, set1(52));
  }
  const __m512i high = _mm512_or_si512(_mm512_slli_epi64(t[Limbs - 1], 11), _mm512_srli_epi64(t[Limbs - 2], 41));
  const __m512i low = _mm512_or_si512(_mm512_slli_epi64(t[Limbs - 2], 23), _mm512_srli_epi64(t[Limbs - 3], 29));
  const __m512i below = rest_of(t, below_word(t));
  // C = 0 has nothing to bring to the top
  const __mmask8 nonzero = _mm512_test_epi64_mask(high, high);
  const __m512i shift = _mm512_maskz_sub_epi64(nonzero, _mm512_lzcnt_epi64(high), set1(1));
  exponent = _mm512_maskz_sub_epi64(nonzero, _mm512_add_epi64(exponent, set1(41)), shift);
  const __m512i zero = _mm512_setzero_si512(), top = _mm512_shldv_epi64(high, low, shift);
  if constexpr (W == Wanted::one_word) {
    const __m512i magnitude = with_sticky(top, _mm512_or_si512(_mm512_sllv_epi64(low, shift), below));
    return Leading{_mm512_mask_sub_epi64(magnitude, negative, zero, magnitude), exponent};
  } else {
    const __m512i next = below_word(t);
    const __m512i rest = with_sticky(_mm512_shldv_epi64(low, next, shift), rest_of(t, _mm512_sllv_epi64(next, shift)));
    const __mmask8 borrow = _mm512_mask_test_epi64_mask(negative, rest, rest);
    const __m512i high_turned =
        _mm512_mask_sub_epi64(_mm512_sub_epi64(zero, top), borrow, _mm512_sub_epi64(zero, top), set1(1));
    return LongLeading{_mm512_mask_mov_epi64(top, negative, high_turned),
                       _mm512_mask_sub_epi64(rest, negative, zero, rest), exponent};
  }
}

// The same for |C| < 2^126, which holds for up to 16 moduli: two words in two's complement.
template <Wanted W>
inline auto leading_bits_of_two_words(const __m512i (&t)[3]) {
  const __m512i middle = _mm512_add_epi64(t[1], _mm512_srli_epi64(t[0], 52));
  const __m512i low = _mm512_or_si512(_mm512_and_si512(t[0], set1(mask52)), _mm512_slli_epi64(middle, 52));
  const __m512i high = _mm512_add_epi64(_mm512_srli_epi64(middle, 12), _mm512_slli_epi64(t[2], 40));
  const __m512i shift =
      _mm512_sub_epi64(_mm512_lzcnt_epi64(_mm512_xor_si512(high, _mm512_srai_epi64(high, 63))), set1(1));
  const __mmask8 one_word = _mm512_cmpeq_epi64_mask(high, _mm512_srai_epi64(low, 63));
  const auto more = static_cast<__mmask8>(~one_word);
  const __m512i exponent = _mm512_maskz_sub_epi64(more, set1(64), shift), rest = _mm512_sllv_epi64(low, shift);
  __m512i top = _mm512_shldv_epi64(high, low, shift);
  if constexpr (W == Wanted::one_word) {
    top = with_sticky(top, rest);
    return Leading{_mm512_mask_mov_epi64(top, one_word, low), exponent};
  } else {
    return LongLeading{_mm512_mask_mov_epi64(top, one_word, low), _mm512_maskz_mov_epi64(more, rest), exponent};
  }
}

// The same for |C| < 2^190, up to 24 moduli: three words in two's complement.
template <Wanted W>
inline auto leading_bits_of_three_words(__m512i (&t)[4]) {
  propagate(t);
  const __m512i w0 = _mm512_or_si512(t[0], _mm512_slli_epi64(t[1], 52));
  __m512i w1 = _mm512_or_si512(_mm512_srli_epi64(t[1], 12), _mm512_slli_epi64(t[2], 40));
  __m512i w2 = _mm512_or_si512(_mm512_srli_epi64(t[2], 24), _mm512_slli_epi64(t[3], 28));
  __m512i below = w0, exponent = set1(128);
  // Words that only repeat the sign of the next one say nothing.
  const __mmask8 two_words = _mm512_cmpeq_epi64_mask(w2, _mm512_srai_epi64(w1, 63));
  __mmask8 one_word = 0;
  if (__builtin_expect(two_words != 0, 0)) {
    one_word = _mm512_mask_cmpeq_epi64_mask(two_words, w1, _mm512_srai_epi64(w0, 63));
    w2 = _mm512_mask_mov_epi64(w2, two_words, w1);
    w1 = _mm512_mask_mov_epi64(w1, two_words, w0);
    below = _mm512_mask_mov_epi64(below, two_words, _mm512_setzero_si512());
    exponent = _mm512_mask_mov_epi64(exponent, two_words, set1(64));
  }
  const __m512i shift = _mm512_sub_epi64(_mm512_lzcnt_epi64(_mm512_xor_si512(w2, _mm512_srai_epi64(w2, 63))), set1(1));
  const auto more = static_cast<__mmask8>(~one_word);
  exponent = _mm512_maskz_sub_epi64(more, exponent, shift);
  const __m512i high = _mm512_shldv_epi64(w2, w1, shift);
  if constexpr (W == Wanted::one_word) {
    const __m512i top = with_sticky(high, _mm512_or_si512(_mm512_sllv_epi64(w1, shift), below));
    return Leading{_mm512_mask_mov_epi64(top, one_word, w1), exponent};
  } else {
    const __m512i low = with_sticky(_mm512_shldv_epi64(w1, below, shift), _mm512_sllv_epi64(below, shift));
    return LongLeading{_mm512_mask_mov_epi64(high, one_word, w1), _mm512_maskz_mov_epi64(more, low), exponent};
  }
}

// C where one word holds it: by tables of P / P_g and of the multiples of P.
inline Leading one_word_remainder(const RecombineTables& tables, int groups, const __m512i* y) {
  __m512i low = _mm512_setzero_si512(), high = low;
#pragma GCC unroll 3
  for (int g = 0; g < groups; ++g) {
    const __m512i factor = set1(tables.group_factor[static_cast<std::size_t>(g)]);
    low = _mm512_madd52lo_epu64(low, y[g], factor);
    high = _mm512_madd52hi_epu64(high, y[g], factor);
  }
  const __m512i sum = _mm512_add_epi64(low, _mm512_slli_epi64(high, 52));
  const __m512d kappa = _mm512_fmadd_pd(_mm512_cvtepi64_pd(sum), _mm512_set1_pd(tables.inverse_product),
                                        _mm512_set1_pd(0x1.8p52));  // the low bits are the nearest integer
  const __m512i multiple =
      _mm512_permutex2var_epi64(_mm512_loadu_si512(tables.multiple.data()), _mm512_castpd_si512(kappa),
                                _mm512_loadu_si512(tables.multiple.data() + 8));
  return {_mm512_sub_epi64(sum, multiple), _mm512_setzero_si512()};
}

// How much of the recombination is known when it is compiled: the usual cases are unrolled, Groups = 0 loops.
template <int LimbCount, int FactorLimbCount, int GroupCount>
struct Form {
  static constexpr int limbs = LimbCount, factor_limbs = FactorLimbCount, groups = GroupCount;
  static constexpr int max_groups = groups != 0 ? groups + groups % 2 : 2 * RecombineTables::max_pairs;
  static int groups_of(const RecombineTables& tables) { return groups != 0 ? groups : tables.groups; }
};

// C + kappa P from the sums y of the groups, then C modulo 2^(52 limbs), limbs not normalised.
template <class F>
inline void chinese_remainder(const RecombineTables& tables, const __m512i* y, __m512i (&t)[F::limbs]) {
  constexpr int Limbs = F::limbs;
  for (auto& x : t) x = _mm512_setzero_si512();
  const int groups = F::groups_of(tables);
#pragma GCC unroll 4
  for (int g = 0; g < groups; g += 2) {
    const auto i = static_cast<std::size_t>(g);
    __m512i z = y[g];
    if (g + 1 < groups) {
      z = _mm512_madd52lo_epu64(_mm512_setzero_si512(), z, set1(tables.group_product[i + 1]));
      z = _mm512_madd52lo_epu64(z, y[g + 1], set1(tables.group_product[i]));
    }
    const auto& factor = tables.pair_factor[i / 2];
    for (int l = 0; l < F::factor_limbs; ++l) {
      const __m512i f = set1(factor[static_cast<std::size_t>(l)]);
      t[l] = _mm512_madd52lo_epu64(t[l], z, f);
      if (l + 1 < Limbs) t[l + 1] = _mm512_madd52hi_epu64(t[l + 1], z, f);
    }
  }
  const __m512d inverse = _mm512_set1_pd(tables.inverse_top), inverse52 = _mm512_set1_pd(tables.inverse_top * 0x1p52);
  __m512d kappa = _mm512_mul_pd(_mm512_cvtepu64_pd(t[Limbs - 2]), inverse);
  // With five groups and more, what the third limb from the top holds is below 2^-26 P.
  if constexpr (F::groups < 5)
    kappa = _mm512_fmadd_pd(_mm512_cvtepu64_pd(t[Limbs - 3]), _mm512_set1_pd(tables.inverse_top * 0x1p-52), kappa);
  kappa = _mm512_fmadd_pd(_mm512_cvtepu64_pd(t[Limbs - 1]), inverse52, kappa);
  kappa = _mm512_add_pd(kappa, _mm512_set1_pd(0x1.8p52));  // the low bits are the nearest integer
  const __m512i multiple = _mm512_and_si512(_mm512_castpd_si512(kappa), set1(255));
  for (int l = 0; l < Limbs; ++l) {
    const __m512i m = set1(tables.minus_product[static_cast<std::size_t>(l)]);
    t[l] = _mm512_madd52lo_epu64(t[l], multiple, m);
    if (l + 1 < Limbs) t[l + 1] = _mm512_madd52hi_epu64(t[l + 1], multiple, m);
  }
}

// ---- C / P of eight elements as a fraction, and C rounded once from it where the fraction leaves no doubt

// RN(C), and bits that are set where it may be another number.
struct Rounded {
  __m512d value;
  __m512i doubt;
};

// C / P = sum z / (P_1 P_2) modulo 1 from the sums y of the groups, each with its 2 P_g (docs/accuracy.md, theorem 4).
// The multiples of P that the sum holds are the integer part, what lies above 47 bits: they are shifted out.
inline Rounded round_by_fraction(const FractionTables& tables, int groups, const __m512i* y) {
  __m512i high = _mm512_setzero_si512();  // units of 2^-47; low: of 2^-99
  __m512i low = _mm512_set1_epi64(-FractionTables::error);
#pragma GCC unroll 3
  for (int g = 0; g < groups; g += 2) {
    const auto i = static_cast<std::size_t>(g);
    __m512i z = _mm512_madd52lo_epu64(_mm512_setzero_si512(), y[g], set1(tables.multiplier[i]));
    if (g + 1 < groups) z = _mm512_madd52lo_epu64(z, y[g + 1], set1(tables.multiplier[i + 1]));
    const __m512i leading = set1(tables.inverse_high[i / 2]), next = set1(tables.inverse_low[i / 2]);
    high = _mm512_madd52hi_epu64(high, z, leading);
    low = _mm512_madd52lo_epu64(low, z, leading);
    low = _mm512_madd52hi_epu64(low, z, next);
  }
  const __m512d x = _mm512_cvtepi64_pd(_mm512_slli_epi64(high, 17)), rest = _mm512_cvtepi64_pd(low);
  const __m512d product = _mm512_set1_pd(tables.product);
  const __m512d c = _mm512_mul_pd(x, product);
  __m512d below = _mm512_fmsub_pd(x, product, c);
  below = _mm512_fmadd_pd(x, _mm512_set1_pd(tables.product_rest), below);
  below = _mm512_fmadd_pd(rest, _mm512_set1_pd(tables.unit), below);
  const __m512d least = _mm512_add_pd(c, below);
  const __m512d most = _mm512_add_pd(c, _mm512_add_pd(below, _mm512_set1_pd(tables.width)));
  return {least, _mm512_xor_si512(_mm512_castpd_si512(least), _mm512_castpd_si512(most))};
}

// Scales of a block as what they add to the exponent field of a double, modulo its 12 bits.
struct ExponentFields {
  alignas(64) std::int64_t rows[strip_size], columns[strip_size];
  bool serve = false;  // all results are normal numbers

  ExponentFields(const RecombineTables& tables, const int* row_scales, const int* column_scales) {
    const auto [row_least, row_most] = std::minmax_element(row_scales, row_scales + strip_size);
    const auto [column_least, column_most] = std::minmax_element(column_scales, column_scales + strip_size);
    serve = *row_most + *column_most <= -Ieee754<double>::min_exponent &&
            tables.system.product.bit_width() - 1 - (*row_least + *column_least) <= Ieee754<double>::max_exponent;
    for (int i = 0; i < strip_size; ++i) rows[i] = field(row_scales[i]), columns[i] = field(column_scales[i]);
  }

 private:
  static std::int64_t field(int scale) {
    return static_cast<std::int64_t>((std::uint64_t{0} - static_cast<std::uint64_t>(std::int64_t{scale}))
                                     << (Ieee754<double>::precision - 1));
  }
};

}  // namespace

}  // namespace vernier
