// The product of quad_gemm.hpp on a GPU, C in dd: the same bits.
#pragma once

#include "engine/int8_engine_cuda.hpp"
#include "product/operand.hpp"
#include "vernier/quad.hpp"

namespace vernier::cuda {

template <class TA, class TB>
struct DeviceQuadProblem {
  Operand<TA> a;  // rows of op(A)
  Operand<TB> b;  // columns of op(B)
  double alpha, beta;
  dd* c;
  std::int64_t ldc;
  int bits;  // |T - AB| <= (k 2^-bits + u) |A||B|; 0: C rounded once, in this direction
  Rounding rounding;
};

// C = beta C.
void scale_dd_on_device(std::int64_t m, std::int64_t n, double beta, dd* c, std::int64_t ldc, cudaStream_t stream);

// Returns when C is complete. Throws with C untouched, but for what a device fails in.
template <class TA, class TB>
void quad_product_on_device(const DeviceQuadProblem<TA, TB>& problem, const DeviceInt8Engine& engine,
                            const QuadOptions& options, QuadReport& report);

}  // namespace vernier::cuda
