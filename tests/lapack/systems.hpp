// Matrices for factorisations, and how far factors are from what they factor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/generators.hpp"
#include "support/matrix.hpp"
#include "support/random.hpp"
#include "vernier/lapack.hpp"

namespace vernier::test {

template <class T>
inline constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

using Pivots = std::vector<std::int64_t>;

inline Options with_contract(const char* contract, int threads = 2) {
  Options options;
  options.contract = Contract::parse(contract);
  options.threads = threads;
  return options;
}

// The larger one; a NaN is larger than all.
inline double worse(double x, double y) { return std::isnan(x) || y <= x ? x : y; }

// The largest |PA - LU| / (|L||U|), the growth taken out: at most min(m, n) u for a conventional LU.
template <class T>
double lu_error(const Matrix<T>& a, const Matrix<T>& lu, const Pivots& pivots) {
  Matrix<T> pa = padded(a, 0);
  const std::int64_t m = a.rows(), n = a.columns(), inner = std::min(m, n);
  for (std::int64_t i = 0; i < inner; ++i)
    for (std::int64_t j = 0; j < n; ++j) std::swap(pa(i, j), pa(pivots[static_cast<std::size_t>(i)] - 1, j));
  std::vector<long double> rows(static_cast<std::size_t>(m * inner)), column(static_cast<std::size_t>(inner));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t p = 0; p < inner; ++p) rows[static_cast<std::size_t>(i * inner + p)] = p == i ? 1 : lu(i, p);
  double worst = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t p = 0; p < inner; ++p) column[static_cast<std::size_t>(p)] = lu(p, j);
    for (std::int64_t i = 0; i < m; ++i) {
      long double sum = 0, size = 0;
      const long double *l = rows.data() + i * inner, *u = column.data();
      for (const long double* end = u + std::min({i, j, inner - 1}) + 1; u != end; ++l, ++u) {
        const long double term = *l * *u;
        sum += term;
        size += term < 0 ? -term : term;
      }
      const auto error = static_cast<double>(std::abs(pa(i, j) - sum));
      if (error != 0) worst = worse(worst, error / static_cast<double>(size));
    }
  }
  return worst;
}

// The largest |A - L L^T| / (|L||L^T|) of the triangle, L being the factor or its transpose.
template <class T>
double cholesky_error(Uplo uplo, const Matrix<T>& a, const Matrix<T>& factor) {
  const auto l = [&](std::int64_t i, std::int64_t j) { return uplo == Uplo::lower ? factor(i, j) : factor(j, i); };
  double worst = 0;
  for (std::int64_t j = 0; j < a.columns(); ++j)
    for (std::int64_t i = j; i < a.rows(); ++i) {
      long double sum = 0, size = 0;
      for (std::int64_t p = 0; p <= j; ++p) {
        const long double term = static_cast<long double>(l(i, p)) * l(j, p);
        sum += term;
        size += std::abs(term);
      }
      worst = worse(worst, static_cast<double>(std::abs(a(i, j) - sum) / size));
    }
  return worst;
}

// Symmetric positive definite: G G^T + I of a random G.
template <class T>
Matrix<T> definite_matrix(std::int64_t n, std::uint64_t seed) {
  const auto g = scattered_matrix<double>(n, n, 0.5, seed);
  Matrix<T> a(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      double sum = i == j ? 1 : 0;
      for (std::int64_t p = 0; p < n; ++p) sum += g(i, p) * g(j, p);
      a(i, j) = a(j, i) = static_cast<T>(sum);
    }
  return a;
}

// The largest normwise backward error of the columns of X as solutions of op(A) X = B.
template <class T>
double backward_error(Op op, const Matrix<T>& a, const Matrix<T>& x, const Matrix<T>& b) {
  const std::int64_t n = a.rows();
  const auto entry = [&](std::int64_t i, std::int64_t j) { return op == Op::none ? a(i, j) : a(j, i); };
  double worst = 0;
  for (std::int64_t c = 0; c < x.columns(); ++c) {
    long double residual = 0, norm_a = 0, norm_x = 0, norm_b = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      long double r = b(i, c), row = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        r -= static_cast<long double>(entry(i, j)) * x(j, c);
        row += std::abs(static_cast<long double>(entry(i, j)));
      }
      residual = std::max(residual, std::abs(r));
      if (std::isnan(r)) return std::numeric_limits<double>::quiet_NaN();
      norm_a = std::max(norm_a, row);
      norm_x = std::max(norm_x, std::abs(static_cast<long double>(x(i, c))));
      norm_b = std::max(norm_b, std::abs(static_cast<long double>(b(i, c))));
    }
    if (residual > 0) worst = std::max(worst, static_cast<double>(residual / (norm_a * norm_x + norm_b)));
  }
  return worst;
}

}  // namespace vernier::test
