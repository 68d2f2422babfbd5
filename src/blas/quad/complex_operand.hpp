// op(X) of a complex matrix on a GPU as a real one: rows [re -im; im re] of A, or columns [re; im] of B.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "vernier/level3.hpp"

namespace vernier::cuda {

// op(X) of rows x columns; numbers of one double for each part, or two (dd). out: without gaps.
struct ComplexOperand {
  Op op;
  std::int64_t rows, columns;
  const double* data;
  std::int64_t ld;
  int doubles;
};

void expand_complex_on_device(const ComplexOperand& x, bool left, double* out, cudaStream_t stream);

}  // namespace vernier::cuda
