#include "lapack/verified/determinant.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/duration.hpp"

namespace vernier {

// Ostrowski's bounds for diagonally dominant rows (Proc. AMS 3, 1952) of V^-1 B V, V = diag(v).
bool enclose_near_identity(const NearIdentity& b, Factors2& product) {
  constexpr int attempts = 8;
  std::vector<double> v(b.mid.size(), 1.0);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::vector<double> beside = b.beside(v);
    Factors2 all;
    bool dominant = true;
    for (std::size_t i = 0; i < v.size() && dominant; ++i) {
      const double spread = sum_up(above(beside[i] / v[i]), b.rad[i]), low = sum_down(b.mid[i], -spread),
                   high = sum_up(b.mid[i], spread);
      dominant = low > 0 && std::isfinite(high);
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

std::string divide_by_diagonal(const std::vector<double>& y, bool negative, Factors2& product,
                               DeterminantInterval& result) {
  for (const double d : y) {
    if (d == 0) return "the inverse of a factor underflows";
    negative = negative != (d < 0);
    product.divide(std::fabs(d));
  }
  result = {negative ? -product.high() : product.low(), negative ? -product.low() : product.high(), product.exponent()};
  return "";
}

PivotedRows pivoted_rows(const std::vector<std::int64_t>& pivots) {
  PivotedRows order{std::vector<std::int64_t>(pivots.size())};
  std::iota(order.from.begin(), order.from.end(), std::int64_t{0});
  for (std::size_t i = 0; i < pivots.size(); ++i) {
    const auto other = static_cast<std::size_t>(pivots[i] - 1);
    if (other != i) std::swap(order.from[i], order.from[other]), order.odd = !order.odd;
  }
  return order;
}

namespace {

double least_eigenvalue_near(const DefiniteProof& proof, std::int64_t n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<double>(i % 7) / 8;
  const auto norm = [](const std::vector<double>& y) {
    double sum = 0;
    for (const double e : y) sum += e * e;
    return std::sqrt(sum);
  };
  for (int step = 0; step < 8; ++step) {
    const double size = norm(x);
    for (double& e : x) e /= size;
    x = proof.solve(std::move(x));
  }
  return 1 / norm(x);
}

// A positive bound, or 0 and why.
double definite_bound(DefiniteProof& proof, std::int64_t n, std::string& reason) {
  if (!proof.factor(0)) {
    reason = "the Cholesky factorisation met a pivot that is not positive";
    return 0;
  }
  const double estimate = least_eigenvalue_near(proof, n);
  for (const double share : {0.99, 0.75, 0.25}) {
    const double shift = share * estimate;
    if (!std::isfinite(shift) || !proof.factor(shift)) continue;
    if (const double bound = proof.bound(shift); bound > 0) return bound;
  }
  reason = "no eigenvalue bound is positive: A is indefinite, or too close to it for double";
  return 0;
}

}  // namespace

VerifiedReport report_determinant(std::int64_t n, const std::function<std::string(DeterminantInterval&)>& enclose,
                                  DeterminantInterval& determinant) {
  const Clock clock;
  VerifiedReport report;
  report.routine = "verified_determinant", report.n = n;
  DeterminantInterval result{0.5, 0.5, 1};
  if (n > 0) report.reason = enclose(result);
  report.verified = report.reason.empty();
  if (report.verified) determinant = result;
  report.seconds = clock.seconds();
  return report;
}

VerifiedReport report_definite(std::int64_t n, DefiniteProof& proof, double& bound) {
  const Clock clock;
  VerifiedReport report;
  report.routine = "verified_definite", report.n = n;
  bound = definite_bound(proof, n, report.reason);
  report.verified = bound > 0;
  report.seconds = clock.seconds();
  return report;
}

}  // namespace vernier
