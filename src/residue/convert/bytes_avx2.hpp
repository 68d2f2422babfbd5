// Sums and differences of 32 symmetric residues modulo p. For AVX2 sources only.
#pragma once

#include <immintrin.h>

#include "number/moduli.hpp"

namespace vernier {
namespace {

// As in bytes_avx512.hpp: saturation leaves the comparisons right, and for p = 256 both corrections are zero.
struct ByteModulus {
  __m256i modulus, largest, smallest;

  explicit ByteModulus(int p)
      : modulus(_mm256_set1_epi8(static_cast<char>(p))),
        largest(_mm256_set1_epi8(static_cast<char>(largest_residue(p)))),
        smallest(_mm256_set1_epi8(static_cast<char>(smallest_residue(p)))) {}

  __m256i sum(__m256i x, __m256i y) const {
    return corrected(_mm256_add_epi8(x, y), _mm256_cmpgt_epi8(x, _mm256_subs_epi8(largest, y)),
                     _mm256_cmpgt_epi8(_mm256_subs_epi8(smallest, y), x));
  }
  __m256i difference(__m256i x, __m256i y) const {
    return corrected(_mm256_sub_epi8(x, y), _mm256_cmpgt_epi8(x, _mm256_adds_epi8(largest, y)),
                     _mm256_cmpgt_epi8(_mm256_adds_epi8(smallest, y), x));
  }

 private:
  __m256i corrected(__m256i x, __m256i above, __m256i below) const {
    return _mm256_add_epi8(_mm256_sub_epi8(x, _mm256_and_si256(above, modulus)), _mm256_and_si256(below, modulus));
  }
};

inline __m256i load_bytes(const std::int8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
inline void store_bytes(std::int8_t* p, __m256i x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }

}  // namespace
}  // namespace vernier
