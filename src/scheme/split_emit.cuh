// Consecutive elements of a vector into their places in a line, on the device. The conversion instructions give
// what scheme/split.hpp defines; a test compares them.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "base/split_plane.hpp"
#include "scheme/split.hpp"
#include "scheme/split_cuda.hpp"

namespace vernier {

template <SplitForm Form>
constexpr int line_k = is_tf32(Form) ? tf32_line_k : half_line_k;

// Consecutive elements that fill 16 bytes of each half of a line.
template <SplitForm Form>
constexpr int emit_k = line_k<Form> / 4;

// What one thread sees of a vector's elements.
struct SplitTally {
  int large = 0;
  bool tiny = false;

  // Zeros beyond k count neither way.
  __device__ __forceinline__ float scaled(float x, const SplitScale& scale, const SplitThresholds& thresholds) {
    const float y = scale(x);
    large += fabsf(y) >= thresholds.large;
    tiny = tiny || (x != 0 && fabsf(y) < thresholds.tiny);  // the branch is cheaper than the sum (105 against 114 us)
    return y;
  }
};

__device__ __forceinline__ std::uint32_t tf32_word(float x) {
  std::uint32_t word;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(x));
  return word;
}

// The parts of emit_k elements.
template <SplitForm Form>
__device__ __forceinline__ void split_run(const float* v, uint4& first, uint4& second) {
  constexpr float up = Form == SplitForm::half_unshifted || Form == SplitForm::tf32_unshifted ? 1.0f : 2048.0f;
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

// lines: of the vector; l: of the first element, a multiple of emit_k.
template <SplitForm Form>
__device__ __forceinline__ void emit(const float (&v)[emit_k<Form>], std::byte* lines, int l) {
  uint4 first, second;
  split_run<Form>(v, first, second);
  std::byte* to =
      lines + static_cast<std::int64_t>(l / line_k<Form>) * split_line_bytes + l % line_k<Form> / emit_k<Form> * 16;
  *reinterpret_cast<uint4*>(to) = first;
  *reinterpret_cast<uint4*>(to + split_line_bytes / 2) = second;
}

// The exponent that undoes a vector's scale.
__device__ __forceinline__ std::int32_t unscaling(std::uint32_t largest) {
  return largest >= 0x7f800000u ? excluded_vector : -split_scale(largest);
}

// Vectors of zeros have nothing to lose: all of their elements count as large, none as tiny.
__device__ __forceinline__ std::uint32_t final_status(std::uint32_t largest, std::uint32_t seen, std::int64_t k) {
  if (largest >= 0x7f800000u) return special_element;
  return largest == 0 ? static_cast<std::uint32_t>(k) : seen;
}

// Of two parts of a vector.
__device__ __forceinline__ std::uint32_t join_status(std::uint32_t p, std::uint32_t q) {
  return ((p & ~tiny_element) + (q & ~tiny_element)) | ((p | q) & tiny_element);
}

__device__ __forceinline__ bool gate_closed(const SplitGate& gate) {
  return gate.before != nullptr && *gate.before != 0;
}

}  // namespace vernier
