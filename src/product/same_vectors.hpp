// Is op(B) the transpose of op(A)? Then their product is symmetric, whatever memory they lie in.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <type_traits>

#include "product/operand.hpp"

namespace vernier {

// Do row i of op(A) and column i of op(B) have the same bits, for all i? Operands that differ are told apart by a few
// elements, equal ones by their place or a read of both.
template <class T>
bool same_vectors(const Operand<T>& a, const Operand<T>& b, int threads) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr std::int64_t looks = 64, block = 64, line = 8;
  if (a.vectors != b.vectors) return false;
  const auto differ = [](const T* x, const T* y) { return std::bit_cast<Bits>(*x) ^ std::bit_cast<Bits>(*y); };
  for (std::int64_t look = 0; look < looks; ++look) {
    const std::int64_t v = look * a.vectors / looks, l = look * 37 % looks * a.k / looks;
    if (differ(a.at(v, l), b.at(v, l)) != 0) return false;
  }
  if (same_place(a, b)) return true;
  // One of the lines that hold 8 vectors from there on.
  const auto fetch = [](const Operand<T>& x, std::int64_t v, std::int64_t l) {
    __builtin_prefetch(x.k_contiguous ? x.at(v + l % line, l / line * line) : x.at(v, l));
  };
  std::atomic<bool> same = true;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t first = 0; first < a.vectors; first += block)
    for (std::int64_t l = 0; l < a.k && same.load(std::memory_order_relaxed); l += block) {
      Bits different = 0;
      const std::int64_t end = std::min(first + block, a.vectors), l_end = std::min(l + block, a.k);
      for (std::int64_t lined = first; lined < end; lined += line)  // so many vectors share a line, or have one each
        for (std::int64_t i = l; i < l_end; ++i) {
          fetch(a, lined, i + block);
          fetch(b, lined, i + block);
          const T *x = a.at(lined, i), *y = b.at(lined, i);
          for (std::int64_t v = lined; v < std::min(lined + line, end);
               ++v, x += a.vector_stride(), y += b.vector_stride())
            different |= differ(x, y);
        }
      if (different != 0) same.store(false, std::memory_order_relaxed);
    }
  return same;
}

}  // namespace vernier
