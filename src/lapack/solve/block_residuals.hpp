// Residuals of many right-hand sides at once, by products of the BLAS underneath.
#pragma once

#include "lapack/solve/system.hpp"

namespace vernier {

// r = b - op(A) x for the columns named, right to system.measurement |op(A)| max |x| and a unit roundoff of r itself.
// Returns false, with r of no meaning, where entries of x are too large or too small for that, or no numbers.
template <class T>
bool block_residuals(const System<T>& system, const Columns& columns, const double* x, const double* b, double* r);

// The bound of what block_residuals() leaves out, for system.measurement.
template <class T>
double block_residual_error(const System<T>& system);

}  // namespace vernier
