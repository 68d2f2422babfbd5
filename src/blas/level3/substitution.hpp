// Small triangular products and solves in a fixed order of operations: the same bits on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "blas/level3/routine.hpp"
#include "number/complex.hpp"

namespace vernier {

// op(A) of a block on the diagonal, dense, with its diagonal written out.
template <class T>
struct TriangularBlock {
  std::int64_t order;
  bool lower;  // op(A)
  bool unit;
  std::vector<T> values;

  TriangularBlock(Uplo uplo, Op op, Diag diag, std::int64_t n, const T* a, std::int64_t lda)
      : order(n), lower((uplo == Uplo::lower) == (op == Op::none)), unit(diag == Diag::unit), values(n * n) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = lower ? j : 0; i < (lower ? n : j + 1); ++i) {
        if (i == j && unit) continue;
        const T x = op == Op::none ? a[i + j * lda] : a[j + i * lda];
        values[static_cast<std::size_t>(i + j * n)] = op == Op::conjugate_transpose ? conjugate(x) : x;
      }
  }
  T operator()(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i + j * order)]; }
};

// Products by the textbook: std::complex's own repairs NaNs, in a way that compilers do not agree on.
template <class T>
T plain_product(T x, T y) {
  if constexpr (is_complex<T>)
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  else
    return x * y;
}

// x / y; for complex y by Smith's formula, which does not overflow on the way.
template <class T>
T plain_quotient(T x, T y) {
  if constexpr (is_complex<T>) {
    using R = typename T::value_type;
    if (std::abs(y.imag()) <= std::abs(y.real())) {
      const R ratio = y.imag() / y.real(), scale = y.real() + y.imag() * ratio;
      return {(x.real() + x.imag() * ratio) / scale, (x.imag() - x.real() * ratio) / scale};
    }
    const R ratio = y.real() / y.imag(), scale = y.real() * ratio + y.imag();
    return {(x.real() * ratio + x.imag()) / scale, (x.imag() * ratio - x.real()) / scale};
  } else {
    return x / y;
  }
}

// y += factor x, over `count` elements.
template <class T>
void add_multiple(std::int64_t count, T factor, const T* x, T* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] += plain_product(factor, x[i]);
}

// X = op(A) X, or X = op(A)^-1 X: column by column.
template <class T>
void substitute_left(const TriangularBlock<T>& a, bool solve, std::int64_t columns, T* x, std::int64_t ldx) {
  const std::int64_t n = a.order;
  const bool upwards = a.lower == solve;  // in which order the elements of a column are finished or used up
  for (std::int64_t j = 0; j < columns; ++j) {
    T* column = x + j * ldx;
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t l = upwards ? step : n - 1 - step;
      if (solve && !a.unit) column[l] = plain_quotient(column[l], a(l, l));
      const std::int64_t begin = a.lower ? l + 1 : 0, end = a.lower ? n : l;
      add_multiple(end - begin, solve ? -column[l] : column[l], a.values.data() + begin + l * n, column + begin);
      if (!solve && !a.unit) column[l] = plain_product(column[l], a(l, l));
    }
  }
}

// X = X op(A), or X = X op(A)^-1: rows of X side by side.
template <class T>
void substitute_right(const TriangularBlock<T>& a, bool solve, std::int64_t rows, T* x, std::int64_t ldx) {
  const std::int64_t n = a.order;
  const bool upwards = a.lower != solve;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t j = upwards ? step : n - 1 - step;
    T* column = x + j * ldx;
    if (!solve && !a.unit)
      for (std::int64_t i = 0; i < rows; ++i) column[i] = plain_product(column[i], a(j, j));
    for (std::int64_t l = a.lower ? j + 1 : 0; l < (a.lower ? n : j); ++l)
      add_multiple(rows, solve ? -a(l, j) : a(l, j), x + l * ldx, column);
    if (solve && !a.unit)
      for (std::int64_t i = 0; i < rows; ++i) column[i] = plain_quotient(column[i], a(j, j));
  }
}

// X is order x others (left) or others x order (right), dealt out to threads in pieces of a fixed size.
template <class T>
void substitute(Side side, const TriangularBlock<T>& a, bool solve, std::int64_t others, T* x, std::int64_t ldx,
                int threads) {
  constexpr std::int64_t piece = 64;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t begin = 0; begin < others; begin += piece) {
    const FloatingEnvironment environment;
    const std::int64_t count = std::min(piece, others - begin);
    if (side == Side::left)
      substitute_left(a, solve, count, x + begin * ldx, ldx);
    else
      substitute_right(a, solve, count, x + begin, ldx);
  }
}

}  // namespace vernier
