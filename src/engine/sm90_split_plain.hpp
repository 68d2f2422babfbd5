// Error-corrected products of any order on the tensor cores of Hopper, by mma.sync: for every scheme and for checking
// the fast kernels, not for speed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/split_order.hpp"
#include "engine/sm90_split.hpp"

namespace vernier::sm90 {

enum class PlainInput { fp16, bf16, tf32 };

// Part p of vector v begins at word (p * count + v) * padded_k: 2 bytes a word, tf32 4. padded_k is a multiple of the
// step.
struct PlainOperand {
  FloatVectors x;
  const void* words = nullptr;
  const std::int32_t* unscale = nullptr;  // null: nothing was scaled
};

struct PlainProduct {
  PlainInput input = PlainInput::fp16;
  SplitOrder order;
  PlainOperand a, b;
  std::int64_t padded_k = 0;
  float alpha = 1, beta = 0;
  float* c = nullptr;
  std::int64_t ldc = 0;
};

void multiply_split_plain(const PlainProduct& product, cudaStream_t stream);

}  // namespace vernier::sm90
