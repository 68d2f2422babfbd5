// A system in host memory, and its residuals by sums of two doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/environment.hpp"
#include "lapack/kernels.hpp"
#include "lapack/solve/system.hpp"
#include "lapack/verified/enclose.hpp"
#include "lapack/verified/upward.hpp"
#include "number/long_accumulator.hpp"

namespace vernier {

inline constexpr std::int64_t summed_rows = 8;  // share the cache lines of a matrix

// Rows first .. first + count - 1 of a column.
inline void sum_rows(std::int64_t n, const double* m, std::int64_t ld, const double* x, std::int64_t first,
                     std::int64_t count, double* y) {
  LongAccumulator sums[summed_rows];
  for (std::int64_t i = 0; i < count; ++i) sums[i].add_product(y[first + i], 1);
  for (std::int64_t l = 0; l < n; ++l)
    for (std::int64_t i = 0; i < count; ++i) sums[i].add_product(m[first + i + l * ld], -x[l]);
  for (std::int64_t i = 0; i < count; ++i) y[first + i] = sums[i].rounded<double>();
}

// The same by sums of three doubles, which leave entries in doubt where all cancels: false. At most 2 n terms go into
// `low`, each at most (n + 1) u^2 of size.
class ThreeDoubleRows {
 public:
  static constexpr std::int64_t most = 64;

  void sum(std::int64_t n, const double* m, std::int64_t ld, const double* x, std::int64_t first, std::int64_t count,
           const double* y) {
    for (std::int64_t i = 0; i < count; ++i) high_[i] = y[first + i], size_[i] = std::fabs(high_[i]);
    std::fill_n(mid_, count, 0.0), std::fill_n(low_, count, 0.0);
    vector_kernels<double>().thrice(count, n, m + first, ld, x, {high_, mid_, low_, size_});
    const double length = static_cast<double>(n + 4);
    share_ = length * length * length * 0x1p-155, tiny_ = length * 0x1p-1073;
  }
  bool rounded(std::int64_t i, double& y) const {
    const double h = high_[i] + mid_[i], t = sum_error(high_[i], mid_[i], h) + low_[i];
    const double r = h + t, rest = sum_error(h, t, r),
                 bound = share_ * size_[i] + tiny_ + (std::fabs(t) + std::fabs(rest)) * 0x1p-51;
    if (!(r + (rest + bound) == r && r + (rest - bound) == r)) return false;
    y = r;
    return true;
  }

 private:
  double high_[most], mid_[most], low_[most], size_[most], share_ = 0, tiny_ = 0;
};

// RN(Y - M X), entry by entry: M n x n, X and Y n x columns, finite. options: engine and threads.
inline std::vector<double> exact_residual(std::int64_t n, std::int64_t columns, const double* m, std::int64_t ld,
                                          const std::vector<double>& x, std::vector<double> y, const Options& options) {
  if (columns > by_loop) {  // a column takes 5 ns a product by long sums, residues of M some 200 for all columns
    gemm<double>(Op::none, Op::none, n, columns, n, -1, m, ld, x.data(), n, 1, y.data(), n,
                 exact_products(options, Rounding::nearest));
    return y;
  }
#pragma omp parallel num_threads(usable_threads(options.threads))
  {
    const FloatingEnvironment environment;
    ThreeDoubleRows rows;
#pragma omp for collapse(2) schedule(dynamic, 1)
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t begin = 0; begin < n; begin += ThreeDoubleRows::most) {
        const std::int64_t end = std::min(begin + ThreeDoubleRows::most, n);
        double *const out = y.data() + j * n, known[summed_rows];
        rows.sum(n, m, ld, x.data() + j * n, begin, end - begin, out);
        for (std::int64_t first = begin; first < end; first += summed_rows) {
          const std::int64_t count = std::min(summed_rows, end - first);
          bool all = true;
          for (std::int64_t i = 0; i < count; ++i) all = rows.rounded(first - begin + i, known[i]) && all;
          if (all)
            std::copy_n(known, count, out + first);
          else
            sum_rows(n, m, ld, x.data() + j * n, first, count, out);
        }
      }
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
    return exact_residual(n, nrhs, a_, lda_, x, right_hand_sides(), options_);
  }
  Vectors near_residual(const Vectors& x) const override {
    const Vectors r = less(right_hand_sides(), x);
    return all_finite(r) ? r : residual(x);
  }
  bool near_is_rounded_once() const override { return false; }
  Vectors near_error(const Vectors&, const Vectors& r) const override {
    return nrhs > by_loop ? Vectors{} : error_of_less(right_hand_sides(), r);
  }
  Vectors further_residual(const Vectors& r, const Vectors& z) const override {
    return nrhs > by_loop ? exact_residual(n, nrhs, a_, lda_, z, r, options_) : less(r, z);
  }
  Vectors further_error(const Vectors& r, const Vectors& z, const Vectors& next) const override {
    return nrhs > by_loop ? ProvedSystem::near_error(z, next) : error_of_less(r, next);
  }
  Vectors times(const Vectors& r) const override { return inverse_.near(nrhs, r, options_); }
  Vectors times_above(const Vectors& r) const override { return inverse_.above(nrhs, r, options_); }
  void times_bounds(Vectors& e, const Vectors& r, Vectors& error) const override {
    inverse_.bounds(nrhs, e, r, error, options_);
  }

 private:
  Vectors less(const Vectors& b, const Vectors& x) const {  // B - A X by sums of two doubles
    System<double> system;
    system.n = n, system.a = a_, system.lda = lda_, system.threads = usable_threads(options_.threads);
    Columns columns(static_cast<std::size_t>(nrhs));
    std::iota(columns.begin(), columns.end(), std::int64_t{0});
    Vectors r(entries());
    sizes_.assign(entries(), 0);
    system.sizes = sizes_.data();
    system.residuals(columns, x.data(), b.data(), r.data());
    return r;
  }
  // The last one is off by its own rounding and by roundings of roundings of |B| + |A||X|.
  Vectors error_of_less(const Vectors& b, const Vectors& r) const {
    Vectors error = sizes_;
    round_up_products(n, error);
    const double share = residual_share(n), tiny = static_cast<double>(n + 4) * 0x1p-1074;
    for (std::size_t i = 0; i < error.size(); ++i) {
      const double rest = sum_up(above(share * sum_up(error[i], std::fabs(b[i]))), tiny);
      error[i] = sum_up(rest, half_unit(r[i]));
    }
    return error;
  }

  const double *a_, *b_;
  std::int64_t lda_, ldb_;
  const ApproximateInverse& inverse_;
  const Options& options_;
  mutable Vectors sizes_;  // near |A||X|
};

}  // namespace vernier
