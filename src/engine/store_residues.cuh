// Sums of 32 bits become residues: what the kernels that multiply bytes do with their accumulators.
#pragma once

#include <cstdint>

#include "number/byte_reduction.hpp"

namespace vernier::cuda {

__device__ __forceinline__ std::uint32_t low_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

__device__ __forceinline__ int signed_byte(std::uint32_t word, int i) {
  return static_cast<int>(word << (24 - 8 * i)) >> 24;
}

// Four accumulators -> four residues; plus those of `old` if Accumulate.
template <bool Accumulate>
__device__ __forceinline__ std::uint32_t four_residues(const int* acc, const ByteReduction<1>& r,
                                                       std::uint32_t old = 0) {
  std::uint32_t v[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int start = Accumulate ? r.start + signed_byte(old, e) : r.start;
    v[e] = remainder_byte(dot_bytes(static_cast<std::uint32_t>(acc[e]), r.weights[0], start), r);
  }
  return low_bytes(v[0], v[1], v[2], v[3]);
}

// 16 accumulators -> 16 residues, one store; plus what was there before if Accumulate.
template <bool Accumulate>
__device__ __forceinline__ void store_residues(const int* acc, const ByteReduction<1>& r, uint4* to) {
  std::uint32_t word[4], old[4] = {};
  if constexpr (Accumulate) {
    const uint4 before = *to;
    old[0] = before.x, old[1] = before.y, old[2] = before.z, old[3] = before.w;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) word[i] = four_residues<Accumulate>(acc + 4 * i, r, old[i]);
  *to = make_uint4(word[0], word[1], word[2], word[3]);
}

}  // namespace vernier::cuda
