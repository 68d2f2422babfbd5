#include <immintrin.h>

#include "engine/panel.hpp"
#include "product/native/nonzeros.hpp"

namespace vernier {

void take_nonzeros_avx512(const Operand<double>& strip, Nonzero* terms, std::int64_t* counts) {
  for (int v = 0; v < strip_size; ++v) counts[v] = 0;
  const std::int64_t lines = strip.k_contiguous ? strip.vectors : strip.k,
                     length = strip.k_contiguous ? strip.k : strip.vectors;
  const std::int64_t ahead = strip.k_contiguous ? 0 : 12 * strip.ld;  // each line may lie in another page
  for (std::int64_t line = 0; line < lines; ++line)
    for (std::int64_t first = 0; first < length; first += 8) {
      const double* from = strip.data + line * strip.ld + first;
      _mm_prefetch(reinterpret_cast<const char*>(from + ahead), _MM_HINT_T1);  // faults nowhere
      const __mmask8 there = length - first >= 8 ? 0xff : static_cast<__mmask8>((1 << (length - first)) - 1);
      const __m512d x = _mm512_maskz_loadu_pd(there, from);
      for (unsigned left = _mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_NEQ_UQ); left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const std::int64_t v = strip.k_contiguous ? line : first + i, l = strip.k_contiguous ? first + i : line;
        terms[v * strip.k + counts[v]++] = {from[i], l};
      }
    }
}

void multiply_nonzeros_avx512(const Nonzero* terms, std::int64_t count, const double* panel, double* out) {
  constexpr int registers = strip_size / 8;
  std::int64_t part = 4;  // terms of one; parts go to two sums in turns
  while (2 * part * part < count) part += 4;
  __m512d sum[2][registers];
  for (auto& sums : sum)
    for (__m512d& s : sums) s = _mm512_setzero_pd();
  for (std::int64_t e = 0; e < count;) {
    const std::int64_t end = e + part < count ? e + part : count;
    __m512d of_part[registers];
    for (__m512d& s : of_part) s = _mm512_setzero_pd();
    for (; e < end; ++e) {
      const double* y = panel + terms[e].k * strip_size;
      const __m512d element = _mm512_set1_pd(terms[e].element);
      for (int i = 0; i < registers; ++i) of_part[i] = _mm512_fmadd_pd(element, _mm512_loadu_pd(y + 8 * i), of_part[i]);
    }
    for (int i = 0; i < registers; ++i) {  // the other one next
      const __m512d next = _mm512_add_pd(sum[0][i], of_part[i]);
      sum[0][i] = sum[1][i];
      sum[1][i] = next;
    }
  }
  for (int i = 0; i < registers; ++i) _mm512_storeu_pd(out + 8 * i, _mm512_add_pd(sum[0][i], sum[1][i]));
}

}  // namespace vernier
