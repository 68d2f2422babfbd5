// Chinese remainders of eight elements at a time: byte dot products for groups of three moduli (VPDPBUSD), 52-bit
// multiply-adds for the rest (IFMA), and one rounding in the conversion of the leading 64 bits, the last of which is
// sticky.
#include <immintrin.h>

#include "number/ieee754.hpp"
#include "scheme/recombine.hpp"

namespace vernier {
namespace {

constexpr std::uint64_t mask52 = (std::uint64_t{1} << 52) - 1;

inline __m512i set1(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }

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

inline __m512i scaled_exponent(const Leading& c, __m512i row_scales, int column_scale) {
  return _mm512_sub_epi64(c.exponent, _mm512_add_epi64(row_scales, _mm512_set1_epi64(column_scale)));
}

inline void store(const Leading& c, __m512i exponent, double* out) {
  _mm512_store_pd(out, _mm512_scalef_pd(_mm512_cvtepi64_pd(c.significand), _mm512_cvtepi64_pd(exponent)));
}

inline void store(const Leading& c, __m512i exponent, float* out) {
  _mm256_store_ps(out, _mm256_scalef_ps(_mm512_cvtepi64_ps(c.significand), _mm512_cvtepi64_ps(exponent)));
}

template <class T>
void store_rounded(const Leading& c, __m512i row_scales, int column_scale, T* out) {
  const __m512i exponent = scaled_exponent(c, row_scales, column_scale);
  store(c, exponent, out);
  // Where the result may be subnormal the power of two rounds a second time: those lanes are rounded once from the
  // integer.
  const __m512i least = _mm512_set1_epi64(Ieee754<T>::min_exponent);
  const __mmask8 low = _mm512_cmplt_epi64_mask(exponent, least);
  if (__builtin_expect(low == 0, 1)) return;
  alignas(64) std::int64_t significand[8], exponents[8];
  _mm512_store_si512(significand, c.significand);
  _mm512_store_si512(exponents, exponent);
  for (int i = 0; i < 8; ++i) {
    const std::int64_t x = significand[i];
    const auto bits = static_cast<std::uint64_t>(x), magnitude = x < 0 ? 0 - bits : bits;
    if ((low >> i & 1) != 0) out[i] = round_scaled<T>(x < 0, magnitude, static_cast<int>(exponents[i]));
  }
}

// y_g of sixteen rows of four columns: out[column]
inline void group_sums(const RecombineTables& tables, int g, const std::int8_t* residues, std::size_t plane_bytes,
                       __m512i (&out)[4]) {
  const __m512i zero = _mm512_setzero_si512();
  const auto load = [&](int q) {
    if (q >= tables.system.count) return zero;
    const std::int8_t* p = residues + static_cast<std::size_t>(q) * plane_bytes;
    _mm_prefetch(reinterpret_cast<const char*>(p + block_elements), _MM_HINT_T0);  // of the next block
    return _mm512_load_si512(p);
  };
  const __m512i a = load(3 * g), b = load(3 * g + 1), c = load(3 * g + 2);
  const __m512i ab_low = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b);
  const __m512i c_low = _mm512_unpacklo_epi8(c, zero), c_high = _mm512_unpackhi_epi8(c, zero);
  const __m512i triples[4] = {_mm512_unpacklo_epi16(ab_low, c_low), _mm512_unpackhi_epi16(ab_low, c_low),
                              _mm512_unpacklo_epi16(ab_high, c_high), _mm512_unpackhi_epi16(ab_high, c_high)};
  const auto i = static_cast<std::size_t>(g);
  const __m512i low = _mm512_set1_epi32(static_cast<int>(tables.weight_low[i]));
  const __m512i high = _mm512_set1_epi32(static_cast<int>(tables.weight_high[i]));
  const __m512i offset = _mm512_set1_epi32(static_cast<int>(2 * tables.group_product[i]));
  for (int v = 0; v < 4; ++v)
    out[v] = _mm512_add_epi32(_mm512_dpbusd_epi32(offset, low, triples[v]),
                              _mm512_slli_epi32(_mm512_dpbusd_epi32(zero, high, triples[v]), 8));
}

// C from the sums of the groups.
template <class F, Wanted W>
inline auto integer(const RecombineTables& tables, const __m512i* y) {
  if constexpr (F::limbs == 1) {
    const Leading c = one_word_remainder(tables, F::groups_of(tables), y);
    if constexpr (W == Wanted::one_word)
      return c;
    else
      return LongLeading{c.significand, _mm512_setzero_si512(), c.exponent};
  } else {
    __m512i t[F::limbs];
    chinese_remainder<F>(tables, y, t);
    if constexpr (F::limbs == 3)
      return leading_bits_of_two_words<W>(t);
    else if constexpr (F::limbs == 4 && F::groups != 0)
      return leading_bits_of_three_words<W>(t);
    else
      return leading_bits<W>(t);
  }
}

// What becomes of eight rows of one column: T, or the leading bits.
template <class T>
struct RoundedSink {
  static constexpr Wanted wanted = Wanted::one_word;
  const int *row_scales, *column_scales;
  T* tile;

  void put(const Leading& c, int row, int column) const {
    const __m512i rows = _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row_scales + row)));
    store_rounded(c, rows, column_scales[column], tile + column * strip_size + row);
  }
};

struct LeadingSink {
  static constexpr Wanted wanted = Wanted::two_words;
  LeadingTile& tile;

  void put(const LongLeading& c, int row, int column) const {
    const auto at = static_cast<std::size_t>(column * strip_size + row);
    _mm512_store_si512(&tile.high[at], c.high);
    _mm512_store_si512(&tile.low[at], c.low);
    _mm256_store_si256(reinterpret_cast<__m256i*>(&tile.exponent[at]), _mm512_cvtepi64_epi32(c.exponent));
  }
};

template <class F, class Sink>
void recombine(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes, const Sink& sink) {
  const int groups = F::groups_of(tables);
  for (int quad = 0; quad < 16; ++quad) {  // sixteen rows of four columns: 64 bytes a modulus
    const int column = (quad >> 3) * 16 + (quad & 3) * 4, row = (quad >> 2 & 1) * 16;
    __m512i sums[F::max_groups][4];
    for (int g = 0; g < groups; ++g) group_sums(tables, g, residues + 64 * quad, plane_bytes, sums[g]);
    for (int half = 0; half < 2; ++half) {
      for (int v = 0; v < 4; ++v) {
        __m512i y[F::max_groups];
        for (int g = 0; g < groups; ++g)
          y[g] = _mm512_cvtepu32_epi64(half == 0 ? _mm512_castsi512_si256(sums[g][v])
                                                 : _mm512_extracti64x4_epi64(sums[g][v], 1));
        sink.put(integer<F, Sink::wanted>(tables, y), row + 8 * half, column + v);
      }
    }
  }
}

template <class Sink, int Limbs>
auto loop_form(const RecombineTables& tables) {
  return tables.factor_limbs < Limbs ? recombine<Form<Limbs, Limbs - 1, 0>, Sink>
                                     : recombine<Form<Limbs, Limbs, 0>, Sink>;
}

template <class Sink>
auto choose_form(const RecombineTables& tables) {
  if (tables.one_word) return tables.groups == 3 ? recombine<Form<1, 1, 3>, Sink> : recombine<Form<1, 1, 0>, Sink>;
  if (tables.limbs == 3 && tables.factor_limbs <= 2) {
    switch (tables.groups) {
      case 3:
        return recombine<Form<3, 2, 3>, Sink>;  // 8 and 9 moduli; 7, for fp32, are one word
      case 5:
        return recombine<Form<3, 2, 5>, Sink>;  // 13 to 15: fp64
      default:
        return recombine<Form<3, 2, 0>, Sink>;
    }
  }
  switch (tables.limbs) {
    case 3:
      return loop_form<Sink, 3>(tables);
    case 4:
      if (tables.groups == 6 && tables.factor_limbs <= 2) return recombine<Form<4, 2, 6>, Sink>;  // 17, 18: exact
      if (tables.groups == 7 && tables.factor_limbs <= 3) return recombine<Form<4, 3, 7>, Sink>;  // 19 to 21
      if (tables.groups == 8 && tables.factor_limbs <= 3) return recombine<Form<4, 3, 8>, Sink>;  // 22 to 24
      return loop_form<Sink, 4>(tables);
    case 5:
      return loop_form<Sink, 5>(tables);
    case 6:
      return loop_form<Sink, 6>(tables);
    default:
      return loop_form<Sink, 7>(tables);
  }
}

}  // namespace

template <class T>
void recombine_avx512(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                      const int* row_scales, const int* column_scales, T* tile) {
  choose_form<RoundedSink<T>>(tables)(tables, residues, plane_bytes, {row_scales, column_scales, tile});
}

void recombine_leading_avx512(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes,
                              LeadingTile& out) {
  choose_form<LeadingSink>(tables)(tables, residues, plane_bytes, {out});
}

template void recombine_avx512(const RecombineTables&, const std::int8_t*, std::size_t, const int*, const int*,
                               double*);
template void recombine_avx512(const RecombineTables&, const std::int8_t*, std::size_t, const int*, const int*, float*);

}  // namespace vernier
