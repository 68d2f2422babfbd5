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

// The same by arrays of addresses in device memory.
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

// By cuBLAS, where single products would be native and it does not pay to wait for the addresses. False, and nothing is
// done, elsewhere.
template <class T>
bool gemm_addressed_natively(const AddressedBatch<T>& batch, const Options& options, Report& report);

}  // namespace vernier::cuda
