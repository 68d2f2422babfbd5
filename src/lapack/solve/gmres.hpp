// Matrices that are known by their products alone: GMRES for one correction of iterative refinement, the 1-norm.
#pragma once

#include <cstdint>
#include <functional>

namespace vernier {

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

}  // namespace vernier
