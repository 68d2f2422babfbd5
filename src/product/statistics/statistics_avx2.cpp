// VectorStatistics by the loops of vector_loop.hpp, as AVX2 makes vectors of them. Vectors with NaN or infinity go
// through the definition.
#include "base/instantiate.hpp"
#include "product/statistics/vector_loop.hpp"

namespace vernier {
namespace {

// False where the vector is for the definition, or all zero.
template <class T>
bool set_exponents(const MagnitudeRange<T>& range, std::int64_t k, VectorStatistics& s) {
  s = VectorStatistics{};
  if (k > longest_summed || range.largest == 0 || !range.finite()) return false;
  s.exponent = exponent_of<T>(static_cast<typename Ieee754<T>::Bits>(range.largest));
  s.lowest = exponent_of<T>(static_cast<typename Ieee754<T>::Bits>(range.smallest));
  return true;
}

template <class T>
void contiguous(const T* x, std::int64_t k, VectorStatistics& s) {
  const MagnitudeRange<T> range = range_of_contiguous(x, k);
  if (set_exponents(range, k, s))
    set_sums(s, sums_of_contiguous(x, k, s.exponent), x, 1, k);
  else if (range.largest != 0)
    s = vector_statistics(x, 1, k);
}

// `ranges` holds those of all elements.
template <class T>
void finish_side_by_side(const RangesOfLines<T>& ranges, const T* x, std::int64_t ld, std::int64_t k,
                         VectorStatistics* out) {
  SumsOfLines<T> sums;
  bool by_sums[strip_size];
  for (int v = 0; v < strip_size; ++v) {
    by_sums[v] = set_exponents(ranges[v], k, out[v]);
    if (by_sums[v]) sums.set_exponent(v, out[v].exponent);
  }
  for (std::int64_t l = 0; l < k; ++l) sums.add(x + l * ld);
  for (int v = 0; v < strip_size; ++v)
    if (by_sums[v])
      set_sums(out[v], sums[v], x + v, ld, k);
    else if (ranges.largest[v] != 0)
      out[v] = vector_statistics(x + v, ld, k);
}

}  // namespace

template <class T>
void statistics_avx2(const Operand<T>& operand, std::int64_t first, std::int64_t count, VectorStatistics* out) {
  std::int64_t v = 0;
  if (operand.k_contiguous) {
    for (; v < count; ++v) contiguous(operand.at(first + v, 0), operand.k, out[v]);
    return;
  }
  for (; v + strip_size <= count; v += strip_size) {
    RangesOfLines<T> ranges;
    const T* x = operand.at(first + v, 0);
    for (std::int64_t l = 0; l < operand.k; ++l) ranges.add(x + l * operand.ld);
    finish_side_by_side(ranges, x, operand.ld, operand.k, out + v);
  }
  statistics_portable(operand, first + v, count - v, out + v);
}

// The extremes come from the read that copies.
template <class T>
Operand<T> measured_strip_avx2(const Operand<T>& operand, std::int64_t first, std::int64_t k_begin,
                               std::int64_t k_count, T* buffer, VectorStatistics* out) {
  RangesOfLines<T> ranges;
  const Operand<T> strip = gather_strip(operand, first, k_begin, k_count, buffer, ranges);
  if (strip.k_contiguous || strip.vectors < strip_size)
    statistics_avx2(strip, 0, strip.vectors, out);
  else
    finish_side_by_side(ranges, strip.data, strip.ld, strip.k, out);
  return strip;
}

VERNIER_REAL_INSTANCES(statistics_avx2, measured_strip_avx2)

}  // namespace vernier
