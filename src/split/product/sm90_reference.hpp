// Error-corrected products of any order on the tensor cores of Hopper, by mma.sync: for every scheme and for checking
// the fast kernels, not for speed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "product/operand.hpp"
#include "split/product/sm90_split.hpp"

namespace vernier {

struct SplitOrder {
  static constexpr int max_terms = 9, max_sums = 5;

  struct Term {
    int a, b, sum;
    int from, length;  // in k, within the step
  };
  int terms = 0, sums = 0, step = 16;
  Term term[max_terms] = {};
  int run[max_sums] = {};    // 0: all of k
  int shift[max_sums] = {};  // ascending
  int carry[max_sums] = {};  // Carry: 1 fast, 2 exact
};

}  // namespace vernier

namespace vernier::cuda {

enum class ReferenceInput { fp16, bf16, tf32 };

// Part p of vector v begins at word (p * count + v) * padded_k: 2 bytes a word, tf32 4. padded_k is a multiple of the
// step.
struct ReferenceOperand {
  FloatVectors x;
  const void* words = nullptr;
  const std::int32_t* unscale = nullptr;  // null: nothing was scaled
};

struct ReferenceProduct {
  ReferenceInput input = ReferenceInput::fp16;
  SplitOrder order;
  ReferenceOperand a, b;
  std::int64_t padded_k = 0;
  Output<float> to;
};

void multiply_split_reference(const ReferenceProduct& product, cudaStream_t stream);

}  // namespace vernier::cuda
