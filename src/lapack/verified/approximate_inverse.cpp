#include "lapack/verified/approximate_inverse.hpp"

#include <algorithm>
#include <cmath>

#include "base/status.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"
#include "vernier/lapack.hpp"

namespace vernier {
namespace {

Options usual_products(Options options) {
  options.contract = Contract::fp64();
  return options;
}

// sums = |G| v rounded up, and the largest quotient with v. g: n x n, nonnegative.
double apply(std::int64_t n, const std::vector<double>& g, const std::vector<double>& v, std::vector<double>& sums) {
  sums.assign(static_cast<std::size_t>(n), 0);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      double& sum = sums[static_cast<std::size_t>(i)];
      sum = above(sum + above(g[static_cast<std::size_t>(i + j * n)] * v[static_cast<std::size_t>(j)]));
    }
  double most = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) most = std::max(most, above(sums[i] / v[i]));
  return most;
}

// The weights that prove most are near the eigenvector of the largest eigenvalue.
void prove(std::int64_t n, const std::vector<double>& g, ApproximateInverse& result) {
  constexpr int attempts = 8;
  constexpr double enough = 0.5;
  std::vector<double> v(static_cast<std::size_t>(n), 1.0), sums;
  result.contraction = infinity;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const double contraction = apply(n, g, v, sums);
    if (contraction < result.contraction) result.contraction = contraction, result.weight = v, result.sums = sums;
    if (result.contraction < enough || !std::isfinite(contraction)) return;
    const double largest = *std::max_element(sums.begin(), sums.end());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = sums[i] / largest + 0x1p-30;
  }
}

}  // namespace

double ApproximateInverse::error_factor(const double* d) const {
  double most = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) most = std::max(most, above(d[i] / weight[i]));
  return above(most / sum_down(1, -contraction));
}

Options exact_products(Options options, Rounding rounding) {
  options.contract = Contract::exact(rounding);
  options.progress = {};
  return options;
}

void check_system(const char* routine, std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda,
                  const double* B, std::int64_t ldb) {
  const auto check = [&](const char* name, const double* x, std::int64_t columns, std::int64_t ld) {
    check_leading(routine, name[0] == 'A' ? "lda" : "ldb", ld, n);
    check_pointer(routine, name, n > 0 && columns > 0, x);
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        require(std::isfinite(x[i + j * ld]), "{}: {}({}, {}) = {}: expected finite numbers", routine, name, i, j,
                x[i + j * ld]);
  };
  require(n >= 0 && nrhs >= 0, "{}: n = {}, nrhs = {}: expected 0 or more", routine, n, nrhs);
  check_area(routine, n, std::max(n, nrhs));
  check("A", A, n, lda);
  check("B", B, nrhs, ldb);
}

ApproximateInverse approximate_inverse(std::int64_t n, const double* A, std::int64_t lda, const Options& options) {
  ApproximateInverse result;
  result.n = n;
  const auto count = static_cast<std::size_t>(n * n);
  std::vector<double> factors(count), g(count, 0);
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(A + j * lda, n, factors.data() + j * n);
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  if (const std::int64_t info = getrf<double>(n, n, factors.data(), n, pivots.data(), usual_products(options));
      info != 0) {
    result.contraction = infinity;
    result.failure = fmt::format("U({0}, {0}) of the LU factorisation is zero", info);
    return result;
  }
  result.r.assign(count, 0);
  for (std::int64_t i = 0; i < n; ++i) result.r[static_cast<std::size_t>(i + i * n)] = 1;
  getrs<double>(Op::none, n, n, factors.data(), n, pivots.data(), result.r.data(), n, usual_products(options));
  const bool finite = std::all_of(result.r.begin(), result.r.end(), [](double x) { return std::isfinite(x); });
  if (finite) {
    for (std::int64_t i = 0; i < n; ++i) g[static_cast<std::size_t>(i + i * n)] = 1;
    gemm<double>(Op::none, Op::none, n, n, n, -1, result.r.data(), n, A, lda, 1, g.data(), n,
                 exact_products(options, Rounding::nearest));
    for (double& x : g) x = above(std::fabs(x));
    prove(n, g, result);
  }
  if (!finite || !(result.contraction < 1))
    result.failure = finite ? fmt::format(
                                  "no norm of I - R A below 1 was found, the least is {:.2g}: the matrix is too "
                                  "ill-conditioned for an inverse in double",
                                  result.contraction)
                            : "the approximate inverse overflows";
  return result;
}

}  // namespace vernier
