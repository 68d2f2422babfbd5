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

Vectors half_units(const Vectors& x) {
  Vectors half(x.size());
  std::transform(x.begin(), x.end(), half.begin(), [](double e) { return half_unit(e); });
  return half;
}

double largest(const double* x, std::size_t count) {
  double most = 0;
  for (std::size_t e = 0; e < count; ++e) most = std::max(most, std::fabs(x[e]));
  return most;
}

// A size for each entry of X beside which errors count: its own; of one below the roundoff of its column's largest,
// which may be zero, that largest one.
Vectors scales(const Vectors& x, std::int64_t n) {
  Vectors scale(x.size());
  const auto rows = static_cast<std::size_t>(n);
  for (std::size_t first = 0; first < x.size(); first += rows) {
    const double most = largest(x.data() + first, rows);
    for (std::size_t e = first; e < first + rows; ++e)
      scale[e] = std::fabs(x[e]) < most * 0x1p-53 ? most : std::fabs(x[e]);
  }
  return scale;
}

bool are_unseen(const Vectors& error, const Vectors& x, std::int64_t n) {
  const Vectors scale = scales(x, n);
  for (std::size_t e = 0; e < x.size(); ++e)
    if (!(error[e] <= scale[e] * unseen)) return false;
  return true;
}

// X, B - A X as near_residual() has it, and R times that; empty: not known.
struct Approximation {
  Vectors x, residual, z;
};

// Corrected until another correction would not change it, or corrections stop shrinking.
Approximation approximate(const ProvedSystem& system, const Regularity& proof) {
  Vectors x(system.entries());
  double previous = infinity;
  const int corrections = most_corrections(proof);
  for (int step = 0; step < corrections; ++step) {
    Vectors r = step == 0 ? system.right_hand_sides() : system.near_residual(x);
    Vectors z = system.times(r);
    const double most = largest(z.data(), z.size());
    double least = infinity;
    for (const double e : scales(x, system.n)) least = std::min(least, e);
    // What a correction leaves of an error is some `contraction` of it: enclosures are no wider by that. Of last bits
    // the next would be as large, since X is rounded.
    constexpr double last_bits = 0x1p-51;
    if (step > 0 && (most * proof.contraction <= least * unseen || most <= least * last_bits || !(most < previous / 2)))
      return {x, std::move(r), std::move(z)};
    for (std::size_t e = 0; e < z.size(); ++e) x[e] += z[e];
    previous = most;
  }
  return {x, system.near_residual(x), {}};
}

void add_up(Vectors& sum, const Vectors& x) {
  for (std::size_t e = 0; e < x.size(); ++e) sum[e] = sum_up(sum[e], x[e]);
}

// What a further part takes of the error of X + Z: Z's own, and at least |I - R A| |d| / (1 - gamma), d = |Z| + that +
// what the residual's error makes, which stays.
Vectors left_over(const ProvedSystem& system, const Regularity& proof, const Vectors& z, const Vectors& kept,
                  Vectors own_error) {
  Vectors d = magnitudes_of(z);
  add_up(d, kept);
  add_up(d, own_error);
  for (std::int64_t j = 0; j < system.nrhs; ++j) {
    const double factor = proof.error_factor(d.data() + j * system.n);
    for (std::int64_t i = 0; i < system.n; ++i) {
      double& e = own_error[static_cast<std::size_t>(i + j * system.n)];
      e = sum_up(e, above(proof.sums[static_cast<std::size_t>(i)] * factor));
    }
  }
  return own_error;
}

}  // namespace

bool all_finite(const Vectors& x) {
  return std::all_of(x.begin(), x.end(), [](double e) { return std::isfinite(e); });
}

void ProvedSystem::times_bounds(Vectors& e, const Vectors& r, Vectors& error) const {
  e = times_above(e);
  error = product_error(n, times_above(magnitudes_of(r)));
}

Vectors ProvedSystem::near_error(const Vectors&, const Vectors& r) const { return half_units(r); }

Enclosure enclose(const ProvedSystem& system, const Regularity& proof) {
  auto [x, residual, z] = approximate(system, proof);
  // That error is rounded once where it is seen.
  Vectors error = system.near_error(x, residual), kept = error, own_error;
  if (!kept.empty()) system.times_bounds(kept, residual, own_error);
  if (kept.empty() || (!system.near_is_rounded_once() && !are_unseen(kept, x, system.n))) {
    residual = system.residual(x);
    error = half_units(residual);
    system.times_bounds(kept = error, residual, own_error);
    z = {};
  }
  if (z.empty()) z = system.times(residual);
  Vectors taken = left_over(system, proof, z, kept, std::move(own_error));
  Vectors sum = z, of_sum(z.size());
  constexpr int most_parts = 4;
  for (int part = 0; part < most_parts && !are_unseen(taken, x, system.n); ++part) {
    Vectors next = system.further_residual(residual, z);
    if (next.empty()) {
      z = sum = system.times_rounded_once(residual);
      taken = left_over(system, proof, z, kept, half_units(z));
      break;
    }
    Vectors further_error = system.further_error(residual, z, next);
    add_up(further_error, error);
    Vectors further = system.times(next), further_kept = further_error, further_taken;
    system.times_bounds(further_kept, next, further_taken);
    further_taken = left_over(system, proof, further, further_kept, std::move(further_taken));
    if (!all_finite(further_taken) ||  // whose NaN largest() passes over
        !(largest(further_taken.data(), x.size()) < largest(taken.data(), x.size()) / 2))
      break;
    residual = std::move(next), error = std::move(further_error), z = std::move(further);
    kept = std::move(further_kept), taken = std::move(further_taken);
    for (std::size_t e = 0; e < sum.size(); ++e) {
      sum[e] += z[e];
      of_sum[e] = sum_up(of_sum[e], half_unit(sum[e]));
    }
  }
  for (Vectors* part : {&taken, &of_sum}) add_up(kept, *part);
  const bool finite = all_finite(x) && all_finite(sum) && all_finite(kept);
  return {x, sum, kept, finite};
}

double norm_of_inverse(const ProvedSystem& system, const Regularity& proof) {
  const Vectors none(system.entries()),
      sizes = left_over(system, proof, none, none, system.times_above(Vectors(none.size(), 1.0)));
  return all_finite(sizes) ? largest(sizes.data(), sizes.size()) : infinity;
}

void write_intervals(const Enclosure& c, std::int64_t n, std::int64_t columns, double* low, double* high,
                     std::int64_t ld) {
  for (std::int64_t j = 0; j < (n > 0 ? columns : 0); ++j)
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
