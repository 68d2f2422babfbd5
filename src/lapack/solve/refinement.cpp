#include "lapack/solve/refinement.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace vernier {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// A correction that leaves more than this of the error is slow: factors of that quality are kappa u = 0.3 away from A.
constexpr double slow = 0.3;
// One that leaves more than this is none. Of GMRES the residual counts as well: with factors that are nearly singular
// the first solution is far too large, and shrinks with its residual.
constexpr double stagnant = 0.9;

// What is worth beginning before it is known to be needed: as long as the error is expected to be so many times the
// tolerance. Expected is what the correction before has left of its error, and this of the first one. Time depends on
// it, and nothing else.
constexpr double far_above = 10, usual_reduction = 1e-3;

// GMRES with factors of unit roundoff u has converged for kappa u up to about this (tests/campaign); beyond, it would
// only use up its steps.
constexpr double gmres_reach = 1e7;
constexpr int steps_a_correction = 4;  // of GMRES, in limits
constexpr int gmres_basis = 40;
// Of the preconditioned residual, in a run. Where factors that are nearly singular blow one direction up, it may fall
// so far without any progress; then the next run asks for as much again, down to what fp64 can tell.
constexpr double gmres_reduction = 1e-4, least_gmres_reduction = 1e-11;

// Steps of GMRES read A and the factors; from about so many on, fp64 factors cost less.
std::int64_t steps_worth_a_factorisation(std::int64_t n) { return std::max<std::int64_t>(40, n / 64); }

// Residuals of classical refinement soon point in one direction, that of the error of the factors times the smallest
// singular vector, and each is rho times the one before. The sum of all corrections to come is then the next one
// divided by 1 - rho. rho is the component of the residual along the one before.
double step_length(std::int64_t n, const double* before, const double* now) {
  constexpr int lanes = 8;  // that the compiler puts into vectors
  double products[lanes] = {}, squares[lanes] = {};
  const auto add = [&](int l, std::int64_t i) {
    products[l] += before[i] * now[i];
    squares[l] += before[i] * before[i];
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) add(l, i + l);
  for (; i < n; ++i) add(0, i);
  const double rho = std::accumulate(products, products + lanes, 0.0) / std::accumulate(squares, squares + lanes, 0.0);
  return std::abs(rho) < 0.5 ? 1 / (1 - rho) : 1;
}

constexpr Op opposite(Op op) { return op == Op::none ? Op::transpose : Op::none; }

class HostCorrections final : public Corrections {
 public:
  HostCorrections(const LinearSystem& system, const LuFactors& factors, const RefinementVectors& vectors)
      : system_(system), factors_(factors), v_(vectors) {}

  void first(const Columns& columns) override {
    const std::int64_t n = system_.n;
    for (const std::int64_t c : columns) std::copy_n(v_.b + c * n, n, v_.x + c * n);
    factors_.solve(system_.op, columns, v_.x);
    system_.normwise_residuals(columns, v_.x, v_.b, v_.r);
  }

  void add(const Columns& columns, const std::vector<double>& lengths) override {
    factors_.solve(system_.op, columns, v_.r);
    for (std::size_t q = 0; q < columns.size(); ++q) {
      double* x = v_.x + columns[q] * system_.n;
      const double* d = v_.r + columns[q] * system_.n;
      for (std::int64_t i = 0; i < system_.n; ++i) x[i] += lengths[q] * d[i];
    }
    system_.normwise_residuals(columns, v_.x, v_.b, v_.r);
  }

 private:
  const LinearSystem& system_;
  const LuFactors& factors_;
  RefinementVectors v_;
};

}  // namespace

std::unique_ptr<Corrections> host_corrections(const LinearSystem& system, const LuFactors& factors,
                                              const RefinementVectors& vectors) {
  return std::make_unique<HostCorrections>(system, factors, vectors);
}

RefinedColumns::RefinedColumns(std::int64_t n, std::int64_t nrhs, Vectors b)
    : n_(n),
      b_(std::move(b)),
      x_(b_.size(), b_.get_allocator()),
      r_(b_.size(), b_.get_allocator()),
      last_r_(b_.size(), b_.get_allocator()),
      best_(b_.size(), b_.get_allocator()),
      error_(static_cast<std::size_t>(nrhs), infinite),
      last_error_(error_),
      reports_(static_cast<std::size_t>(nrhs)) {}

Columns RefinedColumns::above(double tolerance) const {
  Columns columns;
  for (std::size_t c = 0; c < error_.size(); ++c)
    if (!(error_[c] <= tolerance)) columns.push_back(static_cast<std::int64_t>(c));
  return columns;
}

void RefinedColumns::measure(const LinearSystem& system, const Columns& columns) {
  system.normwise_residuals(columns, x_.data(), b_.data(), r_.data());
  take_errors(system, columns);
}

void RefinedColumns::take_errors(const LinearSystem& system, const Columns& columns) {
  for (const std::int64_t c : columns) {
    const auto q = static_cast<std::size_t>(c);
    last_error_[q] = backward_error(system, x_.data() + c * n_, b(c), r_.data() + c * n_);
    if (!(last_error_[q] < error_[q])) continue;
    error_[q] = last_error_[q];
    std::copy_n(x_.data() + c * n_, n_, best_.data() + c * n_);
  }
}

// Of the corrections that r asks for, as the residual before suggests.
std::vector<double> RefinedColumns::step_lengths(const Columns& columns, bool first) {
  std::vector<double> lengths;
  for (const std::int64_t c : columns) {
    lengths.push_back(first ? 1 : step_length(n_, last_r_.data() + c * n_, r_.data() + c * n_));
    std::copy_n(r_.data() + c * n_, n_, last_r_.data() + c * n_);
    ++reports_[static_cast<std::size_t>(c)].corrections;
  }
  return lengths;
}

// Returns the columns that it leaves above the tolerance, since they converge slowly or not at all.
Columns RefinedColumns::classical(const LinearSystem& system, const LuFactors& factors,
                                  const RefinementLimits& limits) {
  Columns active = above(limits.tolerance), left;
  const double give_up = limits.method == Refinement::automatic ? slow : stagnant;
  const int corrections = limits.method == Refinement::gmres ? 0 : limits.corrections;
  const auto steps = factors.corrections(system, active, {b_.data(), x_.data(), r_.data()});
  const auto look = [&](double expected_error, bool may_go_on) {
    if (may_go_on && expected_error > far_above * limits.tolerance) steps->expect_another(active);
    steps->wait();
    take_errors(system, active);
  };
  const auto worst = [&] {
    double most = 0;
    for (const std::int64_t c : active) most = std::max(most, last_error_[static_cast<std::size_t>(c)]);
    return most;
  };
  const auto done = [&](std::int64_t c) { return last_error_[static_cast<std::size_t>(c)] <= limits.tolerance; };
  double reduction = usual_reduction;
  steps->first(active);
  look(factors.unit_roundoff(), corrections > 0);
  for (int correction = 0;; ++correction) {
    std::erase_if(active, done);
    if (active.empty() || correction == corrections) break;
    const std::vector<double> before = last_error_;
    const double error = worst();
    steps->add(active, step_lengths(active, correction == 0));
    look(error * reduction, correction + 1 < corrections);
    reduction = worst() / error;
    const auto slow_one = [&](std::int64_t c) {
      const auto q = static_cast<std::size_t>(c);
      return !done(c) && !(std::isfinite(last_error_[q]) && last_error_[q] <= give_up * before[q]);
    };
    std::copy_if(active.begin(), active.end(), std::back_inserter(left), slow_one);
    std::erase_if(active, slow_one);
  }
  left.insert(left.end(), active.begin(), active.end());
  return left;
}

void RefinedColumns::by_gmres(const LinearSystem& system, const LuFactors& factors, const RefinementLimits& limits,
                              const Columns& columns) {
  std::vector<double> d(static_cast<std::size_t>(n_)), v(d), zero(d);
  const VectorOperator preconditioned = [&](double* x) {
    std::copy_n(x, n_, v.data());
    system.residuals({0}, v.data(), zero.data(), x);
    factors.solve(system.op, {0}, x);
    for (std::int64_t i = 0; i < n_; ++i) x[i] = -x[i];
  };
  const std::int64_t worth = limits.may_give_up && limits.method == Refinement::automatic
                                 ? steps_worth_a_factorisation(n_)
                                 : std::numeric_limits<std::int64_t>::max();
  std::int64_t steps = 0;
  for (const std::int64_t c : columns) {
    const auto q = static_cast<std::size_t>(c);
    if (!std::isfinite(error_[q])) continue;  // not even a first solution
    std::copy_n(best(c), n_, x_.data() + c * n_);
    system.residuals({c}, x_.data(), b_.data(), r_.data());
    double reduction = gmres_reduction;
    for (int left = limits.corrections * steps_a_correction; left > 0 && !(error_[q] <= limits.tolerance);) {
      if (steps >= worth) return;
      const double before = error_[q], residual_before = largest_magnitude(n_, r_.data() + c * n_);
      std::copy_n(r_.data() + c * n_, n_, v.data());
      factors.solve(system.op, {0}, v.data());
      const std::vector<double> r = v;
      const int most = std::min(left, gmres_basis);
      const GmresResult result = vernier::gmres(n_, preconditioned, r.data(), d.data(), {most, reduction});
      gmres = true;
      if (!result.finite || result.steps == 0) break;
      left -= result.steps;
      steps += result.steps;
      reports_[q].gmres_steps += result.steps;
      for (std::int64_t i = 0; i < n_; ++i) x_[static_cast<std::size_t>(c * n_ + i)] += d[static_cast<std::size_t>(i)];
      ++reports_[q].corrections;
      measure(system, {c});
      const double residual = largest_magnitude(n_, r_.data() + c * n_);
      if (last_error_[q] <= stagnant * before || residual <= stagnant * residual_before) continue;
      if (result.steps == most || reduction <= least_gmres_reduction) break;
      reduction *= gmres_reduction;
    }
  }
}

bool RefinedColumns::gmres_is_worth_it(const LinearSystem& system, const LuFactors& factors,
                                       const RefinementLimits& limits) {
  if (limits.method != Refinement::automatic) return limits.method == Refinement::gmres;
  if (!limits.may_give_up) return true;
  condition = estimate_condition(system, factors);
  return condition * factors.unit_roundoff() <= gmres_reach;
}

void RefinedColumns::refine(const LinearSystem& system, const LuFactors& factors, const RefinementLimits& limits) {
  const Columns left = classical(system, factors, limits);
  if (left.empty() || limits.method == Refinement::classical) return;
  if (gmres_is_worth_it(system, factors, limits)) by_gmres(system, factors, limits, left);
}

double estimate_condition(const LinearSystem& system, const LuFactors& factors) {
  // The infinity norm of the inverse is the 1-norm of its transpose.
  const auto inverse = [&](Op op) -> VectorOperator { return [&, op](double* x) { factors.solve(op, {0}, x); }; };
  // An estimate from below, and rounded: no matrix has a condition below 1.
  return std::max(1.0, system.norm * estimate_norm_one(system.n, inverse(opposite(system.op)), inverse(system.op)));
}

double estimate_forward_error(const LinearSystem& system, const LuFactors& factors, const double* x, const double* b,
                              const double* r) {
  const std::int64_t n = system.n;
  std::vector<double> weight(r, r + n), size(b, b + n);
  take_moduli(system, weight.data());
  take_moduli(system, size.data());
  system.add_magnitudes(x, size.data());
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = weight[i] * (1 + 0x1p-50) + residual_share(n) * size[i];
  const auto weigh = [&](double* v) {
    for (std::size_t i = 0; i < weight.size(); ++i) v[i] *= weight[i];
  };
  // A^-1 diag(w) in the infinity norm is diag(w) A^-T in the 1-norm.
  const double norm = estimate_norm_one(
      n,
      [&](double* v) {
        factors.solve(opposite(system.op), {0}, v);
        weigh(v);
      },
      [&](double* v) {
        weigh(v);
        factors.solve(system.op, {0}, v);
      });
  const double largest = largest_entry(system, x);
  return norm == 0 ? 0 : norm / largest;
}

}  // namespace vernier
