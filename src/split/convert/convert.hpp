// Splitting of fp32 matrices into planes on a GPU (split/plane.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "split/plane.hpp"

namespace vernier::cuda {

std::int64_t split_line_count(SplitForm form, std::int64_t k);  // of a vector of k

// What the status words count, on scaled elements: |x| >= large, and 0 < |x| < tiny.
struct SplitThresholds {
  float large = 0, tiny = 0;
};
SplitThresholds split_thresholds(SplitForm form, std::int64_t k);

struct SplitJob {
  FloatVectors x;
  SplitPlane plane;
  std::uint32_t* part_maxima = nullptr;  // split_part_count() of each vector: long ones that lie across memory
};
int split_part_count(const FloatVectors& x);

// Vectors that lie across memory are read once up to this k.
inline constexpr std::int64_t longest_split_once = 16384;

// Splits both operands, b up to later.first where some of it is left to the product: k is then at most
// longest_split_once.
void split_operands(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream,
                    const DeferredSplit& later = {});

}  // namespace vernier::cuda
