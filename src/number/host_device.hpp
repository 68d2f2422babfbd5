// Functions that are compiled for host and device alike.
#pragma once

#include <bit>
#include <cstdint>

#if defined(__CUDACC__)
#define VERNIER_HD __host__ __device__
#define VERNIER_NOINLINE __noinline__  // for what is rare: it would take registers from what is not
#else
#define VERNIER_HD
#define VERNIER_NOINLINE
#endif
#if defined(__CUDA_ARCH__)
#define VERNIER_UNROLL _Pragma("unroll")  // keeps small arrays in registers
#else
#define VERNIER_UNROLL
#endif

namespace vernier {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

// Leading zeros of 64 bits. std::countl_zero compiles for the device, and is wrong there.
VERNIER_HD constexpr int leading_zeros(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return __clzll(static_cast<long long>(x));
#else
  return std::countl_zero(x);
#endif
}

VERNIER_HD constexpr int bit_width(std::uint64_t x) { return 64 - leading_zeros(x); }

}  // namespace vernier
