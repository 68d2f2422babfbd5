// Iterative refinement with one set of factors, every right-hand side by its own backward error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory_resource>
#include <vector>

#include "lapack/solve/factors.hpp"
#include "lapack/solve/system.hpp"

namespace vernier {

// ---- matrices that are known by their products alone

// In place: x becomes M^-1 A x, or whatever the operator is.
using VectorOperator = std::function<void(double* x)>;

struct GmresLimits {
  int steps = 30;
  double reduction = 1e-4;  // of the residual of the preconditioned system
};

struct GmresResult {
  int steps = 0;
  bool finite = true;  // false: the operator left the numbers; x is zero
};

// Solves G x = r from zero, r of length n. Modified Gram-Schmidt, no restart; memory for `steps` vectors.
GmresResult gmres(std::int64_t n, const VectorOperator& g, const double* r, double* x, const GmresLimits& limits);

// Hager's method as Higham (1988) made it safe, LAPACK's xLACN2: a lower bound, seldom less than a third of the norm.
// Infinity where the operators leave the numbers.
double estimate_norm_one(std::int64_t n, const VectorOperator& apply, const VectorOperator& apply_transposed);

// ----

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
