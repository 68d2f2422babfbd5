// Residuals by the kernels of real systems, on A as the real matrix B of twice the rows that it is in memory.
#include "lapack/solve/system.hpp"

#include <algorithm>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "lapack/kernels.hpp"

namespace vernier {
namespace {

template <class R>
const R* parts_of(const System<std::complex<R>>& s, std::int64_t column) {
  return reinterpret_cast<const R*>(s.a + column * s.lda);
}

// high + low -= B x, or B^T x.
template <class R>
void subtract_exactly(const System<std::complex<R>>& s, const double* x, double* high, double* low) {
  const std::int64_t n = s.order();
  const VectorKernels<R>& kernel = vector_kernels<R>();
  const bool plain = s.op == Op::none;
  constexpr std::int64_t rows_at_a_time = 1024, columns_at_a_time = 64;
  const std::int64_t all = plain ? 2 * n : n, step = plain ? rows_at_a_time : columns_at_a_time;
#pragma omp parallel for num_threads(s.threads) schedule(dynamic) if (n > 64)
  for (std::int64_t first = 0; first < all; first += step) {
    const FloatingEnvironment environment;
    const std::int64_t count = std::min(step, all - first);
    if (plain)
      kernel.exact(count, n, parts_of(s, 0) + first, 2 * s.lda, x, high + first, low + first);
    else
      kernel.exact_transposed(2 * n, count, parts_of(s, first), 2 * s.lda, x, high + first, low + first);
  }
}

// x + y, each given as high + low.
double sum_of(double x, double x_low, double y, double y_low) {
  const double sum = x + y, part = sum - x;
  return sum + (((x - (sum - part)) + (y - part)) + (x_low + y_low));
}

// With x = u + i v: Re r = Re b - Re (B u) + Im (B v), Im r = Im b - Im (B u) - Re (B v).
template <class R>
void plain_residual(const System<std::complex<R>>& s, const double* x, const double* b, double* r) {
  std::vector<double> u(static_cast<std::size_t>(s.order())), v(u), high(b, b + s.n), low(high.size()),
      other(high.size()), other_low(high.size());
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = x[2 * i], v[i] = x[2 * i + 1];
  subtract_exactly(s, u.data(), high.data(), low.data());
  subtract_exactly(s, v.data(), other.data(), other_low.data());
  for (std::size_t i = 0; i < high.size(); i += 2) {
    r[i] = sum_of(high[i], low[i], -other[i + 1], -other_low[i + 1]);
    r[i + 1] = sum_of(high[i + 1], low[i + 1], other[i], other_low[i]);
  }
}

// B^T (u, v) and B^T (v, -u) are the parts of A^H x.
template <class R>
void adjoint_residual(const System<std::complex<R>>& s, const double* x, const double* b, double* r) {
  std::vector<double> turned(x, x + s.n), high(static_cast<std::size_t>(s.order())), low(high);
  for (std::size_t i = 0; i < turned.size(); i += 2) turned[i] = x[i + 1], turned[i + 1] = -x[i];
  for (const std::size_t part : {0, 1}) {
    for (std::size_t i = 0; i < high.size(); ++i) high[i] = b[2 * i + part], low[i] = 0;
    subtract_exactly(s, part == 0 ? x : turned.data(), high.data(), low.data());
    for (std::size_t i = 0; i < high.size(); ++i) r[2 * i + part] = high[i] + low[i];
  }
}

}  // namespace

template <class R>
double largest_finite_part(const System<std::complex<R>>& s) {
  double largest = 0;
  for (std::int64_t j = 0; j < s.order(); ++j)
    for (std::int64_t i = 0; i < s.order(); ++i) {
      const std::complex<R> z = s.a[i + j * s.lda];
      const bool nan = std::isnan(z.real()) || std::isnan(z.imag());
      require(std::isfinite(z.real()) && std::isfinite(z.imag()), "solve: A({}, {}) is {}: expected a finite number",
              i + 1, j + 1, nan ? "a NaN" : "an infinity");
      for (const R part : {z.real(), z.imag()}) largest = std::max(largest, std::abs(static_cast<double>(part)));
    }
  return largest;
}

template <class R>
void take_figures(System<std::complex<R>>& s) {
  const std::int64_t n = s.order();
  s.row_largest.assign(static_cast<std::size_t>(n), 0.0);
  s.column_largest = s.row_largest;
  std::vector<double> row_sum(s.row_largest), column_sum(s.row_largest);
  for (std::int64_t j = 0; j < n; ++j) {
    const R* column = parts_of(s, j);
    const auto line = static_cast<std::size_t>(j);
    for (std::size_t i = 0; i < row_sum.size(); ++i) {
      const auto re = static_cast<double>(column[2 * i]), im = static_cast<double>(column[2 * i + 1]);
      const double largest = std::max(std::abs(re), std::abs(im)), modulus = std::sqrt(re * re + im * im);
      s.row_largest[i] = std::max(s.row_largest[i], largest);
      s.column_largest[line] = std::max(s.column_largest[line], largest);
      row_sum[i] += modulus;
      column_sum[line] += modulus;
    }
  }
  const auto most = [](const std::vector<double>& x) { return x.empty() ? 0 : *std::max_element(x.begin(), x.end()); };
  s.norm = most(s.op == Op::none ? row_sum : column_sum);
  s.largest = most(s.row_largest);
}

template <class R>
void complex_residuals(const System<std::complex<R>>& s, const Columns& columns, const double* x, const double* b,
                       double* r) {
  for (const std::int64_t c : columns)
    (s.op == Op::none ? plain_residual<R> : adjoint_residual<R>)(s, x + c * s.n, b + c * s.n, r + c * s.n);
}

template <class R>
void add_complex_magnitudes(const System<std::complex<R>>& s, const double* x, double* y) {
  std::vector<double> moduli(x, x + s.n);
  take_moduli(s, moduli.data());
  for (std::int64_t j = 0; j < s.order(); ++j)
    for (std::int64_t i = 0; i < s.order(); ++i) {
      const R* z = parts_of(s, j) + 2 * i;
      const auto [row, column] = s.op == Op::none ? std::pair{i, j} : std::pair{j, i};
      const double term = std::hypot(static_cast<double>(z[0]), static_cast<double>(z[1])) *
                          moduli[static_cast<std::size_t>(2 * column)];
      for (const int part : {0, 1}) y[2 * row + part] += term;
    }
}

VERNIER_REAL_INSTANCES(largest_finite_part, take_figures, complex_residuals, add_complex_magnitudes)

}  // namespace vernier
