// Splitting of fp32 matrices into planes on a GPU (base/split_plane.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "base/split_plane.hpp"

namespace vernier {

// Two parts, part 1 times 2^11 or as it is; or three of bf16.
enum class SplitForm { half_shifted, half_unshifted, tf32_shifted, tf32_unshifted, bf16_three };

constexpr bool is_tf32(SplitForm form) { return form == SplitForm::tf32_shifted || form == SplitForm::tf32_unshifted; }

constexpr int split_part_number(SplitForm form) { return form == SplitForm::bf16_three ? 3 : 2; }

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

// Splits both operands.
void split_operands(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);

}  // namespace vernier
