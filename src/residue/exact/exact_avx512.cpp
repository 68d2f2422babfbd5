// The rounding test of eight entries at a time, for alpha a power of two and beta = 0; all else entry by entry.
#include <immintrin.h>

#include <cmath>

#include "residue/convert/bytes_avx512.hpp"
#include "residue/exact/exact_loop.hpp"

namespace vernier {
namespace {

// The bits of high : low that are rounded off, at the top of a word.
template <class T>
inline __m512i rounding_bits(__m512i high, __m512i low) {
  return _mm512_shldi_epi64(high, low, Ieee754<T>::precision + 1);
}

// Mode: of _MM_FROUND, for the rounding and for what overflows.
template <int Mode>
inline void store(__m512i significand, __m512i exponent, __m512i sign, __mmask8 mask, double* out) {
  const __m512d x =
      _mm512_scalef_round_pd(_mm512_cvt_roundepi64_pd(significand, Mode), _mm512_cvtepi64_pd(exponent), Mode);
  _mm512_mask_storeu_pd(out, mask, _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(x), sign)));
}

template <int Mode>
inline void store(__m512i significand, __m512i exponent, __m512i sign, __mmask8 mask, float* out) {
  const __m512 rounded = _mm512_castps256_ps512(_mm512_cvt_roundepi64_ps(significand, Mode)),
               scale = _mm512_castps256_ps512(_mm512_cvtepi64_ps(exponent));
  const __m256 x = _mm512_castps512_ps256(_mm512_scalef_round_ps(rounded, scale, Mode));
  const __m256i sign32 = _mm512_cvtepi64_epi32(_mm512_srli_epi64(sign, 32));
  _mm256_mask_storeu_ps(out, mask, _mm256_castsi256_ps(_mm256_xor_si256(_mm256_castps_si256(x), sign32)));
}

inline constexpr int no_exceptions = _MM_FROUND_NO_EXC, to_nearest = _MM_FROUND_TO_NEAREST_INT | no_exceptions;

template <class T, int Mode>
class FastTile {
 public:
  FastTile(const ExactTile<T>& tile, const LeadingTile& integers)
      : tile_(tile),
        integers_(integers),
        negate_(_mm512_set1_epi64(tile.to.alpha < 0 ? std::numeric_limits<std::int64_t>::min() : 0)),
        alpha_exponent_(std::ilogb(tile.to.alpha)) {}

  // Rows i .. i + 7 of column j, those in the mask: writes the decided ones and returns the undecided.
  __mmask8 round(int i, int j, __mmask8 mask) const {
    const auto at = static_cast<std::size_t>(j * strip_size + i);
    const __m512i high = _mm512_load_si512(&integers_.high[at]), low = _mm512_load_si512(&integers_.low[at]);
    const __m512i unit = widen(&integers_.exponent[at]);
    const __m512i exponent = _mm512_sub_epi64(
        unit,
        _mm512_add_epi64(widen(tile_.row_scales + i), _mm512_set1_epi64(tile_.column_scales[j] - alpha_exponent_)));
    const ErrorArrays &row = tile_.errors.row, &column = tile_.errors.column;
    const __m512d error =
        _mm512_add_pd(_mm512_min_pd(_mm512_mul_pd(_mm512_loadu_pd(row.rounding + i), _mm512_set1_pd(column.largest[j])),
                                    _mm512_set1_pd(column.half_norm[j])),
                      _mm512_min_pd(_mm512_mul_pd(_mm512_set1_pd(column.rounding[j]), _mm512_loadu_pd(row.largest + i)),
                                    _mm512_loadu_pd(row.half_norm + i)));
    const __mmask8 normalised = _mm512_movepi64_mask(_mm512_xor_si512(high, _mm512_slli_epi64(high, 1)));
    const __mmask8 exact = _mm512_cmp_pd_mask(error, _mm512_setzero_pd(), _CMP_EQ_OQ);
    const auto clear = static_cast<__mmask8>((clear_of_boundaries(high, low, unit, error) & normalised) | exact);
    // Leading bit at 62 where normalised, else anywhere from 0 on.
    const __m512i least = _mm512_mask_mov_epi64(_mm512_set1_epi64(Ieee754<T>::min_exponent + 1), normalised,
                                                _mm512_set1_epi64(Ieee754<T>::min_exponent + 1 - 62));
    const __mmask8 normal = _mm512_cmpge_epi64_mask(exponent, least);
    const __mmask8 fast = clear & normal & mask;
    const __mmask8 nonzero = _mm512_test_epi64_mask(high, high);
    const __mmask8 inexact = _mm512_test_epi64_mask(low, low);
    store<Mode>(_mm512_mask_or_epi64(high, inexact, high, set1(1)), exponent, _mm512_maskz_mov_epi64(nonzero, negate_),
                fast, tile_.to.c + i + j * tile_.to.ldc);
    const auto slow = static_cast<__mmask8>(mask & (~normal | (~clear & ~normalised)));
    const auto undecided = static_cast<__mmask8>(mask & ~fast & ~slow);
    return slow == 0 ? undecided : static_cast<__mmask8>(undecided | one_by_one(i, j, slow));
  }

 private:
  static __m512i widen(const int* p) {
    return _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }

  // Theorem 7: no midpoint of two neighbours lies within the error; under other directions no number of the type.
  static __mmask8 clear_of_boundaries(__m512i high, __m512i low, __m512i unit, __m512d error) {
    const __m512i shift = _mm512_sub_epi64(_mm512_set1_epi64(Ieee754<T>::precision + 1), unit);
    const __m512d scaled = _mm512_scalef_pd(error, _mm512_cvtepi64_pd(shift));
    const __m512i bound = _mm512_add_epi64(_mm512_cvtpd_epu64(scaled), set1(3));
    constexpr std::uint64_t boundary = Mode == to_nearest ? std::uint64_t{1} << 63 : 0;
    const __m512i distance = _mm512_abs_epi64(_mm512_xor_si512(rounding_bits<T>(high, low), set1(boundary)));
    return _mm512_mask_cmpgt_epu64_mask(_mm512_cmp_pd_mask(scaled, _mm512_set1_pd(0x1p61), _CMP_LT_OQ), distance,
                                        bound);
  }

  __mmask8 one_by_one(int i, int j, __mmask8 lanes) const {
    unsigned undecided = 0;
    for (int lane = 0; lane < 8; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      if (const std::optional<T> result = decided_entry(tile_, integers_, i + lane, j))
        tile_.to.c[i + lane + j * tile_.to.ldc] = *result;
      else
        undecided |= 1u << lane;
    }
    return static_cast<__mmask8>(undecided);
  }

  const ExactTile<T>& tile_;
  const LeadingTile& integers_;
  __m512i negate_;
  int alpha_exponent_;
};

template <class T, int Mode>
void round_fast(const ExactTile<T>& tile, const LeadingTile& integers, EntryMask& undecided) {
  const FastTile<T, Mode> fast(tile, integers);
  undecided.fill(0);
  for (int j = 0; j < strip_size; ++j) {
    if ((tile.columns >> j & 1) == 0) continue;
    for (int i = 0; i < strip_size; i += 8) {
      const auto mask = static_cast<__mmask8>(tile.rows >> i & 0xff);
      if (mask != 0) undecided[static_cast<std::size_t>(j)] |= static_cast<std::uint32_t>(fast.round(i, j, mask)) << i;
    }
  }
}

}  // namespace

template <class T>
void round_tile_avx512(const ExactTile<T>& tile, const LeadingTile& integers, EntryMask& undecided) {
  if (tile.to.beta != 0 || !is_power_of_two(tile.to.alpha)) return round_tile_portable(tile, integers, undecided);
  switch (tile.to.alpha < 0 ? mirrored(tile.rounding) : tile.rounding) {  // the sign is turned after the rounding
    case Rounding::nearest:
      return round_fast<T, to_nearest>(tile, integers, undecided);
    case Rounding::down:
      return round_fast<T, _MM_FROUND_TO_NEG_INF | no_exceptions>(tile, integers, undecided);
    case Rounding::up:
      return round_fast<T, _MM_FROUND_TO_POS_INF | no_exceptions>(tile, integers, undecided);
    case Rounding::toward_zero:
      return round_fast<T, _MM_FROUND_TO_ZERO | no_exceptions>(tile, integers, undecided);
  }
}

VERNIER_REAL_INSTANCES(round_tile_avx512)

}  // namespace vernier

VERNIER_EXACT_LOOPS_OF(avx512)
