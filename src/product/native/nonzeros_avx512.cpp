#include <immintrin.h>

#include "engine/panel.hpp"
#include "product/native/nonzeros.hpp"

namespace vernier {

void take_nonzeros_avx512(const Operand<double>& strip, std::int64_t most, double* elements, std::uint32_t* ks,
                          std::int64_t* counts) {
  for (int v = 0; v < strip_size; ++v) counts[v] = 0;
  const __m512d zero = _mm512_setzero_pd();
  const auto mask_of = [](std::int64_t count) { return static_cast<__mmask8>(count >= 8 ? 0xff : (1 << count) - 1); };
  if (strip.k_contiguous) {
    for (std::int64_t v = 0; v < strip.vectors; ++v) {
      std::int64_t count = 0;
      for (std::int64_t l = 0; l < strip.k; l += 8) {
        const __m512d x = _mm512_maskz_loadu_pd(mask_of(strip.k - l), strip.data + v * strip.ld + l);
        const __mmask8 nonzero = _mm512_cmp_pd_mask(x, zero, _CMP_NEQ_UQ);
        const __m256i at =
            _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(l)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        _mm512_mask_compressstoreu_pd(elements + v * most + count, nonzero, x);
        _mm256_mask_compressstoreu_epi32(ks + v * most + count, nonzero, at);
        count += _mm_popcnt_u32(nonzero);
      }
      counts[v] = count;
    }
    return;
  }
  for (std::int64_t l = 0; l < strip.k; ++l)
    for (std::int64_t first = 0; first < strip.vectors; first += 8) {
      const double* from = strip.data + l * strip.ld + first;
      const __m512d x = _mm512_maskz_loadu_pd(mask_of(strip.vectors - first), from);
      for (unsigned nonzero = _mm512_cmp_pd_mask(x, zero, _CMP_NEQ_UQ); nonzero != 0; nonzero &= nonzero - 1) {
        const int i = __builtin_ctz(nonzero);
        const std::int64_t to = (first + i) * most + counts[first + i]++;
        elements[to] = from[i];
        ks[to] = static_cast<std::uint32_t>(l);
      }
    }
}

void multiply_nonzeros_avx512(const Nonzeros& x, const double* panel, double* out) {
  constexpr int registers = strip_size / 8;
  std::int64_t part = 8;  // terms of one, about the root of all
  while (part * part < x.count) part += 8;
  __m512d sum[registers];
  for (__m512d& s : sum) s = _mm512_setzero_pd();
  for (std::int64_t e = 0; e < x.count;) {
    const std::int64_t end = e + part < x.count ? e + part : x.count;
    __m512d of_part[registers];
    for (__m512d& s : of_part) s = _mm512_setzero_pd();
    for (; e < end; ++e) {
      const double* y = panel + static_cast<std::int64_t>(x.ks[e]) * strip_size;
      const __m512d element = _mm512_set1_pd(x.elements[e]);
      for (int i = 0; i < registers; ++i) of_part[i] = _mm512_fmadd_pd(element, _mm512_loadu_pd(y + 8 * i), of_part[i]);
    }
    for (int i = 0; i < registers; ++i) sum[i] = _mm512_add_pd(sum[i], of_part[i]);
  }
  for (int i = 0; i < registers; ++i) _mm512_storeu_pd(out + 8 * i, sum[i]);
}

}  // namespace vernier
