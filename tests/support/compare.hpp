// Comparison of results bit by bit, which says where they part.
#pragma once

#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>

#include "support/matrix.hpp"

namespace vernier::test {

template <class T>
std::string described(T x) {
  std::ostringstream out;
  out.precision(sizeof(T) == 4 ? 9 : 17);
  out << x << " (" << std::hexfloat << x << ", bits 0x" << std::hex << bits_of(x) << ')';
  return out.str();
}

namespace detail {

template <class T, class Same>
std::string difference(const Matrix<T>& got, const Matrix<T>& expected, Same same) {
  if (got.rows() != expected.rows() || got.columns() != expected.columns()) return "the shapes differ";
  std::int64_t count = 0;
  std::string first;
  for (std::int64_t j = 0; j < got.columns(); ++j)
    for (std::int64_t i = 0; i < got.rows(); ++i) {
      if (same(got(i, j), expected(i, j))) continue;
      if (count++ == 0)
        first = joined("(", i, ", ", j, "): got ", described(got(i, j)), ", expected ", described(expected(i, j)));
    }
  if (count == 0) return "";
  return joined(first, "; ", count, " of ", got.rows() * got.columns(), " entries differ");
}

}  // namespace detail

// "" if every bit is the same, else the first entry that differs.
template <class T>
std::string difference(const Matrix<T>& got, const Matrix<T>& expected) {
  return detail::difference(got, expected, [](T x, T y) { return bits_of(x) == bits_of(y); });
}

// The same, but any NaN equals any other.
template <class T>
std::string difference_but_for_nans(const Matrix<T>& got, const Matrix<T>& expected) {
  return detail::difference(got, expected, [](T x, T y) {
    return std::isnan(x) || std::isnan(y) ? std::isnan(x) && std::isnan(y) : bits_of(x) == bits_of(y);
  });
}

}  // namespace vernier::test
