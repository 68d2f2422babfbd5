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
  std::uint32_t* part_maxima = nullptr;  // split_part_count() of each vector: long ones that lie across memory
};
int split_part_count(const FloatVectors& x);

// Vectors that lie across memory are read once up to this k.
inline constexpr std::int64_t longest_split_once = 16384;

// Splits both operands.
void split_operands(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);

// Launches of the kernels of split_operands().

// One kernel, where k is at most 1024 and all strips of eight vectors run at once. Not tf32, whose runs of eight would
// fill sectors by halves (n = 1024: 41 us in place of 35).
bool split_short_serves(const SplitJob& a, const SplitJob& b);
template <SplitForm Form>
void split_short(const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);

// One kernel, where no vector that lies across memory is longer than 16384.
bool split_once_serves(const SplitJob& a, const SplitJob& b);
template <SplitForm Form>
void split_once(const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);

// Two kernels for any length. The first splits contiguous vectors; of the others it finds the largest elements, part by
// part, and clears the status. The second splits those.
template <SplitForm Form>
void survey(const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);
template <SplitForm Form>
void split_across(const SplitJob& a, const SplitJob& b, const SplitGate& gate, cudaStream_t stream);

inline std::int64_t pieces(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

// The generic rule, word by word, for schemes without kernels of their own.
// Part p of vector v goes to word (p * count + v) * padded_k, zeros beyond k; words have 2 bytes, tf32 4. unscale: null
// to leave the elements as they are.
void split_reference(const SplitRule& rule, const FloatVectors& x, std::int64_t padded_k, void* words,
                     std::int32_t* unscale, cudaStream_t stream);

}  // namespace vernier::cuda
