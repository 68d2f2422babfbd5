// The loops themselves, in a nameless namespace: each source that includes them compiles its own.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "lapack/complex_arithmetic.hpp"
#include "lapack/kernels.hpp"

namespace vernier {
namespace {

inline constexpr int lanes = 8;         // of sums over a column
inline constexpr std::int64_t few = 4;  // columns of a panel that are not divided further

inline std::int32_t magnitude_order(float x) { return std::bit_cast<std::int32_t>(x) & 0x7fffffff; }
inline std::int64_t magnitude_order(double x) { return std::bit_cast<std::int64_t>(x) & 0x7fffffffffffffff; }
template <class R>
inline auto magnitude_order(std::complex<R> z) {  // |Re| + |Im|, as LAPACK has it
  return magnitude_order(std::abs(z.real()) + std::abs(z.imag()));
}

// y[i] -= sum_p a(i, p) x[p], in the order of p and in the arithmetic of y.
template <class S, class T>
void subtract(std::int64_t rows, std::int64_t columns, const S* a, std::int64_t lda, const T* x, T* __restrict y) {
  const auto term = [](S element, T factor) { return times(static_cast<T>(element), factor); };
  std::int64_t p = 0;
  for (; p + 4 <= columns; p += 4) {
    const S *a0 = a + p * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    const T x0 = x[p], x1 = x[p + 1], x2 = x[p + 2], x3 = x[p + 3];
    for (std::int64_t i = 0; i < rows; ++i)
      y[i] = (((y[i] - term(a0[i], x0)) - term(a1[i], x1)) - term(a2[i], x2)) - term(a3[i], x3);
  }
  for (; p < columns; ++p) {
    const S* a0 = a + p * lda;
    const T x0 = x[p];
    for (std::int64_t i = 0; i < rows; ++i) y[i] -= term(a0[i], x0);
  }
}

// The first of the largest.
template <class T>
std::int64_t largest(std::int64_t m, const T* x) {
  auto most = magnitude_order(x[0]);
  for (std::int64_t i = 1; i < m; ++i) most = std::max(most, magnitude_order(x[i]));
  std::int64_t i = 0;
  while (magnitude_order(x[i]) != most) ++i;
  return i;
}

// By the reciprocal where that is a normal number, as LAPACK does: divisions are several times as slow.
template <class T>
void divide(std::int64_t m, T divisor, T* x) {
  const T reciprocal = 1 / divisor;
  if (std::abs(divisor) >= std::numeric_limits<T>::min() && std::abs(reciprocal) >= std::numeric_limits<T>::min()) {
    for (std::int64_t i = 0; i < m; ++i) x[i] *= reciprocal;
  } else {
    for (std::int64_t i = 0; i < m; ++i) x[i] /= divisor;
  }
}
template <class R>
void divide(std::int64_t m, std::complex<R> divisor, std::complex<R>* x) {
  const Divisor<std::complex<R>> by(divisor);
  for (std::int64_t i = 0; i < m; ++i) x[i] = by.divide(x[i]);
}

// Four columns or fewer, left-looking; rows are exchanged in all `whole` columns, which begin `before` columns to the
// left.
template <class T>
std::int64_t factor_few(std::int64_t m, std::int64_t width, T* a, std::int64_t lda, std::int64_t* pivots,
                        std::int64_t before, std::int64_t whole) {
  std::int64_t info = 0;
  for (std::int64_t j = 0; j < width; ++j) {
    T* column = a + j * lda;
    const std::int64_t above = std::min(j, m);
    for (std::int64_t p = 0; p < above; ++p)
      for (std::int64_t i = p + 1; i < above; ++i) column[i] -= times(a[i + p * lda], column[p]);
    if (j >= m) continue;
    T known[few] = {};
    std::copy(column, column + j, known);
    subtract(m - j, j, a + j, lda, known, column + j);

    const std::int64_t pivot = j + largest(m - j, column + j);
    pivots[j] = pivot + 1;
    if (column[pivot] == T{}) {
      if (info == 0) info = j + 1;
      continue;
    }
    if (pivot != j)
      for (T* x = a - before * lda; x < a + (whole - before) * lda; x += lda) std::swap(x[j], x[pivot]);
    divide(m - j - 1, column[j], column + j + 1);
  }
  return info;
}

// Halves down to a few columns. The right half receives the updates of the left in rows that the first-level cache
// holds, so that the left half is read from afar once and not once a column.
template <class T>
std::int64_t factor_part(std::int64_t m, std::int64_t width, T* a, std::int64_t lda, std::int64_t* pivots,
                         std::int64_t before, std::int64_t whole) {
  if (width <= few) return factor_few(m, width, a, lda, pivots, before, whole);
  const std::int64_t left = width <= 2 * few ? few : width / 2 / few * few, right = width - left;
  std::int64_t info = factor_part(m, left, a, lda, pivots, before, whole);
  T* b = a + left * lda;
  const std::int64_t top = std::min(left, m);
  for (std::int64_t j = 0; j < right; ++j)
    for (std::int64_t p = 0; p < top; ++p)
      for (std::int64_t i = p + 1; i < top; ++i) b[i + j * lda] -= times(a[i + p * lda], b[p + j * lda]);
  if (m <= left) return info;
  constexpr std::int64_t step = 512;
  for (std::int64_t i = left; i < m; i += step)
    for (std::int64_t j = 0; j < right; ++j)
      subtract(std::min(step, m - i), left, a + i, lda, b + j * lda, b + i + j * lda);
  const std::int64_t info_right = factor_part(m - left, right, b + left, lda, pivots + left, before + left, whole);
  for (std::int64_t i = left; i < std::min(width, m); ++i) pivots[i] += left;
  return info != 0 || info_right == 0 ? info : info_right + left;
}

template <class T>
std::int64_t factor_panel(std::int64_t m, std::int64_t width, T* a, std::int64_t lda, std::int64_t* pivots) {
  return factor_part(m, width, a, lda, pivots, std::int64_t{0}, width);
}

// One column of B at a time lies in registers; columns do not depend on each other, so that several are under way.
template <class T>
void unit_lower(std::int64_t order, std::int64_t columns, const T* a, std::int64_t lda, T* b, std::int64_t ldb) {
  constexpr std::int64_t n = widest_panel;
  T l[n * n] = {};  // zeros on and above the diagonal
  for (std::int64_t p = 0; p < order; ++p)
    for (std::int64_t i = p + 1; i < order; ++i) l[i + p * n] = a[i + p * lda];
  for (std::int64_t j = 0; j < columns; ++j) {
    T x[n] = {};
    std::copy_n(b + j * ldb, order, x);
    for (std::int64_t p = 0; p + 1 < n; ++p) {
      const T known = x[p];
      for (std::int64_t i = 0; i < n; ++i) x[i] -= times(l[i + p * n], known);
    }
    std::copy_n(x, order, b + j * ldb);
  }
}

inline double sum_of_lanes(const double* s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// sum f(column_i x_i)
template <class S, class F>
inline double sum_of_terms(std::int64_t rows, const S* column, const double* x, F f) {
  double sums[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= rows; i += lanes)
    for (int l = 0; l < lanes; ++l) sums[l] += f(static_cast<double>(column[i + l]) * x[i + l]);
  for (; i < rows; ++i) sums[i % lanes] += f(static_cast<double>(column[i]) * x[i]);
  return sum_of_lanes(sums);
}

template <class S>
void subtract_transposed(std::int64_t rows, std::int64_t columns, const S* a, std::int64_t lda, const double* x,
                         double* __restrict y) {
  for (std::int64_t j = 0; j < columns; ++j)
    y[j] -= sum_of_terms(rows, a + j * lda, x, [](double term) { return term; });
}

template <class S>
void magnitudes(std::int64_t rows, std::int64_t columns, const S* a, std::int64_t lda, const double* x,
                double* __restrict y) {
  for (std::int64_t j = 0; j < columns; ++j) {
    const S* column = a + j * lda;
    const double factor = std::abs(x[j]);
    for (std::int64_t i = 0; i < rows; ++i) y[i] += std::abs(static_cast<double>(column[i])) * factor;
  }
}

template <class S>
void magnitudes_transposed(std::int64_t rows, std::int64_t columns, const S* a, std::int64_t lda, const double* x,
                           double* __restrict y) {
  for (std::int64_t j = 0; j < columns; ++j)
    y[j] += sum_of_terms(rows, a + j * lda, x, [](double term) { return std::abs(term); });
}

// high + low -= a x, up to the rounding of low: TwoProd and TwoSum.
inline void subtract_product(double& high, double& low, double a, double x) {
  const double product = a * x, product_error = std::fma(a, x, -product);
  const double sum = high - product, part = sum - high;
  const double sum_error = (high - (sum - part)) - (product + part);
  high = sum;
  low += sum_error - product_error;
}

template <class S>
void exact(std::int64_t rows, std::int64_t columns, const S* a, std::int64_t lda, const double* x,
           double* __restrict high, double* __restrict low) {
  std::int64_t j = 0;
  for (; j + 4 <= columns; j += 4) {
    const S *a0 = a + j * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    for (std::int64_t i = 0; i < rows; ++i) {
      double h = high[i], l = low[i];
      subtract_product(h, l, static_cast<double>(a0[i]), x0);
      subtract_product(h, l, static_cast<double>(a1[i]), x1);
      subtract_product(h, l, static_cast<double>(a2[i]), x2);
      subtract_product(h, l, static_cast<double>(a3[i]), x3);
      high[i] = h;
      low[i] = l;
    }
  }
  for (; j < columns; ++j) {
    const S* a0 = a + j * lda;
    for (std::int64_t i = 0; i < rows; ++i) subtract_product(high[i], low[i], static_cast<double>(a0[i]), x[j]);
  }
}

// TwoSum: what the sum loses.
inline double add_to(double& sum, double x) {
  const double s = sum + x, part = s - sum, lost = (sum - (s - part)) + (x - part);
  sum = s;
  return lost;
}

// high + mid + low -= a x.
inline void subtract_product(double& high, double& mid, double& low, double& size, double a, double x) {
  const double product = a * x, product_error = std::fma(a, x, -product);
  const double sum_error = add_to(high, -product), first = add_to(mid, sum_error);
  low += first + add_to(mid, -product_error);
  size += std::abs(product);
}

template <class S>
void thrice(std::int64_t rows, std::int64_t columns, const S* a, std::int64_t lda, const double* x,
            const ThreeSums& sums) {
  double *const high = sums.high, *const mid = sums.mid, *const low = sums.low, *const size = sums.size;
  for (std::int64_t j = 0; j < columns; j += 2) {
    const bool two = j + 1 < columns;
    const S *a0 = a + j * lda, *a1 = two ? a0 + lda : a0;
    const double x0 = x[j], x1 = two ? x[j + 1] : 0;
#pragma omp simd
    for (std::int64_t i = 0; i < rows; ++i) {
      double h = high[i], m = mid[i], l = low[i], s = size[i];
      subtract_product(h, m, l, s, static_cast<double>(a0[i]), x0);
      subtract_product(h, m, l, s, static_cast<double>(a1[i]), x1);
      high[i] = h, mid[i] = m, low[i] = l, size[i] = s;
    }
  }
}

template <class S>
void exact_transposed(std::int64_t rows, std::int64_t columns, const S* a, std::int64_t lda, const double* x,
                      double* high, double* low) {
  for (std::int64_t j = 0; j < columns; ++j) {
    const S* column = a + j * lda;
    double h[lanes] = {}, l[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= rows; i += lanes)
      for (int p = 0; p < lanes; ++p) subtract_product(h[p], l[p], static_cast<double>(column[i + p]), x[i + p]);
    for (; i < rows; ++i) subtract_product(h[i % lanes], l[i % lanes], static_cast<double>(column[i]), x[i]);
    for (int p = 0; p < lanes; ++p) {
      subtract_product(high[j], low[j], -h[p], 1);
      low[j] += l[p];
    }
  }
}

template <class T>
void sums(std::int64_t rows, std::int64_t columns, const T* a, std::int64_t lda, const MatrixSums& s) {
  double* __restrict row_largest = s.row_largest;
  double* __restrict row_sum = s.row_sum;
  for (std::int64_t j = 0; j < columns; ++j) {
    const T* column = a + j * lda;
    double most[lanes] = {}, total[lanes] = {};
    const auto take = [&](std::int64_t i, int l) {
      const double x = std::abs(static_cast<double>(column[i]));
      row_largest[i] = row_largest[i] < x ? x : row_largest[i];
      row_sum[i] += x;
      most[l] = most[l] < x ? x : most[l];
      total[l] += x;
    };
    std::int64_t i = 0;
    for (; i + lanes <= rows; i += lanes)
      for (int l = 0; l < lanes; ++l) take(i + l, l);
    for (; i < rows; ++i) take(i, static_cast<int>(i % lanes));
    for (const double x : most) s.column_largest[j] = std::max(s.column_largest[j], x);
    s.column_sum[j] += sum_of_lanes(total);
  }
}

template <class S>
constexpr VectorKernels<S> vector_table() {
  return {subtract<S, double>,
          subtract_transposed<S>,
          magnitudes<S>,
          magnitudes_transposed<S>,
          exact<S>,
          exact_transposed<S>,
          thrice<S>};
}

template <class T>
constexpr FactorKernels<T> factor_table = {factor_panel<T>, unit_lower<T>};

constexpr KernelTable table = {factor_table<float>,
                               factor_table<double>,
                               factor_table<std::complex<float>>,
                               factor_table<std::complex<double>>,
                               vector_table<Half>(),
                               vector_table<Brain>(),
                               vector_table<float>(),
                               vector_table<double>(),
                               {sums<float>},
                               {sums<double>}};

}  // namespace
}  // namespace vernier
