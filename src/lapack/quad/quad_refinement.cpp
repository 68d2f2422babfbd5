#include "lapack/quad/quad_refinement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "residue/quad/dd_arithmetic.hpp"

namespace vernier {
namespace {

constexpr int most_corrections = 40;
constexpr double largest_double = std::numeric_limits<double>::max();
constexpr double least_gain = 0.25;  // corrections that shrink by less do not converge

double largest(const std::vector<dd>& x, std::int64_t n, std::int64_t column) {
  double most = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double size = magnitude(x[static_cast<std::size_t>(i + column * n)]);
    if (!(size <= most)) most = size;  // NaN shows
  }
  return most;
}

double backward_error(const RefinedSystem& s, const std::vector<dd>& x, const std::vector<dd>& r) {
  double worst = 0;
  for (std::int64_t c = 0; c < s.nrhs; ++c) {
    const double size = std::min(s.norm_a * largest(x, s.n, c) + s.size_b[static_cast<std::size_t>(c)],
                                 largest_double),  // at most the divisor
        error = size == 0 ? 0 : (largest(r, s.n, c) / size + s.residual_error) * (1 + 0x1p-45);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

// The largest quotient of a correction and its solution.
double relative_size(const RefinedSystem& s, const std::vector<dd>& d, const std::vector<dd>& x) {
  double worst = 0;
  for (std::int64_t c = 0; c < s.nrhs; ++c) {
    const double size = largest(x, s.n, c), own = largest(d, s.n, c),
                 quotient = size == 0 ? (own == 0 ? 0 : 1) : own / size;
    if (!(quotient <= worst)) worst = quotient;
  }
  return worst;
}

}  // namespace

double quad_tolerance(std::int64_t n) { return std::sqrt(static_cast<double>(n)) * 0x1p-103; }

std::vector<dd> refine(const RefinedSystem& s, QuadSolveReport& report) {
  std::vector<dd> x(static_cast<std::size_t>(s.n * s.nrhs)), best;
  double last = 1, best_error = std::numeric_limits<double>::infinity();
  report.ok = false, report.corrections = 0;
  for (;; ++report.corrections) {
    std::vector<dd> d = s.residual(x);
    const double error = backward_error(s, x, d);
    if (error < best_error || best.empty()) best = x, best_error = error;
    s.solve(d);
    std::vector<dd> next = x;
    for (std::size_t e = 0; e < next.size(); ++e) next[e] = next[e] + d[e];
    const double size = relative_size(s, d, next);
    // What is left of the error after a correction is some `gain` of it.
    const double gain = report.corrections == 0 ? least_gain : std::min(least_gain, size / last);
    const bool shrinks = report.corrections == 0 || size <= least_gain * last;
    if (report.corrections > 0) report.forward_error = size / (1 - gain);
    constexpr double unit = 0x1p-105;
    if (size <= unit || !shrinks || report.corrections == most_corrections) {
      if (shrinks || size <= 8 * unit) best = x, best_error = error;
      break;
    }
    x = std::move(next);
    last = size;
  }
  report.backward_error = best_error;
  report.ok = best_error <= report.tolerance && report.forward_error < least_gain;
  return best;
}

ScaledColumns::ScaledColumns(std::int64_t n, std::int64_t columns, const std::vector<dd>& r)
    : x(r.size()), shift(static_cast<std::size_t>(columns), 0) {
  for (std::int64_t c = 0; c < columns; ++c) {
    const dd* from = r.data() + c * n;
    double most = 0;
    for (std::int64_t i = 0; i < n; ++i) most = std::max(most, std::fabs(from[i].hi));
    int& s = shift[static_cast<std::size_t>(c)];
    if (most > 0) s = std::ilogb(most);
    for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i + c * n)] = std::ldexp(from[i].hi, -s);
  }
}

std::vector<dd> ScaledColumns::unscaled(std::int64_t n) const {
  std::vector<dd> r(x.size());
  for (std::size_t e = 0; e < r.size(); ++e) r[e] = dd(std::ldexp(x[e], shift[e / static_cast<std::size_t>(n)]));
  return r;
}

}  // namespace vernier
