// VectorStatistics with AVX-512: lanes are vectors where the elements of one k lie side by side, else lanes are values
// of k. Vectors of fewer than eight lanes, and vectors with NaN or infinity, go through the definition.
#include <immintrin.h>

#include <algorithm>

#include "base/instantiate.hpp"
#include "number/ieee754.hpp"
#include "product/flatness.hpp"
#include "product/strip.hpp"

namespace vernier {
namespace {

inline __m512d load8(const double* p) { return _mm512_loadu_pd(p); }
inline __m512d load8(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }

// Largest and smallest nonzero magnitude of each lane, as bits of double.
struct Extremes {
  __m512i largest = _mm512_setzero_si512();
  __m512i smallest_less_one = _mm512_set1_epi64(-1);  // zero wraps around to the largest

  void add(__m512d x) {
    const __m512i bits = _mm512_castpd_si512(_mm512_abs_pd(x));
    largest = _mm512_max_epu64(largest, bits);
    smallest_less_one = _mm512_min_epu64(smallest_less_one, _mm512_add_epi64(bits, _mm512_set1_epi64(-1)));
  }
};

// v_l of eight elements in the low bits of each lane: 2^52 + v, rounded up.
inline __m512i quantised(__m512d x, __m512d scale) {
  return _mm512_castpd_si512(_mm512_fmadd_round_pd(_mm512_abs_pd(x), scale, _mm512_set1_pd(0x1p52),
                                                   _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC));
}

// Sums of quantised elements of each lane. Four elements of a lane are its four 16-bit words.
struct Sums {
  static constexpr int run = 64;  // fours: their squares sum up to 2^31 at most, which is read as unsigned

  __m512d scale;
  __m512i squares = _mm512_setzero_si512(), sum = squares;
  __m512i clipped[shallow_depths.size()] = {};

  void add(__m512d x0, __m512d x1, __m512d x2, __m512d x3) {
    const __m512i one = _mm512_set1_epi16(1), magic = _mm512_castpd_si512(_mm512_set1_pd(0x1p52));
    constexpr int exclusive_or = 0x96;
    const __m512i v1 = _mm512_slli_epi64(quantised(x1, scale), 16), v2 = _mm512_slli_epi64(quantised(x2, scale), 32);
    const __m512i v3 = _mm512_slli_epi64(quantised(x3, scale), 48);
    const __m512i lower = _mm512_ternarylogic_epi64(quantised(x0, scale), v1, v2, exclusive_or);
    const __m512i v = _mm512_ternarylogic_epi64(lower, v3, magic, exclusive_or);
    squares = _mm512_dpwssd_epi32(squares, v, v);
    sum = _mm512_dpwssd_epi32(sum, v, one);
    for (std::size_t i = 0; i < shallow_depths.size(); ++i) {
      const __m512i most = _mm512_set1_epi16(static_cast<short>(1 << (quantum_bits - shallow_depths[i])));
      clipped[i] = _mm512_dpwssd_epi32(clipped[i], _mm512_min_epi16(v, most), one);
    }
  }
};

// Sums of each lane, in 64 bits.
struct Totals {
  __m512i squares = _mm512_setzero_si512(), sum = squares;
  __m512i clipped[shallow_depths.size()] = {};

  void add(const Sums& sums) {
    const auto both = [](__m512i x) {
      return _mm512_add_epi64(_mm512_srli_epi64(x, 32), _mm512_maskz_mov_epi32(0x5555, x));
    };
    squares = _mm512_add_epi64(squares, both(sums.squares));
    sum = _mm512_add_epi64(sum, both(sums.sum));
    for (std::size_t i = 0; i < shallow_depths.size(); ++i)
      clipped[i] = _mm512_add_epi64(clipped[i], both(sums.clipped[i]));
  }

  VectorSums of(__mmask8 lanes) const {
    const auto total = [lanes](__m512i x) {
      return static_cast<std::uint64_t>(_mm512_mask_reduce_add_epi64(lanes, x));
    };
    VectorSums sums{.squares = total(squares), .sum = total(sum)};
    for (std::size_t i = 0; i < shallow_depths.size(); ++i) sums.clipped[i] = total(clipped[i]);
    return sums;
  }
};

// Exponents from magnitude bits of double; float subnormals are normal doubles, so this serves both types. True if
// 2^(quantum_bits - exponent), and what it makes of the smallest element, are normal numbers.
bool set_exponents(VectorStatistics& s, std::uint64_t largest, std::uint64_t smallest_less_one) {
  s.exponent = exponent_of<double>(largest);
  s.lowest = exponent_of<double>(smallest_less_one + 1);
  return s.exponent >= -1000 && s.exponent - s.lowest <= 1000;
}

// Flatness by the deeper thresholds of lanes of known exponents: elements of normal doubles or zeros alone are counted.
class Depths {
 public:
  static bool countable(int exponent) { return exponent - deep_depths.back() > -1000; }

  explicit Depths(__m512i exponents) : biased_(_mm512_add_epi64(exponents, _mm512_set1_epi64(1023))) {}

  void add(__m512d x) {
    const __m512i depth = _mm512_sub_epi64(biased_, _mm512_srli_epi64(_mm512_castpd_si512(_mm512_abs_pd(x)), 52));
    for (std::size_t i = 0; i < deep_depths.size(); ++i)
      counts_[i] = _mm512_mask_add_epi64(counts_[i], _mm512_cmple_epi64_mask(depth, _mm512_set1_epi64(deep_depths[i])),
                                         counts_[i], _mm512_set1_epi64(1));
  }

  int flatness(__mmask8 lanes, std::int64_t count) const {
    std::array<std::int64_t, deep_depths.back() + 1> at_depth{};
    std::int64_t before = 0;
    for (std::size_t i = 0; i < deep_depths.size(); ++i) {
      const std::int64_t large = _mm512_mask_reduce_add_epi64(lanes, counts_[i]);
      at_depth[static_cast<std::size_t>(deep_depths[i])] = large - before;
      before = large;
    }
    return deep_flatness_of(at_depth.data(), count);
  }

 private:
  __m512i biased_;
  __m512i counts_[deep_depths.size()] = {};
};

// Eight vectors side by side, Groups registers at a time, of known extremes.
template <class T, int Groups>
void finish_side_by_side(const Extremes (&extremes)[Groups], const T* x, std::int64_t ld, std::int64_t k,
                         VectorStatistics* out) {
  for (int g = 0; g < Groups; ++g) {
    alignas(64) std::uint64_t largest[8], smallest[8];
    _mm512_store_si512(largest, extremes[g].largest);
    _mm512_store_si512(smallest, extremes[g].smallest_less_one);
    alignas(64) double scale[8] = {};
    bool by_definition = false;
    for (int i = 0; i < 8; ++i) {
      VectorStatistics& s = out[8 * g + i] = VectorStatistics{};
      if (largest[i] == 0) continue;
      by_definition |= largest[i] >= infinity_bits<double> || !set_exponents(s, largest[i], smallest[i]);
      if (!by_definition) scale[i] = power_of_two(quantum_bits - s.exponent);
    }
    const T* first = x + 8 * g;
    if (by_definition) {
      for (int i = 0; i < 8; ++i) out[8 * g + i] = vector_statistics(first + i, ld, k);
      continue;
    }
    const auto load = [=](std::int64_t l) { return load8(first + l * ld); };
    const __m512d scales = _mm512_load_pd(scale), zero = _mm512_setzero_pd();
    const std::int64_t whole = k / 4 * 4;
    Totals totals;
    for (std::int64_t begin = 0; begin < whole; begin += 4 * Sums::run) {
      Sums sums{.scale = scales};
      for (std::int64_t l = begin; l < std::min(whole, begin + 4 * Sums::run); l += 4)
        sums.add(load(l), load(l + 1), load(l + 2), load(l + 3));
      totals.add(sums);
    }
    Sums last{.scale = scales};
    for (std::int64_t l = whole; l < k; ++l) last.add(load(l), zero, zero, zero);
    totals.add(last);
    const auto lane = [](int i) { return static_cast<__mmask8>(1 << i); };
    alignas(64) std::int64_t exponents[8] = {};
    unsigned deep = 0;
    bool countable = true;
    for (int i = 0; i < 8; ++i) {
      VectorStatistics& s = out[8 * g + i];
      if (largest[i] == 0) continue;
      exponents[i] = s.exponent;
      if (set_shallow_sums(s, totals.of(lane(i)), k)) continue;
      deep |= lane(i);
      countable = countable && Depths::countable(s.exponent);
    }
    if (deep == 0) continue;
    Depths depths(_mm512_load_si512(exponents));
    for (std::int64_t l = 0; countable && l < k; ++l) depths.add(load(l));
    for (int i = 0; i < 8; ++i)
      if ((deep & lane(i)) != 0)
        out[8 * g + i].flatness =
            countable ? depths.flatness(lane(i), k) : vector_statistics(first + i, ld, k).flatness;
  }
}

template <class T, int Groups>
void side_by_side(const T* x, std::int64_t ld, std::int64_t k, VectorStatistics* out) {
  Extremes extremes[Groups];
  for (std::int64_t l = 0; l < k; ++l)
    for (int g = 0; g < Groups; ++g) extremes[g].add(load8(x + l * ld + 8 * g));
  finish_side_by_side(extremes, x, ld, k, out);
}

// One vector whose elements are contiguous; two registers at a time hide the latency of the extremes.
template <class T>
void contiguous(const T* x, std::int64_t k, VectorStatistics& s) {
  const std::int64_t whole = k / 32 * 32;
  Extremes a, b;
  for (std::int64_t l = 0; l < whole; l += 16) {
    a.add(load8(x + l));
    b.add(load8(x + l + 8));
  }
  alignas(64) T tail[32] = {};
  std::copy(x + whole, x + k, tail);
  for (int l = 0; l < 32; l += 8) a.add(load8(tail + l));
  const std::uint64_t largest = _mm512_reduce_max_epu64(_mm512_max_epu64(a.largest, b.largest));
  const std::uint64_t smallest = _mm512_reduce_min_epu64(_mm512_min_epu64(a.smallest_less_one, b.smallest_less_one));
  s = VectorStatistics{};
  if (largest == 0) return;
  if (largest >= infinity_bits<double> || !set_exponents(s, largest, smallest)) {
    s = vector_statistics(x, 1, k);
    return;
  }
  const __m512d scale = _mm512_set1_pd(power_of_two(quantum_bits - s.exponent));
  const auto add_32 = [](Sums& sums, const T* p) { sums.add(load8(p), load8(p + 8), load8(p + 16), load8(p + 24)); };
  Sums last{.scale = scale};
  add_32(last, tail);
  Totals totals;
  totals.add(last);
  for (std::int64_t begin = 0; begin < whole; begin += 32 * Sums::run) {
    Sums sums{.scale = scale};
    for (std::int64_t l = begin; l < std::min(whole, begin + 32 * Sums::run); l += 32) add_32(sums, x + l);
    totals.add(sums);
  }
  if (set_shallow_sums(s, totals.of(0xff), k)) return;
  if (!Depths::countable(s.exponent)) {
    s = vector_statistics(x, 1, k);
    return;
  }
  Depths depths(_mm512_set1_epi64(s.exponent));
  for (std::int64_t l = 0; l < whole; l += 8) depths.add(load8(x + l));
  for (int l = 0; l < 32; l += 8) depths.add(load8(tail + l));  // zeros are of no depth
  s.flatness = depths.flatness(0xff, k);
}

// Of 32 vectors side by side, eight a register.
struct StripExtremes {
  Extremes of[strip_size / 8];

  template <class T>
  void operator()(const T* line) {
    for (int g = 0; g < strip_size / 8; ++g) of[g].add(load8(line + 8 * g));
  }
};

}  // namespace

template <class T>
void statistics_avx512(const Operand<T>& operand, std::int64_t first, std::int64_t count, VectorStatistics* out) {
  std::int64_t v = 0;
  if (operand.k_contiguous) {
    for (; v < count; ++v) contiguous(operand.at(first + v, 0), operand.k, out[v]);
    return;
  }
  for (; v + 32 <= count; v += 32) side_by_side<T, 4>(operand.at(first + v, 0), operand.ld, operand.k, out + v);
  for (; v + 8 <= count; v += 8) side_by_side<T, 1>(operand.at(first + v, 0), operand.ld, operand.k, out + v);
  statistics_portable(operand, first + v, count - v, out + v);
}

// The extremes come from the read that copies.
template <class T>
Operand<T> measured_strip_avx512(const Operand<T>& operand, std::int64_t first, std::int64_t k_begin,
                                 std::int64_t k_count, T* buffer, VectorStatistics* out) {
  StripExtremes extremes;
  const Operand<T> strip = gather_strip(operand, first, k_begin, k_count, buffer, extremes);
  if (strip.k_contiguous || strip.vectors < strip_size)
    statistics_avx512(strip, 0, strip.vectors, out);
  else
    finish_side_by_side(extremes.of, strip.data, strip.ld, strip.k, out);
  return strip;
}

VERNIER_REAL_INSTANCES(statistics_avx512, measured_strip_avx512)

}  // namespace vernier
