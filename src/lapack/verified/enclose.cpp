#include "lapack/verified/enclose.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lapack/verified/upward.hpp"

namespace vernier {
namespace {

using Vectors = ProvedSystem::Vectors;

constexpr double unseen = 0x1p-57;  // beside an entry of X

// Corrections of X: each gains as many digits as R has.
int most_corrections(const Regularity& proof) {
  constexpr double fewest = 3, most = 15;
  return static_cast<int>(std::clamp(std::ceil(57 / -std::log2(proof.contraction)), fewest, most));
}

// X, and RN(B - A X).
struct Approximation {
  Vectors x, residual;
};

// Corrected until another correction would not change it, or corrections stop shrinking.
Approximation approximate(const ProvedSystem& system, const Regularity& proof) {
  Vectors x(system.entries());
  double previous = infinity;
  const int corrections = most_corrections(proof);
  for (int step = 0; step < corrections; ++step) {
    Vectors r = step == 0 ? system.right_hand_sides() : system.near_residual(x);
    const Vectors z = system.times(r);
    double most = 0, least = infinity;
    for (const double e : z) most = std::max(most, std::fabs(e));
    for (const double e : x) least = std::min(least, std::fabs(e));
    // What a correction leaves of an error is some `contraction` of it: enclosures are no wider by that.
    if (step > 0 && (most * proof.contraction <= least * unseen || !(most < previous / 2)))
      return {x, system.near_is_rounded_once() ? std::move(r) : system.residual(x)};
    for (std::size_t e = 0; e < z.size(); ++e) x[e] += z[e];
    previous = most;
  }
  return {x, system.residual(x)};
}

Vectors magnitudes(const Vectors& x) {
  Vectors size(x.size());
  std::transform(x.begin(), x.end(), size.begin(), [](double e) { return std::fabs(e); });
  return size;
}

// Z near R r, and at least |Z - R r|: by a product under fp64 where that error is not seen beside X, else rounded once.
struct Corrections {
  Vectors z, error;
};

Corrections times_inverse(const ProvedSystem& system, const Vectors& r, const Vectors& x) {
  Corrections c{system.times(r), system.times_above(magnitudes(r))};
  const double share = static_cast<double>(system.n + 2) * 0x1p-53,
               tiny = static_cast<double>(system.n + 4) * 0x1p-1074;
  bool serves = true;
  for (std::size_t e = 0; e < r.size(); ++e) {
    c.error[e] = sum_up(above(c.error[e] * share), tiny);
    serves = serves && c.error[e] <= std::fabs(x[e]) * unseen;
  }
  if (serves) return c;
  c.z = system.times_rounded_once(r);
  for (std::size_t e = 0; e < r.size(); ++e) c.error[e] = half_unit(c.z[e]);
  return c;
}

}  // namespace

bool all_finite(const Vectors& x) {
  return std::all_of(x.begin(), x.end(), [](double e) { return std::isfinite(e); });
}

Enclosure enclose(const ProvedSystem& system, const Regularity& proof) {
  const auto [x, residual] = approximate(system, proof);
  const auto [z, own_error] = times_inverse(system, residual, x);
  // R (B - A X) lies within s of Z: its own error, and the rounding of the residual.
  Vectors rounding(residual.size());
  for (std::size_t e = 0; e < rounding.size(); ++e) rounding[e] = half_unit(residual[e]);
  Vectors s = system.times_above(rounding), d(s.size());
  for (std::size_t e = 0; e < s.size(); ++e) s[e] = sum_up(s[e], own_error[e]), d[e] = sum_up(std::fabs(z[e]), s[e]);
  for (std::int64_t j = 0; j < system.nrhs; ++j) {
    const double factor = proof.error_factor(d.data() + j * system.n);
    for (std::int64_t i = 0; i < system.n; ++i) {
      double& spread = s[static_cast<std::size_t>(i + j * system.n)];
      spread = sum_up(spread, above(proof.sums[static_cast<std::size_t>(i)] * factor));
    }
  }
  const bool finite = all_finite(x) && all_finite(z) && all_finite(s);
  return {x, z, s, finite};
}

void write_intervals(const Enclosure& c, std::int64_t n, std::int64_t columns, double* low, double* high,
                     std::int64_t ld) {
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto e = static_cast<std::size_t>(i + j * n);
      low[i + j * ld] = sum_down(c.x[e], sum_down(c.z[e], -c.spread[e]));
      high[i + j * ld] = sum_up(c.x[e], sum_up(c.z[e], c.spread[e]));
    }
}

VerifiedReport verified_report(const char* routine, std::int64_t n, std::int64_t nrhs) {
  VerifiedReport report;
  report.routine = routine, report.n = n, report.nrhs = nrhs;
  return report;
}

}  // namespace vernier
