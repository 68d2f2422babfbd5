// An estimate of the 1-norm of a matrix that is known by its products alone.
#pragma once

#include <cstdint>

#include "lapack/solve/gmres.hpp"

namespace vernier {

// Hager's method as Higham (1988) made it safe, LAPACK's xLACN2: a lower bound, seldom less than a third of the norm.
// Infinity where the operators leave the numbers.
double estimate_norm_one(std::int64_t n, const VectorOperator& apply, const VectorOperator& apply_transposed);

}  // namespace vernier
