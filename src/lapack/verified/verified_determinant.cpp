// Enclosures of determinants and bounds of least eigenvalues (docs/accuracy.md, theorem 14).
#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/status.hpp"
#include "lapack/verified/approximate_inverse.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"
#include "vernier/lapack.hpp"

namespace vernier {
namespace {

using Square = std::vector<double>;  // n x n

std::size_t at(std::int64_t i, std::int64_t j, std::int64_t n) { return static_cast<std::size_t>(i + j * n); }

// A positive interval times 2^exponent.
class Factors2 {
 public:
  void multiply(double low, double high) {
    low_ = low_ == 1 ? low : below(low_ * low);
    high_ = high_ == 1 ? high : above(high_ * high);
    normalise();
  }
  void divide(double x) {  // by its exponent without rounding: quotients stay in range
    int exponent = 0;
    const double significand = std::frexp(x, &exponent);
    low_ = below(low_ / significand);
    high_ = above(high_ / significand);
    exponent_ -= exponent;
    normalise();
  }
  double low() const { return low_; }
  double high() const { return high_; }
  std::int64_t exponent() const { return exponent_; }

 private:
  void normalise() {  // powers of two: nothing is rounded
    int shift = 0;
    std::frexp(high_, &shift);
    low_ = std::ldexp(low_, -shift), high_ = std::ldexp(high_, -shift);
    exponent_ += shift;
  }

  double low_ = 1, high_ = 1;
  std::int64_t exponent_ = 0;
};

// X, near the inverse of a triangle of the factors, and a triangle itself: only so much is used of it.
Square inverse_triangle(Uplo uplo, std::int64_t n, const Square& factors, const Options& options) {
  Square x(factors.size(), 0);
  for (std::int64_t i = 0; i < n; ++i) x[at(i, i, n)] = 1;
  Options products = options;
  products.contract = Contract::fp64();
  const Diag diagonal = uplo == Uplo::lower ? Diag::unit : Diag::non_unit;
  trsm<double>(Side::left, uplo, Op::none, diagonal, n, n, 1, factors.data(), n, x.data(), n, products);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      if (uplo == Uplo::lower ? i < j : i > j) x[at(i, j, n)] = 0;
      if (uplo == Uplo::lower && i == j) x[at(i, j, n)] = 1;
    }
  return x;
}

// The determinant of every matrix within the radii of a matrix B near the identity: Ostrowski's bounds for diagonally
// dominant rows (Proc. AMS 3, 1952) of V^-1 B V, V = diag(v). False where no v is found for which rows are dominant.
bool near_identity(std::int64_t n, const Square& mid, const Square& rad, Factors2& product) {
  constexpr int attempts = 8;
  std::vector<double> v(static_cast<std::size_t>(n), 1.0), beside(v.size());
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::fill(beside.begin(), beside.end(), 0.0);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        if (i != j) {
          double& sum = beside[static_cast<std::size_t>(i)];
          sum = above(sum +
                      above(sum_up(std::fabs(mid[at(i, j, n)]), rad[at(i, j, n)]) * v[static_cast<std::size_t>(j)]));
        }
    Factors2 all;
    bool dominant = true;
    for (std::int64_t i = 0; i < n; ++i) {
      const double own = above(beside[static_cast<std::size_t>(i)] / v[static_cast<std::size_t>(i)]),
                   spread = sum_up(own, rad[at(i, i, n)]);
      const double low = sum_down(mid[at(i, i, n)], -spread), high = sum_up(mid[at(i, i, n)], spread);
      dominant = dominant && low > 0 && std::isfinite(high);
      if (dominant) all.multiply(low, high);
    }
    if (dominant) {
      product = all;
      return true;
    }
    const double largest = *std::max_element(beside.begin(), beside.end());
    if (!std::isfinite(largest)) return false;
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = beside[i] / largest + 0x1p-60;
  }
  return false;
}

// Why not; empty on success.
std::string enclose_determinant(std::int64_t n, const double* A, std::int64_t lda, DeterminantInterval& result,
                                const Options& options) {
  Square factors(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(A + j * lda, n, factors.data() + j * n);
  Square permuted = factors;
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  Options usual = options;
  usual.contract = Contract::fp64();
  if (const std::int64_t info = getrf<double>(n, n, factors.data(), n, pivots.data(), usual); info != 0)
    return fmt::format("U({0}, {0}) of the LU factorisation is zero", info);
  bool negative = false;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t other = pivots[static_cast<std::size_t>(i)] - 1;
    if (other == i) continue;
    negative = !negative;
    for (std::int64_t j = 0; j < n; ++j) std::swap(permuted[at(i, j, n)], permuted[at(other, j, n)]);
  }
  const Square lower = inverse_triangle(Uplo::lower, n, factors, options),
               upper = inverse_triangle(Uplo::upper, n, factors, options);
  const auto finite = [](const Square& x) {
    return std::all_of(x.begin(), x.end(), [](double e) { return std::isfinite(e); });
  };
  if (!finite(lower) || !finite(upper)) return "the inverse of a factor overflows";
  Square mid(factors.size()), rad(factors.size()), mid2(factors.size()), rad2(factors.size());
  interval_gemm(Op::none, Op::none, n, n, n, lower.data(), nullptr, n, permuted.data(), nullptr, n, mid.data(),
                rad.data(), n, options);
  if (!finite(mid) || !finite(rad)) return "a product overflows";
  interval_gemm(Op::none, Op::none, n, n, n, mid.data(), rad.data(), n, upper.data(), nullptr, n, mid2.data(),
                rad2.data(), n, options);
  Factors2 product;
  if (!near_identity(n, mid2, rad2, product))
    return "the preconditioned matrix is not diagonally dominant: A is too ill-conditioned";
  for (std::int64_t i = 0; i < n; ++i) {
    const double d = upper[at(i, i, n)];
    if (d == 0) return "the inverse of a factor underflows";
    negative = negative != (d < 0);
    product.divide(std::fabs(d));
  }
  result = {negative ? -product.high() : product.low(), negative ? -product.low() : product.high(), product.exponent()};
  return "";
}

// ---- definiteness

Square symmetric(std::int64_t n, const double* A, std::int64_t lda) {
  Square s(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) s[at(i, j, n)] = s[at(j, i, n)] = A[i + j * lda];
  return s;
}

// The factor of S - shift I in floating point; empty if there is none.
Square cholesky(std::int64_t n, Square s, double shift, const Options& options) {
  for (std::int64_t i = 0; i < n; ++i) s[at(i, i, n)] -= shift;
  Options usual = options;
  usual.contract = Contract::fp64();
  if (potrf<double>(Uplo::lower, n, s.data(), n, usual) != 0) return {};
  for (std::int64_t j = 0; j < n; ++j) std::fill_n(s.begin() + static_cast<std::ptrdiff_t>(j * n), j, 0.0);
  return s;
}

double estimated_least_eigenvalue(std::int64_t n, const Square& factor) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<double>(i % 7) / 8;
  double size = 1;
  for (int step = 0; step < 8; ++step) {
    double norm = 0;
    for (const double e : x) norm += e * e;
    for (double& e : x) e /= std::sqrt(norm);
    potrs<double>(Uplo::lower, n, 1, factor.data(), n, x.data(), n);
    size = 0;
    for (const double e : x) size += e * e;
  }
  return 1 / std::sqrt(size);
}

// S = L L^T + F: the least eigenvalue is at least shift - |F - shift I|_inf, whatever L is.
double proved_bound(std::int64_t n, const Square& s, const Square& factor, double shift, const Options& options) {
  Square f = s;
  gemm<double>(Op::none, Op::transpose, n, n, n, -1, factor.data(), n, factor.data(), n, 1, f.data(), n,
               exact_products(options, Rounding::nearest));
  double most = 0;
  for (std::int64_t j = 0; j < n; ++j) {  // F is symmetric: columns are rows
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = f[at(i, j, n)], size = i == j ? std::max(sum_up(x, -shift), sum_up(shift, -x)) : std::fabs(x);
      sum = above(sum + sum_up(size, half_unit(x)));
    }
    most = std::isfinite(sum) ? std::max(most, sum) : infinity;
  }
  return sum_down(shift, -most);
}

}  // namespace

VerifiedReport verified_determinant(std::int64_t n, const double* A, std::int64_t lda, DeterminantInterval& determinant,
                                    const Options& options) {
  const Clock clock;
  check_system("verified_determinant", n, 0, A, lda, A, lda, options);
  const FloatingEnvironment environment;
  VerifiedReport report;
  report.routine = "verified_determinant", report.n = n;
  DeterminantInterval result{0.5, 0.5, 1};  // of no rows: 1
  if (n > 0) report.reason = enclose_determinant(n, A, lda, result, options);
  report.verified = report.reason.empty();
  if (report.verified) determinant = result;
  report.seconds = clock.seconds();
  return report;
}

VerifiedReport verified_definite(std::int64_t n, const double* A, std::int64_t lda, double& bound,
                                 const Options& options) {
  const Clock clock;
  require(n > 0, "verified_definite: n = {}: expected at least 1", n);
  check_area("verified_definite", n, n);
  check_leading("verified_definite", "lda", lda, n);
  check_pointer("verified_definite", "A", true, A);
  const FloatingEnvironment environment;
  VerifiedReport report;
  report.routine = "verified_definite", report.n = n;
  const Square s = symmetric(n, A, lda);
  check_system("verified_definite", n, 0, s.data(), n, s.data(), n,
               options);  // the upper triangle of A may hold anything
  double best = 0;
  if (const Square factor = cholesky(n, s, 0, options); !factor.empty()) {
    const double estimate = estimated_least_eigenvalue(n, factor);
    for (const double share : {0.99, 0.75, 0.25}) {
      const double shift = share * estimate;
      const Square shifted = cholesky(n, s, shift, options);
      if (shifted.empty() || !std::isfinite(shift)) continue;
      best = std::max(best, proved_bound(n, s, shifted, shift, options));
      if (best > 0) break;
    }
    if (best == 0) report.reason = "no eigenvalue bound is positive: A is indefinite, or too close to it for double";
  } else {
    report.reason = "the Cholesky factorisation met a pivot that is not positive";
  }
  report.verified = best > 0;
  bound = best;
  report.seconds = clock.seconds();
  return report;
}

}  // namespace vernier
