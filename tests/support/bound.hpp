// The promise of a Contract, held against the exact product: every entry, decided in integers.
#pragma once

#include <string>

#include "support/exact.hpp"
#include "support/matrix.hpp"

namespace vernier::test {

// "" if T = result keeps the bound that vernier.hpp states for the contract, else the first entry that does not:
//
//   |T - AB| <= c |A||B|  (normwise: c |A_i|_2 |B_j|_2)  + u32 |T| if T is float  + half the smallest subnormal number
//
// the last only where T is zero, subnormal or the smallest normal number: no relative bound can hold there. T may be an
// infinity where a number within c |A||B| of AB rounds to that infinity.
template <class T>
std::string broken_bound(const Contract& contract, const Matrix<T>& a, const Matrix<T>& b, const ExactProduct<T>& exact,
                         const Matrix<T>& result);

template <class T>
std::string broken_bound(const Contract& contract, const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& result) {
  return broken_bound(contract, a, b, ExactProduct<T>(a, b), result);
}

// The same of so many rows and columns, evenly spaced, the last ones among them.
template <class T>
std::string broken_bound_of_some(const Contract& contract, const Matrix<T>& a, const Matrix<T>& b,
                                 const Matrix<T>& result, std::int64_t rows, std::int64_t columns) {
  const auto row = [&](std::int64_t i) { return a.rows() - 1 - i * (a.rows() / rows); };
  const auto column = [&](std::int64_t j) { return b.columns() - 1 - j * (b.columns() / columns); };
  Matrix<T> some_a(rows, a.columns()), some_b(b.rows(), columns), some(rows, columns);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t l = 0; l < a.columns(); ++l) some_a(i, l) = a(row(i), l);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t l = 0; l < b.rows(); ++l) some_b(l, j) = b(l, column(j));
    for (std::int64_t i = 0; i < rows; ++i) some(i, j) = result(row(i), column(j));
  }
  return broken_bound(contract, some_a, some_b, some);
}

// "" if C is its transpose to the last bit but signs of zeros, else the first entry that differs.
template <class T>
std::string asymmetry(const Matrix<T>& c) {
  for (std::int64_t j = 0; j < c.columns(); ++j)
    for (std::int64_t i = 0; i < j; ++i)
      if (!(c(i, j) == c(j, i)))
        return std::to_string(i) + ", " + std::to_string(j) + " of " + std::to_string(c.rows());
  return "";
}

}  // namespace vernier::test
