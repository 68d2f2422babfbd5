// Slices of Ozaki scheme I with few digits on a GPU: multiplied digit by digit, without the engine. Integers all the
// way, so that the products are those of the engine.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "slice/slices_cuda.hpp"

namespace vernier::cuda {

// The digits of a slice that are not zero, vector by vector: begin[v], count[v] of them.
struct SparseSlice {
  struct Digit {
    std::int32_t index, digit;  // index along k
  };
  Digit* digits = nullptr;
  std::int64_t* begin = nullptr;
  const int* count = nullptr;
};

// A slice as the kernel that made it leaves it: vector v, index l at [v * pitch + l].
struct SliceView {
  SliceFormat format = SliceFormat::fp16;
  const void* digits = nullptr;
  std::int64_t vectors = 0, k = 0, pitch = 0;
};

// Fills `few`, whose counts are there. used: one word, zero before.
void list_sparse(const SliceView& slice, const SparseSlice& few, unsigned long long* used, cudaStream_t stream);

// Slices whose digits fit bytes, and those of fp64. Others, of fp16 for k up to 256, are products too short to gain.
constexpr bool sparse_possible(SliceFormat format, int bits) { return format == SliceFormat::fp64 || bits <= 7; }

// A slice with vectors side by side: [l][vector], bytes, or 32 bits for fp64.
struct TurnedSlice {
  void* digits = nullptr;
  std::int64_t pitch = 0;  // vectors, a multiple of 16
};
constexpr int bytes_of_turned(SliceFormat format) { return format == SliceFormat::fp64 ? 4 : 1; }
void turn_slice(const SliceView& slice, const TurnedSlice& turned, cudaStream_t stream);

// The product of a slice with few digits and another one, over the indices begin_k .. begin_k + depth - 1, in the
// format that the engine leaves: product[i + j * ld].
struct SparseProduct {
  SparseSlice few;            // from the block's first vector on
  TurnedSlice other;          // alike, after a multiple of 16 vectors
  bool few_are_rows = true;   // or columns of the product
  std::int64_t m = 0, n = 0;  // of the product
  std::int64_t begin_k = 0, depth = 0;
  SliceFormat format = SliceFormat::fp16;
  void* product = nullptr;
  std::int64_t ld = 0;
  bool accumulate = false;  // onto what is there
};
inline constexpr std::int64_t most_few_vectors = 65535 * 32;  // with few digits, of one product: blocks of a launch
void multiply_sparse(const SparseProduct& product, cudaStream_t stream);

}  // namespace vernier::cuda
