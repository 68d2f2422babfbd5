// The true normwise backward error of a solution: measured in long double, and compared with a bound in integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/exact.hpp"
#include "support/generators.hpp"

namespace vernier::test {

// The part of a system that belongs to one right-hand side.
template <class T>
struct Solution {
  Matrix<T> a, x, b;  // op(A), and one column of X and B

  Solution(Op op, const Matrix<T>& matrix, const Matrix<T>& xs, const Matrix<T>& bs, std::int64_t c)
      : a(op == Op::none ? padded(matrix, 0) : transposed(matrix)), x(column(xs, c)), b(column(bs, c)) {}

  static Matrix<T> column(const Matrix<T>& m, std::int64_t c) {
    return Matrix<T>::of(m.rows(), 1, [&](auto i, auto) { return m(i, c); });
  }
};

// In long double: right to about n 2^-64.
template <class T>
double measured_error(const Solution<T>& s) {
  long double residual = 0, norm_a = 0, norm_x = 0, norm_b = 0;
  for (std::int64_t i = 0; i < s.a.rows(); ++i) {
    long double r = s.b(i, 0), row = 0;
    for (std::int64_t j = 0; j < s.a.rows(); ++j) {
      const long double e = s.a(i, j);
      r -= e * s.x(j, 0);
      row += std::abs(e);
    }
    if (std::isnan(r)) return std::numeric_limits<double>::infinity();
    residual = std::max(residual, std::abs(r));
    norm_a = std::max(norm_a, row);
    norm_x = std::max(norm_x, std::abs(static_cast<long double>(s.x(i, 0))));
    norm_b = std::max(norm_b, std::abs(static_cast<long double>(s.b(i, 0))));
  }
  return residual == 0 ? 0 : static_cast<double>(residual / (norm_a * norm_x + norm_b));
}

// In integers: does max |b - A x| <= bound (|A| max |x| + max |b|) hold?
template <class T>
bool holds_exactly(const Solution<T>& s, double bound) {
  const ExactProduct<T> product(s.a, s.x);
  mpz_class residual, norm_a, norm_x, norm_b;
  const auto raise = [](mpz_class& most, const mpz_class& value) {
    if (abs(value) > most) most = abs(value);
  };
  for (std::int64_t i = 0; i < s.a.rows(); ++i) {
    mpz_class row;
    for (std::int64_t j = 0; j < s.a.rows(); ++j) row += abs(exact_value(s.a(i, j)));
    raise(norm_a, row);
    raise(norm_x, exact_value(s.x(i, 0)));
    raise(norm_b, exact_value(s.b(i, 0)));
    raise(residual, exact_value(s.b(i, 0)) - product.sum(i, 0));
  }
  const mpz_class unit = mpz_class(1) << -exact_unit;  // 1 in the units of all these
  return residual * unit * unit <= exact_value(bound) * (norm_a * norm_x + norm_b * unit);
}

}  // namespace vernier::test
