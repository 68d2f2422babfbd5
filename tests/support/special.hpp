// Where a product in floating point has a NaN or an infinity that comes from one in its operands.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "support/matrix.hpp"

namespace vernier::test {

// The IEEE sum of the terms a_il b_lj if some factor is not finite, whatever the order of summation; nothing if all are
// finite.
template <class T>
std::optional<T> special_value(const Matrix<T>& a, const Matrix<T>& b, std::int64_t i, std::int64_t j) {
  bool special = false, positive = false, negative = false;
  for (std::int64_t l = 0; l < a.columns(); ++l) {
    const T x = a(i, l), y = b(l, j);
    if (std::isfinite(x) && std::isfinite(y)) continue;
    special = true;
    const T term = x * y;
    if (std::isnan(term)) return std::numeric_limits<T>::quiet_NaN();
    (std::signbit(term) ? negative : positive) = true;
  }
  if (!special) return std::nullopt;
  if (positive && negative) return std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  return negative ? -infinity : infinity;
}

}  // namespace vernier::test
