// Iterative refinement with one set of factors, every right-hand side by its own backward error.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "lapack/solve/factors.hpp"
#include "lapack/solve/system.hpp"

namespace vernier {

struct RefinementLimits {
  Refinement method = Refinement::automatic;
  double tolerance = 0;
  int corrections = 30;      // of one right-hand side
  bool may_give_up = false;  // there are better factors to come
};

// The columns of X at work, as vectors of double that lie n apart, and the best of each so far.
class RefinedColumns {
 public:
  using Vectors = std::pmr::vector<double>;

  RefinedColumns(std::int64_t n, std::int64_t nrhs, Vectors b);

  const double* b(std::int64_t c) const { return b_.data() + c * n_; }
  const double* best(std::int64_t c) const { return best_.data() + c * n_; }
  double error(std::int64_t c) const { return error_[static_cast<std::size_t>(c)]; }
  Columns above(double tolerance) const;

  std::int64_t n() const { return n_; }
  std::vector<SolveColumn>& reports() { return reports_; }

  double condition = 0;  // if it was estimated on the way
  bool gmres = false;

  // Solves with the factors and refines all columns above the tolerance. What is there already stays where it is
  // better.
  void refine(const LinearSystem& system, const LuFactors& factors, const RefinementLimits& limits);

 private:
  Columns classical(const LinearSystem& system, const LuFactors& factors, const RefinementLimits& limits);
  std::vector<double> step_lengths(const Columns& columns, bool first);
  void by_gmres(const LinearSystem& system, const LuFactors& factors, const RefinementLimits& limits,
                const Columns& columns);
  void measure(const LinearSystem& system, const Columns& columns);
  void take_errors(const LinearSystem& system, const Columns& columns);
  bool gmres_is_worth_it(const LinearSystem& system, const LuFactors& factors, const RefinementLimits& limits);

  std::int64_t n_;
  Vectors b_, x_, r_, last_r_, best_;       // in the memory of b
  std::vector<double> error_, last_error_;  // of the best; of x
  std::vector<SolveColumn> reports_;
};

// |op(A)|_inf |op(A)^-1|_inf with the inverse of the factors.
double estimate_condition(const LinearSystem& system, const LuFactors& factors);

// max |x - x^| / max |x| <= || |op(A)^-1| |r| || / max |x|: Higham (2002), (7.31), with a residual that needs no
// allowance for its own rounding.
double estimate_forward_error(const LinearSystem& system, const LuFactors& factors, const double* x, const double* b,
                              const double* r);

}  // namespace vernier
