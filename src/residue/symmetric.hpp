// Products on a GPU that are symmetric, since op(B) is op(A) transposed: half of the tiles are multiplied.
#pragma once

#include <cuda_runtime_api.h>

#include <type_traits>

#include "residue/gemm_cuda.hpp"

namespace vernier::cuda {

// Contracts that promise bits take all of C, and so does a C that is added to.
template <class T>
bool may_be_symmetric(const DeviceResidueProblem<T>& p, const Contract& contract) {
  constexpr std::int64_t least = 1536;  // smaller ones gain little
  const DeviceFactor<T>& beta = p.to.beta;
  return std::is_same_v<T, double> && p.a.vectors == p.b.vectors && p.a.vectors >= least && !contract.reproducible &&
         beta.in_device_memory == nullptr && beta.value == T{0};
}

// Sets the word, which is 0, where some element of vector v of a is not that of vector v of b, bit by bit.
void compare_on_device(const Operand<double>& a, const Operand<double>& b, int* asymmetric, cudaStream_t stream);

// The lower triangle of c, n x n, copied to the upper one.
void mirror_on_device(std::int64_t n, double* c, std::int64_t ld, const Gate& gate, cudaStream_t stream);

}  // namespace vernier::cuda
