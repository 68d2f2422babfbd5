// Products of one shape on a GPU, all at once.
#pragma once

#include <cstdint>

#include "vernier/cuda.hpp"

namespace vernier::cuda {

// C_i = alpha op(A_i) op(B_i) + beta C_i, matrix i of each kind i strides behind the first.
template <class T>
struct StridedBatch {
  Op opa, opb;
  std::int64_t m, n, k;
  const T* alpha;
  const T* A;
  std::int64_t lda, stride_a;
  const T* B;
  std::int64_t ldb, stride_b;
  const T* beta;
  T* C;
  std::int64_t ldc, stride_c, count;
};

// By products of split matrices where they are faster than cuBLAS's batches, or by those where single products would
// be native. False, and nothing is done, where the products go one by one.
template <class T>
bool gemm_at_once(const StridedBatch<T>& batch, const Options& options, Report& report);

}  // namespace vernier::cuda
