// Which steps of a strip have residues: those before and behind are zeros and are neither written nor read.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/panel.hpp"
#include "product/operand.hpp"

namespace vernier {

// Outside of these steps all elements, times two to the power of their vector's scale, are at most a quarter: a half
// with the factor of a speculative product.
template <class T>
FilledSteps filled_steps(const Operand<T>& strip, const int* scales) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  Bits limits[strip_size] = {};
  for (std::int64_t v = 0; v < strip.vectors; ++v) limits[v] = std::bit_cast<Bits>(std::ldexp(T{0.25}, -scales[v]));
  const auto is_filled = [&](std::int64_t step) {
    const std::int64_t first = step * step_size, ks = std::min<std::int64_t>(strip.k - first, step_size);
    const bool along = strip.k_contiguous;
    Bits less = 0;  // a difference below zero; compilers make vectors of the inner loop
    for (std::int64_t line = 0; line < (along ? strip.vectors : ks) && less >= 0; ++line)
      for (std::int64_t i = 0; i < (along ? ks : strip.vectors); ++i) {
        const T x = *strip.at(along ? line : i, first + (along ? i : line));
        less |= limits[along ? line : i] - (std::bit_cast<Bits>(x) & std::numeric_limits<Bits>::max());
      }
    return less < 0;
  };
  FilledSteps filled{0, divide_up(strip.k, step_size)};
  while (filled.end > 0 && !is_filled(filled.end - 1)) --filled.end;
  while (filled.begin < filled.end && !is_filled(filled.begin)) ++filled.begin;
  return filled;
}

}  // namespace vernier
