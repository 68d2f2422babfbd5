// VectorStatistics with AVX-512: lanes are vectors where the elements of one k lie side by side, else lanes are values
// of k. Vectors of fewer than eight lanes, and vectors with NaN or infinity, go through the definition.
#include <immintrin.h>

#include <algorithm>
#include <array>

#include "number/ieee754.hpp"
#include "scheme/flatness.hpp"

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

// Sums of quantised elements of each lane, as exact doubles.
struct Sums {
  __m512d first, second;  // quantum_scale
  __m512d squares = _mm512_setzero_pd(), sum = _mm512_setzero_pd();
  __m512d clipped[shallow_depths.size()] = {};

  void add(__m512d x) {
    const __m512d scaled = _mm512_mul_pd(_mm512_mul_pd(_mm512_abs_pd(x), first), second);
    const __m512d v = _mm512_roundscale_pd(scaled, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    squares = _mm512_fmadd_pd(v, v, squares);
    sum = _mm512_add_pd(sum, v);
    for (std::size_t i = 0; i < shallow_depths.size(); ++i)
      clipped[i] = _mm512_add_pd(clipped[i], _mm512_min_pd(v, _mm512_set1_pd(1 << (quantum_bits - shallow_depths[i]))));
  }
};

// Sums of doubles stay exact below 2^53: v^2 <= 2^24, hence runs of at most 2^28 elements.
constexpr std::int64_t exact_run = std::int64_t{1} << 28;

void add_lane(VectorSums& total, const Sums& sums, int lane) {
  const auto at = [lane](__m512d x) {
    alignas(64) double values[8];
    _mm512_store_pd(values, x);
    return static_cast<std::uint64_t>(values[lane]);
  };
  total.squares += at(sums.squares);
  total.sum += at(sums.sum);
  for (std::size_t i = 0; i < shallow_depths.size(); ++i) total.clipped[i] += at(sums.clipped[i]);
}

// Exponents from magnitude bits of double; float subnormals are normal doubles, so this serves both types.
bool set_exponents(VectorStatistics& s, std::uint64_t largest, std::uint64_t smallest_less_one) {
  if (largest == 0) return false;
  s.exponent = exponent_of<double>(largest);
  s.lowest = exponent_of<double>(smallest_less_one + 1);
  return true;
}

template <class T>
void set_sums(VectorStatistics& s, const VectorSums& sums, const T* x, std::int64_t stride, std::int64_t k) {
  s.squares = sums.squares;
  s.sum = sums.sum;
  s.flatness = shallow_flatness(sums, k);
  if (s.flatness == not_flat) s.flatness = deep_flatness(x, stride, k, s.exponent);
}

// Eight vectors side by side, Groups registers at a time.
template <class T, int Groups>
void side_by_side(const T* x, std::int64_t ld, std::int64_t k, VectorStatistics* out) {
  Extremes extremes[Groups];
  for (std::int64_t l = 0; l < k; ++l)
    for (int g = 0; g < Groups; ++g) extremes[g].add(load8(x + l * ld + 8 * g));
  for (int g = 0; g < Groups; ++g) {
    alignas(64) std::uint64_t largest[8], smallest[8];
    _mm512_store_si512(largest, extremes[g].largest);
    _mm512_store_si512(smallest, extremes[g].smallest_less_one);
    alignas(64) double first[8] = {}, second[8] = {};
    bool special = false;
    for (int i = 0; i < 8; ++i) {
      VectorStatistics& s = out[8 * g + i] = VectorStatistics{};
      special |= largest[i] >= infinity_bits<double>;
      if (!set_exponents(s, largest[i], smallest[i])) continue;
      const QuantumScale scale = quantum_scale(s.exponent);
      first[i] = scale.first;
      second[i] = scale.second;
    }
    if (special) {
      for (int i = 0; i < 8; ++i) out[8 * g + i] = vector_statistics(x + 8 * g + i, ld, k);
      continue;
    }
    std::array<VectorSums, 8> totals{};
    for (std::int64_t begin = 0; begin < k; begin += exact_run) {
      Sums sums{.first = _mm512_load_pd(first), .second = _mm512_load_pd(second)};
      for (std::int64_t l = begin; l < std::min(k, begin + exact_run); ++l) sums.add(load8(x + l * ld + 8 * g));
      for (int i = 0; i < 8; ++i) add_lane(totals[static_cast<std::size_t>(i)], sums, i);
    }
    for (int i = 0; i < 8; ++i)
      if (largest[i] != 0) set_sums(out[8 * g + i], totals[static_cast<std::size_t>(i)], x + 8 * g + i, ld, k);
  }
}

// One vector whose elements are contiguous; two registers at a time hide the latency of the sums.
template <class T>
void contiguous(const T* x, std::int64_t k, VectorStatistics& s) {
  const std::int64_t whole = k / 16 * 16;
  Extremes a, b;
  for (std::int64_t l = 0; l < whole; l += 16) {
    a.add(load8(x + l));
    b.add(load8(x + l + 8));
  }
  alignas(64) T tail[16] = {};
  std::copy(x + whole, x + k, tail);
  a.add(load8(tail));
  b.add(load8(tail + 8));
  const std::uint64_t largest = _mm512_reduce_max_epu64(_mm512_max_epu64(a.largest, b.largest));
  const std::uint64_t smallest = _mm512_reduce_min_epu64(_mm512_min_epu64(a.smallest_less_one, b.smallest_less_one));
  if (largest >= infinity_bits<double>) {
    s = vector_statistics(x, 1, k);
    return;
  }
  s = VectorStatistics{};
  if (!set_exponents(s, largest, smallest)) return;
  const QuantumScale scale = quantum_scale(s.exponent);
  VectorSums total;
  for (std::int64_t begin = 0; begin < whole || begin == 0; begin += exact_run) {
    Sums p{.first = _mm512_set1_pd(scale.first), .second = _mm512_set1_pd(scale.second)}, q = p;
    for (std::int64_t l = begin; l < std::min(whole, begin + exact_run); l += 16) {
      p.add(load8(x + l));
      q.add(load8(x + l + 8));
    }
    if (begin == 0) {
      p.add(load8(tail));
      q.add(load8(tail + 8));
    }
    for (int i = 0; i < 8; ++i) {
      add_lane(total, p, i);
      add_lane(total, q, i);
    }
  }
  set_sums(s, total, x, 1, k);
}

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

template void statistics_avx512(const Operand<double>&, std::int64_t, std::int64_t, VectorStatistics*);
template void statistics_avx512(const Operand<float>&, std::int64_t, std::int64_t, VectorStatistics*);

}  // namespace vernier
