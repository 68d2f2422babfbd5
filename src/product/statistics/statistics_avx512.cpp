// VectorStatistics with AVX-512: lanes are vectors where the elements of one k lie side by side, else lanes are values
// of k. Vectors of fewer lanes than a register has, and vectors with NaN or infinity, go through the definition.
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/instantiate.hpp"
#include "number/ieee754.hpp"
#include "product/flatness.hpp"
#include "product/strip.hpp"

namespace vernier {
namespace {

inline __m512d load8(const double* p) { return _mm512_loadu_pd(p); }
inline __m512d load8(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }

// What a register takes of T, and sums of a run of its elements: eight doubles, or sixteen floats. `elements` of a lane
// are its 16-bit words.
template <class T>
struct Lanes;

constexpr int exclusive_or = 0x96;  // of three operands

template <>
struct Lanes<double> {
  static constexpr int count = 8, elements = 4, least_exponent = -1000;  // of the largest element

  static __m512i magnitude(const double* p) { return _mm512_castpd_si512(_mm512_abs_pd(_mm512_loadu_pd(p))); }
  static __m512i larger(__m512i x, __m512i y) { return _mm512_max_epu64(x, y); }
  static __m512i smaller(__m512i x, __m512i y) { return _mm512_min_epu64(x, y); }
  static __m512i less_one(__m512i x) { return _mm512_add_epi64(x, _mm512_set1_epi64(-1)); }

  // v_l in the low bits of each lane: 2^52 + v, rounded up.
  static __m512i quantised(const double* p, const double* scale) {
    return _mm512_castpd_si512(_mm512_fmadd_round_pd(_mm512_abs_pd(_mm512_loadu_pd(p)), _mm512_load_pd(scale),
                                                     _mm512_set1_pd(0x1p52),
                                                     _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC));
  }
  static __m512i words(const double* p, std::int64_t stride, const double* scale) {
    const __m512i magic = _mm512_castpd_si512(_mm512_set1_pd(0x1p52));
    const __m512i v1 = _mm512_slli_epi64(quantised(p + stride, scale), 16);
    const __m512i v2 = _mm512_slli_epi64(quantised(p + 2 * stride, scale), 32);
    const __m512i v3 = _mm512_slli_epi64(quantised(p + 3 * stride, scale), 48);
    const __m512i lower = _mm512_ternarylogic_epi64(quantised(p, scale), v1, v2, exclusive_or);
    return _mm512_ternarylogic_epi64(lower, v3, magic, exclusive_or);
  }
  // Sums of the dwords of eight lanes, in 64 bits.
  static __m512i wide(__m512i x, int) {
    return _mm512_add_epi64(_mm512_srli_epi64(x, 32), _mm512_maskz_mov_epi32(0x5555, x));
  }
};

template <>
struct Lanes<float> {
  static constexpr int count = 16, elements = 2, least_exponent = quantum_bits - 127;  // a float holds the scale

  static __m512i magnitude(const float* p) { return _mm512_castps_si512(_mm512_abs_ps(_mm512_loadu_ps(p))); }
  static __m512i larger(__m512i x, __m512i y) { return _mm512_max_epu32(x, y); }
  static __m512i smaller(__m512i x, __m512i y) { return _mm512_min_epu32(x, y); }
  static __m512i less_one(__m512i x) { return _mm512_add_epi32(x, _mm512_set1_epi32(-1)); }

  // 2^23 + v, rounded once as well.
  static __m512i quantised(const float* p, const float* scale) {
    return _mm512_castps_si512(_mm512_fmadd_round_ps(_mm512_abs_ps(_mm512_loadu_ps(p)), _mm512_load_ps(scale),
                                                     _mm512_set1_ps(0x1p23f),
                                                     _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC));
  }
  static __m512i words(const float* p, std::int64_t stride, const float* scale) {
    return _mm512_ternarylogic_epi32(quantised(p, scale), _mm512_slli_epi32(quantised(p + stride, scale), 16),
                                     _mm512_castps_si512(_mm512_set1_ps(0x1p23f)), exclusive_or);
  }
  static __m512i wide(__m512i x, int half) {
    return _mm512_cvtepu32_epi64(half == 0 ? _mm512_castsi512_si256(x) : _mm512_extracti64x4_epi64(x, 1));
  }
};

// Largest and smallest nonzero magnitude of each lane, as bits of T.
template <class T>
struct Extremes {
  using Bits = typename Ieee754<T>::Bits;
  __m512i largest = _mm512_setzero_si512();
  __m512i smallest_less_one = _mm512_set1_epi64(-1);  // zero wraps around to the largest

  void add(const T* p) {
    const __m512i bits = Lanes<T>::magnitude(p);
    largest = Lanes<T>::larger(largest, bits);
    smallest_less_one = Lanes<T>::smaller(smallest_less_one, Lanes<T>::less_one(bits));
  }
};

// VectorSums of each lane: of vectors that lie side by side, or of parts of one. Words are made of pieces that lie a
// step apart, and of the tail.
template <class T>
class LaneSums {
  static constexpr int lanes = Lanes<T>::count, count = 2 + static_cast<int>(shallow_depths.size());
  static constexpr std::int64_t run = 64;  // squares of so many words sum up to 2^31 at most, read as unsigned

 public:
  LaneSums(const T* x, std::int64_t pieces, std::int64_t step, std::int64_t stride, const T* tail, const T* scale) {
    add(tail, 1, step, lanes, scale);
    for (std::int64_t begin = 0; begin < pieces; begin += run)
      add(x + begin * step, std::min(run, pieces - begin), step, stride, scale);
  }
  VectorSums of(int lane) const {
    return sums([&](int i) { return sum_[i][lane]; });
  }
  VectorSums all() const {
    return sums([&](int i) { return std::accumulate(sum_[i], sum_[i] + lanes, std::uint64_t{0}); });
  }

 private:
  template <class Sum>
  static VectorSums sums(const Sum& sum) {
    return {.squares = sum(0), .sum = sum(1), .clipped = {sum(2), sum(3), sum(4)}};
  }
  void add(const T* x, std::int64_t pieces, std::int64_t step, std::int64_t stride, const T* scale) {
    const __m512i one = _mm512_set1_epi16(1);
    __m512i sum[count] = {};
    for (std::int64_t n = 0; n < pieces; ++n) {
      const __m512i v = Lanes<T>::words(x + n * step, stride, scale);
      sum[0] = _mm512_dpwssd_epi32(sum[0], v, v);
      sum[1] = _mm512_dpwssd_epi32(sum[1], v, one);
      for (std::size_t i = 0; i < shallow_depths.size(); ++i) {
        const __m512i most = _mm512_set1_epi16(static_cast<short>(1 << (quantum_bits - shallow_depths[i])));
        sum[2 + i] = _mm512_dpwssd_epi32(sum[2 + i], _mm512_min_epi16(v, most), one);
      }
    }
    for (int i = 0; i < count; ++i)
      for (int h = 0; h < lanes / 8; ++h)
        _mm512_store_si512(sum_[i] + 8 * h,
                           _mm512_add_epi64(_mm512_load_si512(sum_[i] + 8 * h), Lanes<T>::wide(sum[i], h)));
  }

  alignas(64) std::uint64_t sum_[count][lanes] = {};
};

// Exponents from magnitude bits. True if 2^(quantum_bits - exponent), and what it makes of the smallest element, are
// normal numbers of T.
template <class T>
bool set_exponents(VectorStatistics& s, typename Ieee754<T>::Bits largest, typename Ieee754<T>::Bits smallest) {
  if (largest >= infinity_bits<T>) return false;
  const auto exponent = [](typename Ieee754<T>::Bits bits) {  // float subnormals are normal doubles
    return exponent_of<double>(std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<T>(bits))));
  };
  s.exponent = exponent(largest);
  s.lowest = exponent(smallest);
  return s.exponent >= Lanes<T>::least_exponent && s.exponent - s.lowest <= 1000;
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

// Flatness of eight vectors side by side by the deeper thresholds, of those that have none else.
template <class T>
void deepen(const T* x, std::int64_t ld, std::int64_t k, VectorStatistics* out) {
  alignas(64) std::int64_t exponents[8] = {};
  unsigned deep = 0;
  bool countable = true;
  for (int i = 0; i < 8; ++i) {
    exponents[i] = out[i].exponent;
    if (out[i].zero() || out[i].flatness != not_flat) continue;
    deep |= 1u << i;
    countable = countable && Depths::countable(out[i].exponent);
  }
  if (deep == 0) return;
  Depths depths(_mm512_load_si512(exponents));
  for (std::int64_t l = 0; countable && l < k; ++l) depths.add(load8(x + l * ld));
  for (int i = 0; i < 8; ++i)
    if ((deep >> i & 1) != 0)
      out[i].flatness =
          countable ? depths.flatness(static_cast<__mmask8>(1 << i), k) : vector_statistics(x + i, ld, k).flatness;
}

// Vectors side by side, Groups registers of them, of known extremes.
template <class T, int Groups>
void finish_side_by_side(const Extremes<T> (&extremes)[Groups], const T* x, std::int64_t ld, std::int64_t k,
                         VectorStatistics* out) {
  constexpr int lanes = Lanes<T>::count, elements = Lanes<T>::elements;
  for (int g = 0; g < Groups; ++g, x += lanes, out += lanes) {
    alignas(64) typename Ieee754<T>::Bits largest[lanes], smallest_less_one[lanes];
    _mm512_store_si512(largest, extremes[g].largest);
    _mm512_store_si512(smallest_less_one, extremes[g].smallest_less_one);
    alignas(64) T scale[lanes] = {}, tail[elements * lanes] = {};
    bool by_definition = false;
    for (int i = 0; i < lanes; ++i) {
      VectorStatistics& s = out[i] = VectorStatistics{};
      if (largest[i] == 0) continue;
      by_definition |= !set_exponents<T>(s, largest[i], smallest_less_one[i] + 1);
      if (!by_definition) scale[i] = static_cast<T>(power_of_two(quantum_bits - s.exponent));
    }
    if (by_definition) {
      for (int i = 0; i < lanes; ++i) out[i] = vector_statistics(x + i, ld, k);
      continue;
    }
    for (std::int64_t l = k / elements * elements; l < k; ++l)
      std::copy_n(x + l * ld, lanes, tail + l % elements * lanes);
    const LaneSums<T> sums(x, k / elements, elements * ld, ld, tail, scale);
    for (int i = 0; i < lanes; ++i)
      if (largest[i] != 0) set_shallow_sums(out[i], sums.of(i), k);
    for (int i = 0; i < lanes; i += 8) deepen(x + i, ld, k, out + i);
  }
}

template <class T, int Groups>
void side_by_side(const T* x, std::int64_t ld, std::int64_t k, VectorStatistics* out) {
  Extremes<T> extremes[Groups];
  for (std::int64_t l = 0; l < k; ++l)
    for (int g = 0; g < Groups; ++g) extremes[g].add(x + l * ld + Lanes<T>::count * g);
  finish_side_by_side(extremes, x, ld, k, out);
}

// One vector whose elements are contiguous; two registers at a time hide the latency of the extremes.
template <class T>
void contiguous(const T* x, std::int64_t k, VectorStatistics& s) {
  constexpr int lanes = Lanes<T>::count, piece = 32;
  static_assert(lanes * Lanes<T>::elements == piece);
  const std::int64_t whole = k / piece * piece;
  alignas(64) T tail[piece] = {};
  std::copy(x + whole, x + k, tail);
  Extremes<T> extremes[2];
  for (std::int64_t l = 0; l < whole; l += 2 * lanes) {
    extremes[0].add(x + l);
    extremes[1].add(x + l + lanes);
  }
  for (int l = 0; l < piece; l += lanes) extremes[0].add(tail + l);
  alignas(64) typename Ieee754<T>::Bits largest[lanes], smallest_less_one[lanes];
  _mm512_store_si512(largest, Lanes<T>::larger(extremes[0].largest, extremes[1].largest));
  _mm512_store_si512(smallest_less_one,
                     Lanes<T>::smaller(extremes[0].smallest_less_one, extremes[1].smallest_less_one));
  const auto most = *std::max_element(largest, largest + lanes);
  s = VectorStatistics{};
  if (most == 0) return;
  if (!set_exponents<T>(s, most, *std::min_element(smallest_less_one, smallest_less_one + lanes) + 1)) {
    s = vector_statistics(x, 1, k);
    return;
  }
  alignas(64) T scale[lanes];
  std::fill_n(scale, lanes, static_cast<T>(power_of_two(quantum_bits - s.exponent)));
  const LaneSums<T> sums(x, whole / piece, piece, lanes, tail, scale);
  if (set_shallow_sums(s, sums.all(), k)) return;
  if (!Depths::countable(s.exponent)) {
    s = vector_statistics(x, 1, k);
    return;
  }
  Depths depths(_mm512_set1_epi64(s.exponent));
  for (std::int64_t l = 0; l < whole; l += 8) depths.add(load8(x + l));
  for (int l = 0; l < piece; l += 8) depths.add(load8(tail + l));  // zeros are of no depth
  s.flatness = depths.flatness(0xff, k);
}

template <class T>
struct StripExtremes {
  static constexpr int lanes = Lanes<T>::count;
  Extremes<T> of[strip_size / lanes];

  void operator()(const T* line) {
    for (int g = 0; g < strip_size / lanes; ++g) of[g].add(line + lanes * g);
  }
};

}  // namespace

template <class T>
void statistics_avx512(const Operand<T>& operand, std::int64_t first, std::int64_t count, VectorStatistics* out) {
  constexpr int lanes = Lanes<T>::count;
  std::int64_t v = 0;
  if (operand.k_contiguous) {
    for (; v < count; ++v) contiguous(operand.at(first + v, 0), operand.k, out[v]);
    return;
  }
  for (; v + 32 <= count; v += 32)
    side_by_side<T, 32 / lanes>(operand.at(first + v, 0), operand.ld, operand.k, out + v);
  for (; v + lanes <= count; v += lanes) side_by_side<T, 1>(operand.at(first + v, 0), operand.ld, operand.k, out + v);
  statistics_portable(operand, first + v, count - v, out + v);
}

// The extremes come from the read that copies.
template <class T>
Operand<T> measured_strip_avx512(const Operand<T>& operand, std::int64_t first, std::int64_t k_begin,
                                 std::int64_t k_count, T* buffer, VectorStatistics* out) {
  StripExtremes<T> extremes;
  const Operand<T> strip = gather_strip(operand, first, k_begin, k_count, buffer, extremes);
  if (strip.k_contiguous || strip.vectors < strip_size)
    statistics_avx512(strip, 0, strip.vectors, out);
  else
    finish_side_by_side(extremes.of, strip.data, strip.ld, strip.k, out);
  return strip;
}

VERNIER_REAL_INSTANCES(statistics_avx512, measured_strip_avx512)

}  // namespace vernier
