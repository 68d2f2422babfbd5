// NaN and infinities of one entry on a device (product/specials.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

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

// Those of row i of A and column j of B, each an operand with its statistics.
template <class Side>
__device__ unsigned special_terms(const Side& a, std::int64_t i, const Side& b, std::int64_t j) {
  unsigned terms = 0;
  if (a.statistics[i].nonfinite)
    terms |= special_terms(a.x.at(i, 0), a.x.k_stride(), b.x.at(j, 0), b.x.k_stride(), a.x.k);
  if (b.statistics[j].nonfinite)
    terms |= special_terms(b.x.at(j, 0), b.x.k_stride(), a.x.at(i, 0), a.x.k_stride(), a.x.k);
  return terms;
}

// Their sum; there are some.
template <class T>
__device__ T sum_of_special_terms(unsigned terms) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  return terms == plus_infinity ? infinity : terms == minus_infinity ? -infinity : std::numeric_limits<T>::quiet_NaN();
}

}  // namespace vernier::cuda
