// Ozaki scheme I on a GPU: operands to slices, and products of slices to C (slice/slices.hpp and slice/gemm.cpp
// are the same on the CPU, with the same bits).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "product/exact/exact_block.hpp"
#include "product/operand.hpp"
#include "product/sides.hpp"
#include "product/statistics.hpp"
#include "slice/slice_unit.hpp"

namespace vernier::cuda {

enum class SliceFormat { fp16, bf16, int8, fp64 };
constexpr int bytes_of(SliceFormat f) { return f == SliceFormat::int8 ? 1 : f == SliceFormat::fp64 ? 8 : 2; }

// An operand on its way into slices. All pointers are to device memory.
struct SliceSource {
  std::int64_t vectors = 0, k = 0;
  double* left = nullptr;                  // [vector][k]: what is left of it
  VectorStatistics* statistics = nullptr;  // exponent, lowest, nonfinite; sum is 1 where a vector is not zero
  double* weights = nullptr;               // [k]: sums over the vectors
  double* weight_blocks = nullptr;         // [blocks of slice_sum_vectors][k]
  int* exponent = nullptr;                 // of the largest element of all, before anything is gathered most_negative
  int* units = nullptr;                    // of each vector's last slice
  double* whole = nullptr;                 // of each vector, weighted

  static constexpr int most_negative = -(1 << 20);
};

// What the launches over the elements of vectors have blocks for.
inline constexpr std::int64_t longest_slice_k = std::int64_t{65535} * 32;

// left, statistics and weights of an operand.
template <class T>
void gather_slices_source(const Operand<T>& x, const SliceSource& source, cudaStream_t stream);

// What is known after a slice.
struct SliceState {
  double ratio;  // the largest of |left| over |whole|, weighted
  int some_left;
};

inline constexpr int slices_at_once = 4;

struct SliceTask {
  SliceSource source;
  const double* weights = nullptr;  // the other operand's
  int bits = 0;
  bool first = false;
  SliceFormat format = SliceFormat::fp16;
  std::int64_t pitch = 0;        // elements from vector to vector, zeros beyond k
  void* digits = nullptr;        // [slices_at_once][vector][pitch]
  int* exponents = nullptr;      // [slices_at_once][vector]
  SliceState* states = nullptr;  // of each slice, zeros before
};
void split_on_device(const SliceTask& task, cudaStream_t stream);

// ---- sums ----------------------------------------------------------------------------------------------------------

// C = alpha sum + beta C on one block of C, from products of slices.
template <class T>
struct SliceSum {
  SliceFormat format = SliceFormat::fp16;
  const void* products = nullptr;         // float, std::int32_t or double: [product][column][ld]
  std::int64_t ld = 0, product_size = 0;  // product i begins at i * product_size
  const SliceTerm* terms = nullptr;
  int term_count = 0;
  Sides<const int*> exponents;  // [slice][stride], of the block's vectors
  Sides<std::int64_t> strides;
  // The block, its operands, C and, for correct rounding, the list of entries that take the exact sum of their
  // elements.
  DeviceExactBlock<T> block;
};

// In T, term by term, each rounded to T first.
template <class T>
void add_slices_on_device(const SliceSum<T>& sum, cudaStream_t stream);

// Exactly, and rounded once. Entries whose terms are too far apart for the kernel go to the list.
template <class T>
void round_slices_on_device(const SliceSum<T>& sum, cudaStream_t stream);

}  // namespace vernier::cuda
