// Launches of the two kernels of split_operands().
#pragma once

#include "scheme/split_cuda.hpp"

namespace vernier {

// Contiguous vectors are split; of the others the largest elements are found, part by part, and the status cleared.
void survey(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, int multiprocessors,
            cudaStream_t stream);

// Splits vectors that lie across memory, after survey().
void split_across(SplitForm form, const SplitJob& a, const SplitJob& b, const SplitGate& gate, int multiprocessors,
                  cudaStream_t stream);

inline constexpr int strip_vectors = 64, block_k = 128;  // what a block of split_across() takes at a time
inline constexpr int survey_strip = 128;                 // vectors of a block of survey() that lie across memory

inline std::int64_t pieces(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

// Can groups of four floats be read at once along the contiguous direction?
inline bool quads_aligned(const FloatVectors& x) {
  const std::int64_t stride = x.k_contiguous() ? x.vector_stride : x.k_stride;
  return reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0 && stride % 4 == 0;
}

}  // namespace vernier
