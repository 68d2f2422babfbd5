// Floats as words, and scaling by powers of two. Host and device.
#pragma once

#include <bit>
#include <cstdint>

#include "number/formats.hpp"

namespace vernier {

VERNIER_HD inline std::uint32_t float_word(float x) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(x);
#else
  return std::bit_cast<std::uint32_t>(x);
#endif
}
VERNIER_HD inline float word_float(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(word);
#else
  return std::bit_cast<float>(word);
#endif
}

// 2^e of a normal number.
VERNIER_HD inline float float_power_of_two(int e) { return word_float(static_cast<std::uint32_t>(e + 127) << 23); }

// x 2^e for |x| < 2^62 and any e, rounded once: no step under- or overflows unless the result does.
VERNIER_HD inline float unscale(float x, int e) {
  const int far = e < -126 ? -100 : e > 127 ? 100 : 0;
  const int rest = e - far < -126 ? -126 : e - far;
  return x * float_power_of_two(far) * float_power_of_two(rest);
}

}  // namespace vernier
