// The conventional product in fp64 instructions of the tensor cores, behind a gate: for what a chain of kernels finds
// not to be for residues, where nobody can call cuBLAS any more.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gate.hpp"
#include "product/operand.hpp"
#include "product/scalars.hpp"

namespace vernier::cuda {

// Vectors along k: rows of op(A), columns of op(B); one of the strides is 1.
template <class T>
struct ConventionalVectors {
  const T* data;
  std::int64_t count, vector_stride, k_stride;
};
template <class T>
ConventionalVectors<T> conventional(const Operand<T>& x) {
  return {x.data, x.vectors, x.vector_stride(), x.k_stride()};
}

// T with sums in fp64.
template <class T>
struct ConventionalProduct {
  ConventionalVectors<T> rows, columns;
  std::int64_t k;
  Output<T, DeviceFactor<T>> to;
  Gate gate;
};

template <class T>
void multiply_conventionally(const ConventionalProduct<T>& product, cudaStream_t stream);

}  // namespace vernier::cuda
