// Enclosures of determinants and bounds of least eigenvalues (docs/accuracy.md, theorem 14).
#include <algorithm>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "lapack/verified/determinant.hpp"
#include "lapack/verified/enclose.hpp"
#include "lapack/verified/triangular_inverses.hpp"
#include "product/arguments.hpp"
#include "vernier/lapack.hpp"

namespace vernier {
namespace {

using Square = std::vector<double>;  // n x n

std::size_t at(std::int64_t i, std::int64_t j, std::int64_t n) { return static_cast<std::size_t>(i + j * n); }

std::vector<double> diagonal(std::int64_t n, const Square& x) {
  std::vector<double> d(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) d[static_cast<std::size_t>(i)] = x[at(i, i, n)];
  return d;
}

// X, near the inverse of a triangle of the factors.
Square inverse_triangle(Uplo uplo, std::int64_t n, const Square& factors, const Options& options) {
  Square x(factors.size(), 0);
  for (std::int64_t i = 0; i < n; ++i) x[at(i, i, n)] = 1;
  invert_triangle(uplo, n, factors.data(), x.data(), options);
  return x;
}

// Why not; empty on success.
std::string enclose_determinant(std::int64_t n, const double* A, std::int64_t lda, DeterminantInterval& result,
                                const Options& options) {
  Square factors(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(A + j * lda, n, factors.data() + j * n);
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  if (const std::int64_t info = getrf<double>(n, n, factors.data(), n, pivots.data(), usual_products(options));
      info != 0)
    return fmt::format("U({0}, {0}) of the LU factorisation is zero", info);
  const PivotedRows order = pivoted_rows(pivots);
  Square permuted(factors.size());
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) permuted[at(i, j, n)] = A[order.from[static_cast<std::size_t>(i)] + j * lda];
  const Square lower = inverse_triangle(Uplo::lower, n, factors, options),
               upper = inverse_triangle(Uplo::upper, n, factors, options);
  if (!all_finite(lower) || !all_finite(upper)) return "the inverse of a factor overflows";
  Square mid(factors.size()), rad(factors.size()), mid2(factors.size()), rad2(factors.size());
  interval_gemm(Op::none, Op::none, n, n, n, lower.data(), nullptr, n, permuted.data(), nullptr, n, mid.data(),
                rad.data(), n, options);
  if (!all_finite(mid) || !all_finite(rad)) return "a product overflows";
  interval_gemm(Op::none, Op::none, n, n, n, mid.data(), rad.data(), n, upper.data(), nullptr, n, mid2.data(),
                rad2.data(), n, options);
  NearIdentity near{diagonal(n, mid2), diagonal(n, rad2), [&](const std::vector<double>& v) {
                      std::vector<double> sums = product_above(n, 1, mid2.data(), n, v, options);
                      const std::vector<double> radii = product_above(n, 1, rad2.data(), n, v, options);
                      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sum_up(sums[i], radii[i]);
                      return sums;
                    }};
  for (std::int64_t i = 0; i < n; ++i) mid2[at(i, i, n)] = rad2[at(i, i, n)] = 0;
  Factors2 product;
  if (!enclose_near_identity(near, product))
    return "the preconditioned matrix is not diagonally dominant: A is too ill-conditioned";
  return divide_by_diagonal(diagonal(n, upper), order.odd, product, result);
}

// ---- definiteness

Square symmetric(std::int64_t n, const double* A, std::int64_t lda) {
  Square s(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) s[at(i, j, n)] = s[at(j, i, n)] = A[i + j * lda];
  return s;
}

class DefiniteOnHost final : public DefiniteProof {
 public:
  DefiniteOnHost(std::int64_t n, const Square& s, const Options& options) : n_(n), s_(s), options_(options) {}

  bool factor(double shift) override {
    factor_ = s_;
    for (std::int64_t i = 0; i < n_; ++i) factor_[at(i, i, n_)] -= shift;
    if (potrf<double>(Uplo::lower, n_, factor_.data(), n_, usual_products(options_)) != 0) return false;
    for (std::int64_t j = 0; j < n_; ++j) std::fill_n(factor_.begin() + static_cast<std::ptrdiff_t>(j * n_), j, 0.0);
    return true;
  }
  std::vector<double> solve(std::vector<double> x) const override {
    potrs<double>(Uplo::lower, n_, 1, factor_.data(), n_, x.data(), n_);
    return x;
  }
  // shift - |F - shift I|_inf
  double bound(double shift) const override {
    Square f = s_;
    gemm<double>(Op::none, Op::transpose, n_, n_, n_, -1, factor_.data(), n_, factor_.data(), n_, 1, f.data(), n_,
                 exact_products(options_, Rounding::nearest));
    double most = 0;
    for (std::int64_t j = 0; j < n_; ++j) {  // F is symmetric: columns are rows
      double sum = 0;
      for (std::int64_t i = 0; i < n_; ++i) {
        const double x = f[at(i, j, n_)], size = i == j ? std::max(sum_up(x, -shift), sum_up(shift, -x)) : std::fabs(x);
        sum = above(sum + sum_up(size, half_unit(x)));
      }
      most = std::isfinite(sum) ? std::max(most, sum) : infinity;
    }
    return sum_down(shift, -most);
  }

 private:
  const std::int64_t n_;
  const Square& s_;
  const Options& options_;
  Square factor_;
};

}  // namespace

VerifiedReport verified_determinant(std::int64_t n, const double* A, std::int64_t lda, DeterminantInterval& determinant,
                                    const Options& options) {
  check_system("verified_determinant", n, 0, A, lda, A, lda, options);
  const FloatingEnvironment environment;
  return report_determinant(
      n, [&](DeterminantInterval& result) { return enclose_determinant(n, A, lda, result, options); }, determinant);
}

VerifiedReport verified_definite(std::int64_t n, const double* A, std::int64_t lda, double& bound,
                                 const Options& options) {
  require(n > 0, "verified_definite: n = {}: expected at least 1", n);
  check_area("verified_definite", n, n);
  check_leading("verified_definite", "lda", lda, n);
  check_pointer("verified_definite", "A", true, A);
  const FloatingEnvironment environment;
  const Square s = symmetric(n, A, lda);
  check_system("verified_definite", n, 0, s.data(), n, s.data(), n,
               options);  // the upper triangle of A may hold anything
  DefiniteOnHost proof(n, s, options);
  return report_definite(n, proof, bound);
}

}  // namespace vernier
