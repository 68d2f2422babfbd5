// A batch of products of one shape in device memory.
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

// The same, by arrays of addresses in device memory.
template <class T>
struct AddressedBatch {
  Op opa, opb;
  std::int64_t m, n, k;
  const T* alpha;
  const T* const* A;
  std::int64_t lda;
  const T* const* B;
  std::int64_t ldb;
  const T* beta;
  T* const* C;
  std::int64_t ldc, count;
};

}  // namespace vernier::cuda
