// Splitting of fp32 matrices into planes on a GPU (split/plane.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "split/plane.hpp"
#include "split/split.hpp"

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
};

// Splits both operands.
void split_operands(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);

// Launches of the kernels of split_operands(), with a Form for each layout: it has that of the shifted parts.

// One kernel, where k is at most 1024 and all strips of eight vectors run at once. Not tf32, whose runs of eight would
// fill sectors by halves (n = 1024: 41 us in place of 35).
bool split_short_serves(const SplitJob& a, const SplitJob& b);
template <SplitForm Form>
void split_short(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);

// One kernel, for any length.
template <SplitForm Form>
void split_once(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);

}  // namespace vernier::cuda
