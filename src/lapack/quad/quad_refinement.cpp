#include "lapack/quad/quad_refinement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "residue/quad/dd_arithmetic.hpp"

namespace vernier {
namespace {

constexpr int most_corrections = 40;
constexpr double largest_double = std::numeric_limits<double>::max(), least = 0x1p-1074;  // least: lost below it
constexpr double least_gain = 0.25;  // corrections that shrink by less do not converge

using Sizes = RefinedSystem::Sizes;

// Where one is NaN, NaN.
double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

double backward_error(const RefinedSystem& s, const Sizes& x, const Sizes& r) {
  double worst = 0;
  for (std::size_t c = 0; c < x.size(); ++c) {
    const double size = std::min(s.norm_a * x[c] + s.size_b[c], largest_double),  // at most the divisor
        error = size == 0 ? 0 : ((r[c] + least) / size + s.residual_error) * (1 + 0x1p-45);
    worst = larger(worst, error);
  }
  return worst;
}

// The largest quotient of a correction and its solution.
double relative_size(const RefinedSystem::Step& step) {
  double worst = 0;
  for (std::size_t c = 0; c < step.solution.size(); ++c) {
    const double size = step.solution[c], own = step.correction[c],
                 quotient = size == 0 ? (own == 0 ? 0 : 1) : own / size;
    worst = larger(worst, quotient);
  }
  return worst;
}

Sizes sizes_of(const std::vector<dd>& x, std::size_t rows) {
  Sizes sizes(x.size() / rows, 0);
  for (std::size_t e = 0; e < x.size(); ++e) {
    double& most = sizes[e / rows];
    most = larger(most, magnitude(x[e]));
  }
  return sizes;
}

}  // namespace

double quad_tolerance(std::int64_t n) { return std::sqrt(static_cast<double>(n)) * 0x1p-103; }

void refine(RefinedSystem& s, QuadSolveReport& report) {
  Sizes x(static_cast<std::size_t>(s.nrhs), 0.0);
  double last = 1, best_error = std::numeric_limits<double>::infinity();
  report.ok = false, report.corrections = 0;
  for (;; ++report.corrections) {
    const double error = backward_error(s, x, s.residual());
    if (error < best_error || report.corrections == 0) s.keep(), best_error = error;
    const RefinedSystem::Step step = s.correct();
    const double size = relative_size(step);
    // What is left of the error after a correction is some `gain` of it.
    const double gain = report.corrections == 0 ? least_gain : std::min(least_gain, size / last);
    const bool shrinks = report.corrections == 0 || size <= least_gain * last;
    if (report.corrections > 0) report.forward_error = size / (1 - gain);
    constexpr double unit = 0x1p-105;
    if (size <= unit || !shrinks || report.corrections == most_corrections) {
      if (shrinks || size <= 8 * unit) s.keep(), best_error = error;
      break;
    }
    s.advance();
    x = step.solution;
    last = size;
  }
  report.backward_error = best_error;
  report.ok = best_error <= report.tolerance && report.forward_error < least_gain;
}

void prove_forward_error(const RefinedSystem& s, const std::vector<dd>& x, const std::vector<dd>& r, double rest,
                         const SolveVerified& solve, QuadSolveReport& report) {
  const auto rows = static_cast<std::size_t>(s.n), half = r.size();
  const Sizes of_x = sizes_of(x, rows), of_r = sizes_of(r, rows);
  std::vector<double> b(2 * half), low(b.size()), high(b.size());
  const auto exponent = [&](std::size_t c) { return of_r[c] > 0 ? std::ilogb(of_r[c]) : 0; };
  for (std::size_t e = 0; e < half; ++e)
    b[e] = std::ldexp(r[e].hi, -exponent(e / rows)), b[e + half] = std::ldexp(r[e].lo, -exponent(e / rows));
  double norm = 0;
  const VerifiedReport solved = solve(b, low, high, norm);
  const double kept = 1 - norm * rest * (1 + 0x1p-40);
  double worst = 0;
  for (std::size_t c = 0; c < of_x.size(); ++c) {
    double error = 0;
    const auto most = [&](std::size_t e) { return std::max(std::fabs(low[e]), std::fabs(high[e])); };
    for (std::size_t e = c * rows; e < (c + 1) * rows; ++e) error = larger(error, most(e) + most(e + half));
    // What r and b are rounded by, and what r leaves out.
    const double size = of_x[c], rounding = of_r[c] > 0 ? 0x1p-103 : 0,
                 beyond = std::ldexp(s.residual_error * s.norm_a * size + s.residual_error * s.size_b[c] + least,
                                     -exponent(c)),
                 whole = (error + norm * (beyond + rounding)) * (1 + 0x1p-40) / kept;
    int up = 0, down = 0;
    const double quotient = std::frexp(whole, &up) / std::frexp(size, &down);
    if (size != 0 || s.size_b[c] != 0) worst = larger(worst, std::ldexp(quotient, up - down + exponent(c)) + 0x1p-1000);
  }
  if (report.verified = solved.verified && kept > 0 && std::isfinite(worst); report.verified)
    report.forward_error = worst;
}

Sizes RefinedOnHost::residual() {
  d_ = residual_of(x_);
  return sizes_of(d_, static_cast<std::size_t>(n));
}

RefinedSystem::Step RefinedOnHost::correct() {
  solve(d_);
  next_ = x_;
  for (std::size_t e = 0; e < next_.size(); ++e) next_[e] = next_[e] + d_[e];
  const auto rows = static_cast<std::size_t>(n);
  return {sizes_of(d_, rows), sizes_of(next_, rows)};
}

}  // namespace vernier
