// Consecutive elements of a vector into their places in a line (split/plane.hpp), on the device, and what a split sees
// of them. The conversion instructions give what split/split.hpp defines; a test compares them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "split/convert/convert.hpp"

namespace vernier::cuda {

template <SplitForm Form>
constexpr int step_k = is_tf32(Form) ? tf32_step_k : half_step_k;

// Half a line for each part.
template <SplitForm Form>
constexpr int step_bytes = split_part_number(Form) * (split_line_bytes / 2);

template <SplitForm Form>
__host__ __device__ __forceinline__ std::int64_t padded_k(const SplitPlane& plane) {
  return plane.line_count * split_line_bytes / step_bytes<Form> * step_k<Form>;
}

// Consecutive elements that fill 16 bytes of each part of a step.
template <SplitForm Form>
constexpr int emit_k = step_k<Form> / 4;

// The larger magnitude, or NaN: one instruction.
__device__ __forceinline__ float larger_magnitude(float largest, float x) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(largest), "f"(fabsf(x)));
  return y;
}

// Calls body with what scales by 2^s. One factor does for all vectors but those of the smallest elements; a warp
// decides together.
template <class Body>
__device__ __forceinline__ void with_scale(int s, Body body) {
  const SplitScale scale(s);
  if (__any_sync(~0u, s > 127))
    body(scale);
  else
    body([first = scale.first](float x) { return x * first; });
}

__device__ __forceinline__ std::uint32_t tf32_word(float x) {
  std::uint32_t word;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(x));
  return word;
}

// The three parts of eight elements.
__device__ __forceinline__ void split_in_three(const float* v, uint4 (&parts)[3]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float2 rest{v[2 * i], v[2 * i + 1]};
#pragma unroll
    for (int p = 0; p < 3; ++p) {
      const __nv_bfloat162 part = __floats2bfloat162_rn(rest.x, rest.y);
      reinterpret_cast<__nv_bfloat162*>(&parts[p])[i] = part;
      const float2 back = __bfloat1622float2(part);
      rest = {rest.x - back.x, rest.y - back.y};
    }
  }
}

// Both parts of emit_k elements.
template <SplitForm Form>
__device__ __forceinline__ void split_run(const float* v, float up, uint4& first, uint4& second) {
  if constexpr (is_tf32(Form)) {
    auto* f = reinterpret_cast<std::uint32_t*>(&first);
    auto* s = reinterpret_cast<std::uint32_t*>(&second);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      f[i] = tf32_word(v[i]);
      s[i] = tf32_word((v[i] - __uint_as_float(f[i])) * up);
    }
  } else {
    auto* f = reinterpret_cast<__half2*>(&first);
    auto* s = reinterpret_cast<__half2*>(&second);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      f[i] = __floats2half2_rn(v[2 * i], v[2 * i + 1]);
      const float2 back = __half22float2(f[i]);
      s[i] = __floats2half2_rn((v[2 * i] - back.x) * up, (v[2 * i + 1] - back.y) * up);
    }
  }
}

// to: the place of the first element's part 0. up: split_shift().
template <SplitForm Form>
__device__ __forceinline__ void emit(const float (&v)[emit_k<Form>], std::byte* to, float up = split_shift(Form)) {
  uint4 parts[split_part_number(Form)];
  if constexpr (Form == SplitForm::bf16_three)
    split_in_three(v, parts);
  else
    split_run<Form>(v, up, parts[0], parts[1]);
#pragma unroll
  for (int p = 0; p < split_part_number(Form); ++p)
    *reinterpret_cast<uint4*>(to + p * (split_line_bytes / 2)) = parts[p];
}

// In a vector's lines; l: a multiple of emit_k.
template <SplitForm Form>
__device__ __forceinline__ int place_in_lines(int l) {
  return l / step_k<Form> * step_bytes<Form> + l % step_k<Form> / emit_k<Form> * 16;
}

// The exponent that undoes a vector's scale.
__device__ __forceinline__ std::int32_t unscaling(std::uint32_t largest) {
  return largest >= 0x7f800000u ? excluded_vector : -split_scale(largest);
}

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
