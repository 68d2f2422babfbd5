// An operand of binary128 in device memory, and what scales its vectors before they are split into doubles.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "number/host_device.hpp"

namespace vernier::cuda {

// Elements as pairs of 64 bits, the low ones first.
struct Binary128View {
  const ulonglong2* data;
  std::int64_t vectors, k, ld;
  bool k_contiguous;
};

// Of the finite elements of a vector that are not zero; bytes of 0x80 stand for a vector that has none.
struct VectorExponents {
  static constexpr int none = -(1 << 30);

  int largest, minus_least;

  VERNIER_HD constexpr bool any() const { return largest > none; }
  VERNIER_HD constexpr int shift() const { return any() ? largest : 0; }
  VERNIER_HD constexpr int span() const { return any() ? largest + minus_least : 0; }
};

// Exponents of all vectors.
void find_exponents_on_device(const Binary128View& x, VectorExponents* out, cudaStream_t stream);
// out[vector][l][part], 3 k doubles a vector.
void split_binary128_on_device(const Binary128View& x, const VectorExponents* exponents, double* out,
                               cudaStream_t stream);

}  // namespace vernier::cuda
