// A system in host memory, and its residuals by sums of two doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/environment.hpp"
#include "lapack/solve/system.hpp"
#include "lapack/verified/enclose.hpp"
#include "lapack/verified/upward.hpp"
#include "number/long_accumulator.hpp"

namespace vernier {

inline constexpr std::int64_t summed_rows = 8;  // share the cache lines of a matrix

// Rows first .. first + count - 1 of a column.
inline void sum_rows(std::int64_t n, double sign, const double* m, std::int64_t ld, const double* x, std::int64_t first,
                     std::int64_t count, double* y) {
  LongAccumulator sums[summed_rows];
  for (std::int64_t i = 0; i < count; ++i) sums[i].add_product(y[first + i], 1);
  for (std::int64_t l = 0; l < n; ++l)
    for (std::int64_t i = 0; i < count; ++i) sums[i].add_product(m[first + i + l * ld], sign * x[l]);
  for (std::int64_t i = 0; i < count; ++i) y[first + i] = sums[i].rounded<double>();
}

// RN(sign M X + Y), entry by entry: M n x n, X and Y n x columns, finite. sign: 1 or -1; options: engine and threads.
inline std::vector<double> exact_columns(std::int64_t n, std::int64_t columns, double sign, const double* m,
                                         std::int64_t ld, const std::vector<double>& x, std::vector<double> y,
                                         const Options& options) {
  if (columns > by_loop) {  // a column takes 5 ns a product by long sums, residues of M some 200 for all columns
    gemm<double>(Op::none, Op::none, n, columns, n, sign, m, ld, x.data(), n, 1, y.data(), n,
                 exact_products(options, Rounding::nearest));
    return y;
  }
#pragma omp parallel num_threads(usable_threads(options.threads))
  {
    const FloatingEnvironment environment;
#pragma omp for collapse(2) schedule(dynamic, 4)
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t first = 0; first < n; first += summed_rows)
        sum_rows(n, sign, m, ld, x.data() + j * n, first, std::min(summed_rows, n - first), y.data() + j * n);
  }
  return y;
}

class HostSystem : public ProvedSystem {
 public:
  HostSystem(std::int64_t rows, std::int64_t columns, const double* A, std::int64_t lda, const double* B,
             std::int64_t ldb, const ApproximateInverse& inverse, const Options& options)
      : ProvedSystem(rows, columns), a_(A), b_(B), lda_(lda), ldb_(ldb), inverse_(inverse), options_(options) {}

  Vectors right_hand_sides() const override {
    Vectors b(entries());
    for (std::int64_t j = 0; j < nrhs; ++j) std::copy_n(b_ + j * ldb_, n, b.data() + j * n);
    return b;
  }
  Vectors residual(const Vectors& x) const override {
    return exact_columns(n, nrhs, -1, a_, lda_, x, right_hand_sides(), options_);
  }
  Vectors near_residual(const Vectors& x) const override {
    System<double> system;
    system.n = n, system.a = a_, system.lda = lda_, system.threads = usable_threads(options_.threads);
    Columns columns(static_cast<std::size_t>(nrhs));
    std::iota(columns.begin(), columns.end(), std::int64_t{0});
    Vectors r(entries());
    system.residuals(columns, x.data(), right_hand_sides().data(), r.data());
    return all_finite(r) ? r : residual(x);
  }
  bool near_is_rounded_once() const override { return false; }
  // By sums of two doubles a residual is off by its own rounding and by roundings of roundings of |B| + |A||X|.
  Vectors near_error(const Vectors& x, const Vectors& r) const override {
    if (nrhs > by_loop) return {};
    Vectors error = product_above(n, nrhs, a_, lda_, magnitudes_of(x), options_);
    constexpr double width = residual_columns + 5;
    const double share = (static_cast<double>(n) + width) * width * 0x1p-106 * (1 + 0x1p-30),
                 tiny = static_cast<double>(n + 4) * 0x1p-1074;
    for (std::int64_t j = 0; j < nrhs; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        double& e = error[static_cast<std::size_t>(i + j * n)];
        e = sum_up(above(share * sum_up(e, std::fabs(b_[i + j * ldb_]))), tiny);
        e = sum_up(e, half_unit(r[static_cast<std::size_t>(i + j * n)]));
      }
    return error;
  }
  Vectors times(const Vectors& r) const override { return inverse_.near(nrhs, r, options_); }
  Vectors times_above(const Vectors& r) const override { return inverse_.above(nrhs, r, options_); }
  Vectors times_error(const Vectors& r) const override { return inverse_.error(nrhs, r, options_); }
  Vectors times_rounded_once(const Vectors& r) const override {
    if (!inverse_.rows.empty()) return {};
    return exact_columns(n, nrhs, 1, inverse_.r(), n, r, Vectors(r.size()), options_);
  }

 private:
  const double *a_, *b_;
  std::int64_t lda_, ldb_;
  const ApproximateInverse& inverse_;
  const Options& options_;
};

}  // namespace vernier
