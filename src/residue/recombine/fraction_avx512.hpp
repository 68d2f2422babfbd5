// C / P of eight elements as a fraction, and C rounded once from it where the fraction leaves no doubt. For AVX-512
// sources only.
#pragma once

#include <immintrin.h>

#include <algorithm>

#include "number/ieee754.hpp"
#include "residue/recombine/recombine.hpp"

namespace vernier {
namespace {

// RN(C), and bits that are set where it may be another number.
struct Rounded {
  __m512d value;
  __m512i doubt;
};

// C / P = sum z / (P_1 P_2) modulo 1 from the sums y of the groups, each with its 2 P_g (docs/accuracy.md, theorem 4).
// The multiples of P that the sum holds are the integer part, what lies above 47 bits: they are shifted out.
inline Rounded round_by_fraction(const FractionTables& tables, int groups, const __m512i* y) {
  const auto set1 = [](std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); };
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
