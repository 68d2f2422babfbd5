// Words of eight 64-bit integers, and sums and differences of 64 symmetric residues modulo p. For AVX-512 sources only.
#pragma once

#include <immintrin.h>

#include "number/moduli.hpp"

namespace vernier {
namespace {

inline __m512i set1(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }

// Saturation leaves the comparisons right: what it cuts off lies beyond every residue. For p = 256 both corrections are
// zero modulo 256.
struct ByteModulus {
  __m512i modulus, largest, smallest;

  explicit ByteModulus(int p)
      : modulus(_mm512_set1_epi8(static_cast<char>(p))),
        largest(_mm512_set1_epi8(static_cast<char>(largest_residue(p)))),
        smallest(_mm512_set1_epi8(static_cast<char>(smallest_residue(p)))) {}

  __m512i sum(__m512i x, __m512i y) const {
    return corrected(_mm512_add_epi8(x, y), _mm512_cmpgt_epi8_mask(x, _mm512_subs_epi8(largest, y)),
                     _mm512_cmplt_epi8_mask(x, _mm512_subs_epi8(smallest, y)));
  }
  __m512i difference(__m512i x, __m512i y) const {
    return corrected(_mm512_sub_epi8(x, y), _mm512_cmpgt_epi8_mask(x, _mm512_adds_epi8(largest, y)),
                     _mm512_cmplt_epi8_mask(x, _mm512_adds_epi8(smallest, y)));
  }

 private:
  __m512i corrected(__m512i x, __mmask64 above, __mmask64 below) const {
    return _mm512_mask_add_epi8(_mm512_mask_sub_epi8(x, above, x, modulus), below, x, modulus);
  }
};

}  // namespace
}  // namespace vernier
