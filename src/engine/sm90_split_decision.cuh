// Whether a kernel of a chain of attempts multiplies: by what the split has found, and what the kernel before decided.
#pragma once

#include "engine/sm90_split_epilogue.cuh"

namespace vernier::sm90 {

// Every element is finite; no vector has an element too small for its parts, or three quarters of every vector are
// large (docs/accuracy.md).
__device__ __forceinline__ bool statistics_permit(const SplitArguments& g) {
  bool tiny = false, steep = false, special = false;
  const auto look = [&](const std::uint32_t* status, const FloatVectors& x) {
    const int count = g.products * static_cast<int>(x.count);
    const auto see = [&](std::uint32_t word) {
      special = special || (word & special_element) != 0;
      tiny = tiny || (word & tiny_element) != 0;
      steep = steep || 4 * static_cast<std::int64_t>(word & ~tiny_element) < 3 * x.k;
    };
#pragma unroll 4
    for (int v = 4 * threadIdx.x; v + 4 <= count; v += 4 * blockDim.x) {
      const uint4 words = *reinterpret_cast<const uint4*>(status + v);
      see(words.x), see(words.y), see(words.z), see(words.w);
    }
    if (threadIdx.x < count % 4) see(status[count - 1 - threadIdx.x]);
  };
  look(g.status_p, g.p);
  look(g.status_q, g.q);
  const bool any_tiny = __syncthreads_or(tiny), any_steep = __syncthreads_or(steep);
  return !__syncthreads_or(special) && (!any_tiny || !any_steep);
}

enum class Decision { leave, split, conventional };

__device__ __forceinline__ Decision decide(const SplitArguments& g) {
  const bool settled = g.gate.before != nullptr && *g.gate.before != 0;
  const bool fit = !settled && (!g.gate.judged || statistics_permit(g));
  if (g.gate.verdict != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *g.gate.verdict = settled || fit;
  if (fit) return Decision::split;
  return !settled && g.gate.last ? Decision::conventional : Decision::leave;
}

}  // namespace vernier::sm90
