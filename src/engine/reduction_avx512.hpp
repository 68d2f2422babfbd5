// The reduction of reduction.hpp, 16 sums a register. For AVX-512 sources only.
#pragma once

#include <immintrin.h>

#include "engine/reduction.hpp"

namespace vernier {
namespace {

// p = 256 is nothing special: whatever multiple of 256 is taken off, the low byte is right, and only that is kept.
struct VectorReduction {
  __m512 inverse;
  __m512i minus_modulus;               // 16 bits in each dword
  __m512i modulus, smallest, largest;  // 16 bits each
  bool correct;                        // the quotient may be off by one: |remainder| < 3/2 p
  bool accumulate;
};

inline VectorReduction make_vector_reduction(int modulus, std::int64_t k, bool accumulate) {
  return {_mm512_set1_ps(1.0f / static_cast<float>(modulus)),
          _mm512_set1_epi32(-modulus & 0xffff),
          _mm512_set1_epi16(static_cast<short>(modulus)),
          _mm512_set1_epi16(static_cast<short>(smallest_residue(modulus))),
          _mm512_set1_epi16(static_cast<short>(largest_residue(modulus))),
          !fp32_quotient_is_exact(modulus, accumulate ? k + 1 : k),  // an old residue is less than another product
          accumulate};
}

// 16 sums to remainders, in the low 16 bits of each dword.
inline __m512i remainder16(__m512i x, const VectorReduction& r) {
  const __m512 magic = _mm512_set1_ps(0x1.8p23f);  // leaves the nearest integer in the low bits of the significand
  const __m512 quotient = _mm512_fmadd_ps(_mm512_cvtepi32_ps(x), r.inverse, magic);
  return _mm512_dpwssd_epi32(x, _mm512_castps_si512(quotient), r.minus_modulus);
}

inline __m512i to_symmetric(__m512i x, const VectorReduction& r) {
  x = _mm512_mask_sub_epi16(x, _mm512_cmpgt_epi16_mask(x, r.largest), x, r.modulus);
  return _mm512_mask_add_epi16(x, _mm512_cmplt_epi16_mask(x, r.smallest), x, r.modulus);
}

inline __m512i transpose_4x4_bytes(__m512i x) {  // in each 16 bytes
  const __m128i order = _mm_set_epi8(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  return _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(order));
}

// One unit: 16 rows of each of four columns. Old residues are added to the sums, byte c of each row's four to column c.
inline __attribute__((always_inline)) void reduce_unit(__m512i column0, __m512i column1, __m512i column2,
                                                       __m512i column3, const VectorReduction& r, std::int8_t* out) {
  if (r.accumulate) {
    const __m512i old = transpose_4x4_bytes(_mm512_load_si512(out));
    column0 = _mm512_dpbusd_epi32(column0, _mm512_set1_epi32(1), old);
    column1 = _mm512_dpbusd_epi32(column1, _mm512_set1_epi32(1 << 8), old);
    column2 = _mm512_dpbusd_epi32(column2, _mm512_set1_epi32(1 << 16), old);
    column3 = _mm512_dpbusd_epi32(column3, _mm512_set1_epi32(1 << 24), old);
  }
  const __m512i upper0 = _mm512_slli_epi32(remainder16(column2, r), 16);
  const __m512i upper1 = _mm512_slli_epi32(remainder16(column3, r), 16);
  __m512i even = _mm512_mask_blend_epi16(0xaaaaaaaa, remainder16(column0, r), upper0);
  __m512i odd = _mm512_mask_blend_epi16(0xaaaaaaaa, remainder16(column1, r), upper1);
  if (r.correct) {
    even = to_symmetric(even, r);
    odd = to_symmetric(odd, r);
  }
  const __m512i bytes = _mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaaull, even, _mm512_slli_epi16(odd, 8));
  _mm512_store_si512(out, transpose_4x4_bytes(bytes));
}

}  // namespace
}  // namespace vernier
