// What a split sees of a vector's elements, on the device.
#pragma once

#include <cstdint>

#include "split/convert/convert.hpp"
#include "split/line.cuh"

namespace vernier::cuda {

// SplitThresholds for the elements of one vector as they are: powers of two too, if not subnormal or below.
struct SplitLimits {
  float large;         // 2^-149 at least: zeros are not large
  std::uint32_t tiny;  // twice the word less one, as SplitTally has it; 0: no element is tiny

  __device__ __forceinline__ SplitLimits(const SplitThresholds& t, int s)
      : large(word_float(max(scaled_down(t.large, s), 1u))) {
    const std::uint32_t word = scaled_down(t.tiny, s);
    tiny = word == 0 ? 0 : 2 * word - 1;
  }

 private:
  // 2^-s of a power of two, or zero.
  static __device__ __forceinline__ std::uint32_t scaled_down(float power, int s) {
    const int e = static_cast<int>(float_word(power) >> 23) - 127 - s;
    return e >= -126 ? static_cast<std::uint32_t>(e + 127) << 23 : e >= -149 ? 1u << (e + 149) : 0;
  }
};

// What one thread sees of a vector's elements, before they are scaled.
struct SplitTally {
  std::uint32_t least = ~0u;  // of 2 |x| - 1 in words: zeros are the largest of all
  int large = 0;

  // Zeros beyond k count neither way.
  __device__ __forceinline__ void see(float x, const SplitLimits& limits) {
    large += fabsf(x) >= limits.large;
    least = min(least, 2 * float_word(x) - 1);
  }
  __device__ __forceinline__ bool tiny(const SplitLimits& limits) const { return least < limits.tiny; }
};

// Vectors of zeros have nothing to lose: all of their elements count as large, none as tiny.
__device__ __forceinline__ std::uint32_t final_status(std::uint32_t largest, std::uint32_t seen, std::int64_t k) {
  if (largest >= 0x7f800000u) return special_element;
  return largest == 0 ? static_cast<std::uint32_t>(k) : seen;
}

// Of two parts of a vector.
__device__ __forceinline__ std::uint32_t join_status(std::uint32_t p, std::uint32_t q) {
  return ((p & ~tiny_element) + (q & ~tiny_element)) | ((p | q) & tiny_element);
}

// By one thread: what has been found of a vector.
__device__ __forceinline__ void describe_vector(const SplitJob& job, std::int64_t vector, std::uint32_t largest,
                                                std::uint32_t seen) {
  job.plane.unscale[vector] = unscaling(largest);
  job.plane.status[vector] = final_status(largest, seen, job.x.k);
}

__device__ __forceinline__ bool gate_closed(const SplitGate& gate) {
  return gate.before != nullptr && *gate.before != 0;
}

}  // namespace vernier::cuda
