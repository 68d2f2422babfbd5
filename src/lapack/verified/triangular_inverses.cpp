#include "lapack/verified/triangular_inverses.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/environment.hpp"
#include "base/size.hpp"
#include "engine/panel.hpp"
#include "lapack/kernels.hpp"
#include "lapack/level3.hpp"
#include "lapack/solve/system.hpp"
#include "lapack/verified/upward.hpp"
#include "product/native/native.hpp"

namespace vernier {
namespace {

using Vectors = Triangles::Vectors;

// The diagonal block of rows and columns begin .. begin + count - 1 of a triangle, zeros around it.
void copy_triangle(Uplo uplo, std::int64_t n, const double* m, std::int64_t begin, std::int64_t count, double* to) {
  for (std::int64_t j = 0; j < count; ++j) {
    const double* column = m + begin + (begin + j) * n;
    double* out = to + j * count;
    std::fill_n(out, count, 0.0);
    if (uplo == Uplo::upper) {
      std::copy_n(column, j + 1, out);
    } else {
      out[j] = 1;
      std::copy(column + j + 1, column + count, out + j + 1);
    }
  }
}

// Any entry of L, U, X and Y is (c - sum a_i b_i) / d of k <= n terms, in some order: (k + 1) u of its terms and the
// result at most (Higham, Accuracy and Stability, lemma 8.4), and two roundings more where a product under `fp64` is
// taken off, as often as halves of n have halves.
double factor_share(std::int64_t terms) { return static_cast<double>(terms + 130) * 0x1p-53; }

// At least |X L - I| w + |X||L U - P A| v without |X|, w = |U| v: sums of column l of X L have n - l terms at most,
// those of row l of L U have l + 1. Both products by |L| read it once.
Vectors of_lower_factors(std::int64_t n, const Triangles& lu, const Vectors& w) {
  Vectors x(2 * w.size());
  const auto rows = static_cast<std::size_t>(n);
  for (std::size_t l = 0; l < rows; ++l) {
    x[l] = w[l] * (factor_share(n - static_cast<std::int64_t>(l)) * (1 + 0x1p-50));
    x[rows + l] = w[l];
  }
  x = lu.above(Uplo::lower, 2, x);
  for (std::size_t l = 0; l < rows; ++l)
    x[l] = sum_up(x[l], above(factor_share(static_cast<std::int64_t>(l) + 1) * x[rows + l]));
  x.resize(rows);
  return x;
}

}  // namespace

Vectors Triangles::product(Uplo uplo, std::int64_t columns, const Vectors& x, bool magnitudes) const {
  Vectors y(x.size());
  const int threads = usable_threads(options_.threads);
  if (columns > (magnitudes ? 2 : 1) * by_loop) {
    Vectors square(static_cast<std::size_t>(n_ * n_));
    copy_triangle(uplo, n_, m_, 0, n_, square.data());
    if (magnitudes) square = magnitudes_of(square);
    gemm<double>(Op::none, Op::none, n_, columns, n_, 1, square.data(), n_, x.data(), n_, 0, y.data(), n_,
                 usual_products(options_));
    return y;
  }
  const auto kernel = magnitudes ? vector_kernels<double>().magnitudes : vector_kernels<double>().subtract;
  constexpr std::int64_t rows = 64;
#pragma omp parallel num_threads(threads)
  {
    const FloatingEnvironment environment;
    double block[rows * rows];
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t first = 0; first < n_; first += rows) {
      const std::int64_t count = std::min(rows, n_ - first), last = first + count;
      copy_triangle(uplo, n_, m_, first, count, block);
      for (std::int64_t c = 0; c < columns; ++c) {
        const double* in = x.data() + c * n_;
        double* out = y.data() + first + c * n_;
        kernel(count, count, block, count, in + first, out);
        if (uplo == Uplo::lower)
          kernel(count, first, m_ + first, n_, in, out);
        else
          kernel(count, n_ - last, m_ + first + last * n_, n_, in + last, out);
      }
    }
  }
  if (!magnitudes)
    for (double& e : y) e = 0 - e;
  return y;
}

Vectors Triangles::near(std::int64_t columns, const Vectors& x) const {
  return product(Uplo::upper, columns, product(Uplo::lower, columns, x, false), false);
}

Vectors Triangles::above(Uplo uplo, std::int64_t columns, const Vectors& x) const {
  Vectors y = product(uplo, columns, x, true);
  round_up_products(n_, y);
  return y;
}

double Triangles::error(double size) const {
  // Both products are off by (n + 2) u of their magnitudes, and by what is lost below the normal numbers.
  const double share = static_cast<double>(2 * n_ + 8) * 0x1p-53, tiny = static_cast<double>(n_ + 4) * 0x1p-1074;
  return sum_up(vernier::above(size * share), tiny);
}

void invert_triangle(Uplo uplo, std::int64_t n, const double* factors, double* inverses, const Options& options) {
  Options own = usual_products(options);
  own.contract.reproducible = true;  // no triangle of the BLAS underneath, of which nothing is known
  const auto level3 = Level3<double>::of_one_thread(own);
  const bool lower = uplo == Uplo::lower;
  const int threads = usable_threads(options.threads);
  constexpr std::int64_t fewest = 64, most = 256, shares = 4;
  const std::int64_t width = std::clamp(round_up(divide_up(n, shares * threads), std::int64_t{32}), fewest, most),
                     blocks = divide_up(n, width);
  const Triangle triangle{Side::right, uplo, Op::none, lower ? Diag::unit : Diag::non_unit};
  const NativeThreads one(1);
  const std::int64_t strip = std::min(width, n) * n;
  const auto strips = std::make_unique_for_overwrite<double[]>(size_product({strip, std::int64_t{threads}}));
#pragma omp parallel num_threads(threads)
  {
    const FloatingEnvironment environment;
    double* const x = strips.get() + strip * omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t task = 0; task < blocks; ++task) {  // the longest first
      const std::int64_t first = (lower ? blocks - 1 - task : task) * width, count = std::min(width, n - first),
                         begin = lower ? 0 : first, order = lower ? first + count : n - first;
      std::fill_n(x, count * order, 0.0);
      for (std::int64_t i = 0; i < count; ++i) x[i + (first + i - begin) * count] = 1;
      const std::int64_t others = order - count;  // columns beside those of the diagonal block
      double *const block = x + (first - begin) * count, *const rest = lower ? x : x + count * count;
      const double* const known = factors + first + (lower ? 0 : (first + count) * n);
      for (std::int64_t i = 0; i < count; i += fewest) {  // in few rows, most of which are zeros there
        const std::int64_t rows = std::min(fewest, count - i), from = lower ? 0 : i,
                           terms = lower ? i + rows : count - i;
        level3.solve(triangle, rows, terms, factors + (first + from) * (n + 1), n, block + i + from * count, count);
        level3.subtract_product({Op::none, Op::none, rows, others, terms, -1, block + i + from * count, count,
                                 known + from, n, 1, rest + i, count});
      }
      level3.solve(triangle, count, others, factors + (lower ? 0 : (first + count) * (n + 1)), n, rest, count);
      for (std::int64_t j = begin; j < begin + order; ++j) {
        const double* column = x + (j - begin) * count;
        const std::int64_t from = lower ? std::max<std::int64_t>(j + 1 - first, 0) : 0,
                           to = lower ? count : std::min(count, j + 1 - first);
        std::copy(column + std::min(from, to), column + to, inverses + first + std::min(from, to) + j * n);
      }
    }
  }
}

RemainderRange::RemainderRange(std::int64_t n, const double* factors, const double* y, std::vector<double> columns,
                               const Options& options)
    : n_(n), options_(options), columns_(std::move(columns)) {
  Vectors most(columns_.size());  // of row i of U beside columns' norms
  for (std::int64_t j = 0; j < n; ++j) {
    const double scale = 1 / columns_[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i <= j; ++i) {
      double& e = most[static_cast<std::size_t>(i)];
      e = std::max(e, std::fabs(factors[i + j * n]) * scale);
    }
  }
  for (double& e : most) e *= 1 + 0x1p-40;
  const double s = factor_share(n) * (1 + 0x1p-40);
  lower_ = of_lower_factors(n, Triangles(n, factors, options), most);
  upper_ = Triangles(n, y, options).above(Uplo::upper, 1, most);
  for (double& e : upper_) e *= s;
}

double RemainderRange::share(const double* x, const std::vector<double>& rows) const {
  // Within these ends no underflow is seen beside norms.
  constexpr double least = 0x1p-200, largest = 0x1p200, unseen = 0x1p-90;
  const Vectors sizes = product_above(n_, 1, x, n_, lower_, options_);
  double most = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const double norm : {rows[i], columns_[i]})
      if (!(norm >= least && norm <= largest)) return infinity;
    const double e = (sizes[i] + upper_[i]) / rows[i];
    if (!std::isfinite(e) || lower_[i] > largest) return infinity;
    most = std::max(most, e);
  }
  return most * (1 + 0x1p-20) + unseen;
}
FactorProof::FactorProof(std::int64_t n, const double* factors, const double* inverses, const Options& options)
    : n_(n),
      factors_(factors),
      lu_(n, factors, options),
      inverses_(n, inverses, options),
      share_(factor_share(n)),
      weights_(static_cast<std::size_t>(n)) {
#pragma omp parallel for schedule(static, 32) num_threads(usable_threads(options.threads))
  for (std::int64_t j = 0; j < n; ++j)
    weights_[static_cast<std::size_t>(j)] = largest_magnitude(j + 1, factors + j * n);
  largest_ = *std::max_element(weights_.begin(), weights_.end());
  for (double& e : weights_) e = largest_ / e;
}

template <class TimesX>
Vectors FactorProof::times(const Vectors& v, const TimesX& times_x) {
  if (v != known_) {
    w_ = lu_.above(Uplo::upper, 1, known_ = v);
    y_ = of_lower_factors(n_, lu_, w_);
  }
  const Vectors& w = w_;
  Vectors y = y_;
  double tiny = 0;  // of results that are subnormal, and of divisions by U's diagonal
  for (std::size_t i = 0; i < v.size(); ++i) tiny = sum_up(tiny, sum_up(v[i], w[i]));
  tiny = above(above(tiny * (static_cast<double>(n_ + 4) * 0x1p-1073)) * sum_up(largest_, 1));
  for (double& e : y) e = sum_up(e, tiny);
  Vectors z = times_x(std::move(y));
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = sum_up(sum_up(z[i], above(share_ * w[i])), tiny);
  z = inverses_.above(Uplo::upper, 1, z);
  for (double& e : z) e = sum_up(e, tiny);
  return z;
}

Vectors FactorProof::grown_by_lower(Vectors y) const {
  Vectors x(y.size());
  for (std::size_t j = 0; j < y.size(); ++j) {
    const double* column = factors_ + static_cast<std::int64_t>(j) * n_;
    const double known = x[j] + std::copysign(y[j], x[j]);
    for (std::size_t i = j + 1; i < y.size(); ++i) x[i] -= column[i] * known;
    x[j] = std::fabs(known);
  }
  return x;
}

double FactorProof::estimate() {
  constexpr int attempts = 2;  // a third changes 3 % of it
  Regularity found;
  prove_by([&](const Vectors& v) { return times(v, [&](Vectors y) { return grown_by_lower(std::move(y)); }); },
           weights_, attempts, found, worth_it);
  if (std::isfinite(found.contraction)) weights_ = found.weight;
  return found.contraction;
}

void FactorProof::prove(int attempts, Regularity& result) {
  prove_by(
      [&](const Vectors& v) { return times(v, [&](const Vectors& y) { return inverses_.above(Uplo::lower, 1, y); }); },
      weights_, attempts, result);
}

}  // namespace vernier
