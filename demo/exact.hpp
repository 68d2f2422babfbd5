// The error of a product against the exact one, on sampled entries.
#pragma once

#include <vernier/vernier.hpp>

#include "matrix.hpp"

namespace demo {

struct SampledError {
  double mean = 0, max = 0;  // of |T - AB| / (|A||B|) over the sampled entries
};

inline constexpr int sampled_lines = 32;  // rows and columns: 1024 entries, spread evenly

// A is op(A), k x m if transposed; T is the product as computed. Sums in MPFR with 320 bits.
SampledError sampled_error(vernier::Op opa, const Matrix& A, const Matrix& B, const Matrix& T);

}  // namespace demo
