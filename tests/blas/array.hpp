// Matrices of any type without padding, for results that are compared number by number.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "vernier/level3.hpp"

namespace vernier::test {

template <class T>
struct Array {
  std::int64_t rows, columns;
  std::vector<T> x = std::vector<T>(static_cast<std::size_t>(rows * columns));
  T& operator()(std::int64_t i, std::int64_t j) { return x[static_cast<std::size_t>(i + j * rows)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return x[static_cast<std::size_t>(i + j * rows)]; }
};

template <class T>
inline constexpr bool is_complex_type = !std::is_same_v<T, Real<T>>;

// One number of type T from one or two of next().
template <class T>
T drawn(const std::function<double()>& next) {
  if constexpr (is_complex_type<T>) {
    const double re = next(), im = next();
    return T(static_cast<Real<T>>(re), static_cast<Real<T>>(im));
  } else {
    return static_cast<T>(next());
  }
}

template <class T>
Array<T> filled(std::int64_t rows, std::int64_t columns, const std::function<double()>& next) {
  Array<T> a{rows, columns};
  for (T& z : a.x) z = drawn<T>(next);
  return a;
}

template <class T>
T conjugated(T z) {
  if constexpr (is_complex_type<T>)
    return std::conj(z);
  else
    return z;
}

template <class T>
T element(Op op, const Array<T>& a, std::int64_t i, std::int64_t j) {
  return op == Op::none ? a(i, j) : op == Op::transpose ? a(j, i) : conjugated(a(j, i));
}

}  // namespace vernier::test
