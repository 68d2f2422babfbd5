#include "residue/quad/quad_operand.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "product/strip.hpp"
#include "residue/binary128/bits.hpp"

namespace vernier {
namespace {

void split(double x, int, double* out) { out[0] = x; }
void split(const dd& x, int, double* out) {
  out[0] = x.hi;
  out[1] = std::isfinite(x.hi) ? x.lo : 0;
}

#if defined(__SIZEOF_FLOAT128__)
void split(binary128 x, int shift, double* out) { split_binary128(QuadBits(std::bit_cast<Uint128>(x)), shift, out); }
#endif

// Elements side by side in memory: part p of element e to out[p * part_stride + e]. shifts: of the first element's
// vector and of those that follow, so many vectors apart.
template <class T>
void split_line(const T* x, std::int64_t count, const QuadVector* shifts, std::int64_t next_shift, const DdLoops& loops,
                double* out, std::int64_t part_stride) {
  if constexpr (std::is_same_v<T, dd>) return loops.split(x, count, out, out + part_stride);
  for (std::int64_t e = 0; e < count; ++e) {
    double parts[most_parts];
    split(x[e], shifts[e * next_shift].shift, parts);
    for (int p = 0; p < parts_of_element<T>; ++p) out[p * part_stride + e] = parts[p];
  }
}

}  // namespace

template <class T>
void QuadOperandOf<T>::find_shifts(std::int64_t first, std::int64_t count, QuadVector* out) const {
  std::fill(out, out + count, QuadVector{});
#if defined(__SIZEOF_FLOAT128__)
  if constexpr (std::is_same_v<T, binary128>) {
    int least[strip_size];
    bool any[strip_size] = {};
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t v = 0; v < count; ++v) {
        const QuadBits bits(std::bit_cast<Uint128>(*x_.at(first + v, l)));
        if (!bits.finite() || bits.zero()) continue;
        const int exponent = bits.exponent();
        out[v].shift = any[v] ? std::max(out[v].shift, exponent) : exponent;
        least[v] = any[v] ? std::min(least[v], exponent) : exponent;
        any[v] = true;
      }
    for (std::int64_t v = 0; v < count; ++v) out[v].span = any[v] ? out[v].shift - least[v] : 0;
  }
#endif
}

template <class T>
PartStrip QuadOperandOf<T>::strip(std::int64_t first, std::int64_t k_begin, std::int64_t k_count,
                                  const QuadVector* shifts, const DdLoops& loops, double* buffer) const {
  constexpr int parts = parts_of_element<T>;
  PartStrip strip;
  strip.parts = parts;
  if constexpr (parts == 1) {
    strip.part[0] = gather_strip(x_, first, k_begin, k_count, buffer);
    return strip;
  }
  const std::int64_t count = std::min<std::int64_t>(strip_size, vectors - first),
                     ld = x_.k_contiguous ? part_length(k_count) / strip_size : strip_size;
  for (int p = 0; p < parts; ++p)
    strip.part[p] = {buffer + p * part_length(k_count), count, k_count, ld, x_.k_contiguous};
  if (x_.k_contiguous)
    for (std::int64_t v = 0; v < count; ++v)
      split_line(x_.at(first + v, k_begin), k_count, shifts + v, 0, loops, buffer + v * ld, part_length(k_count));
  else
    for (std::int64_t l = 0; l < k_count; ++l) {
      // As gather_strip: each k may lie in another page.
      constexpr std::int64_t ahead = 12, line = 64 / static_cast<std::int64_t>(sizeof(T));
      constexpr int second_level = 2;
      if (l + ahead < k_count)
        for (std::int64_t i = 0; i < count; i += line)
          __builtin_prefetch(x_.at(first + i, k_begin + l + ahead), 0, second_level);
      split_line(x_.at(first, k_begin + l), count, shifts, 1, loops, buffer + l * ld, part_length(k_count));
    }
  return strip;
}

template <class T>
void QuadOperandOf<T>::vector(std::int64_t index, int shift, Range ks, double* const* parts) const {
  for (std::int64_t l = ks.begin; l < ks.begin + ks.count; ++l) {
    double split_parts[most_parts];
    split(*x_.at(index, l), shift, split_parts);
    for (int p = 0; p < parts_of_element<T>; ++p) parts[p][l] = split_parts[p];
  }
}

template class QuadOperandOf<double>;
template class QuadOperandOf<dd>;
#if defined(__SIZEOF_FLOAT128__)
template class QuadOperandOf<binary128>;
#endif

}  // namespace vernier
