// Copies a strip of vectors whose elements lie far apart, so that it can be read more than once from the second-level
// cache.
#pragma once

#include <algorithm>
#include <cstring>

#include "engine/panel.hpp"
#include "product/operand.hpp"

namespace vernier {

// Vectors first .. first + 31, or up to the last one, and a range of k as an operand of their own.
template <class T>
Operand<T> strip_of(const Operand<T>& x, std::int64_t first, std::int64_t k_begin, std::int64_t k_count) {
  const std::int64_t count = std::min<std::int64_t>(strip_size, x.vectors - first);
  return {x.at(first, k_begin), count, k_count, x.ld, x.k_contiguous};
}

// The same, as a copy in buffer (k_count * 32 elements) unless each vector is contiguous. look: is shown the 32
// elements of each k that is copied; what it holds stays in registers where the strip is whole.
template <class T, class Look>
Operand<T> gather_strip(const Operand<T>& operand, std::int64_t first, std::int64_t k_begin, std::int64_t k_count,
                        T* buffer, Look& look) {
  const Operand<T> strip = strip_of(operand, first, k_begin, k_count);
  if (strip.k_contiguous) return strip;
  const std::int64_t count = strip.vectors, ld = strip.ld;
  if (count == strip_size) {
    // Each k may lie in another page: the hardware does not see it coming. Into the second level, since k that are a
    // power of two apart fall into few sets of the first; and no further ahead than those of the second hold.
    constexpr std::int64_t ahead = 12, line = 64 / static_cast<std::int64_t>(sizeof(T));
    constexpr int second_level = 2;
    Look seen = look;
    for (std::int64_t l = 0; l < k_count; ++l) {
      const T *source = strip.data + l * ld, *next = strip.data + std::min(l + ahead, k_count - 1) * ld;
      for (std::int64_t i = 0; i < strip_size; i += line) __builtin_prefetch(next + i, 0, second_level);
      std::memcpy(buffer + l * strip_size, source, strip_size * sizeof(T));
      seen(source);
    }
    look = seen;
  } else {
    for (std::int64_t l = 0; l < k_count; ++l) {
      T* to = buffer + l * strip_size;
      std::copy_n(strip.data + l * ld, count, to);
      std::fill(to + count, to + strip_size, T{0});
      look(to);
    }
  }
  return {buffer, count, k_count, strip_size, false};
}
template <class T>
Operand<T> gather_strip(const Operand<T>& operand, std::int64_t first, std::int64_t k_begin, std::int64_t k_count,
                        T* buffer) {
  struct {
    void operator()(const T*) const {}
  } nothing;
  return gather_strip(operand, first, k_begin, k_count, buffer, nothing);
}

}  // namespace vernier
