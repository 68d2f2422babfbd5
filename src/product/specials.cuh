// NaN and infinities of one entry on a device (product/specials.hpp).
#pragma once

#include <cmath>
#include <cstdint>

#include "number/ieee754.hpp"

namespace vernier::cuda {

enum SpecialTerms : unsigned { plus_infinity = 1, minus_infinity = 2, not_a_number = 3 };

// The infinite terms of x_l y_l at those l where x is not finite (product/specials.cpp has the definition).
template <class T>
__device__ unsigned special_terms(const T* x, std::int64_t x_stride, const T* y, std::int64_t y_stride,
                                  std::int64_t k) {
  unsigned terms = 0;
  for (std::int64_t l = 0; l < k && terms != not_a_number; ++l) {
    const T value = x[l * x_stride];
    if (magnitude_bits(value) < infinity_bits<T>) continue;
    const T term = value * y[l * y_stride];
    terms |= isnan(term) ? not_a_number : term > 0 ? plus_infinity : minus_infinity;
  }
  return terms;
}

}  // namespace vernier::cuda
