// What a thread finds out about the elements of a vector at its scale, for count_lowest_bits and for the conversion
// that counts.
#pragma once

#include "number/digit_sum.hpp"
#include "product/exact/entry.hpp"
#include "residue/exact/sample.hpp"

namespace vernier::cuda {

// The exponent of the lowest bit of x that is set; no_bit for zero and what is not finite. By 32-bit words, of which
// one decides.
inline constexpr int no_bit = DeviceLowestBits::lowest_bit_offset;

__device__ __forceinline__ int lowest_bit(double x) {
  const std::uint32_t high = static_cast<std::uint32_t>(__double2hiint(x)) & 0x7fffffff,
                      low = static_cast<std::uint32_t>(__double2loint(x));
  const std::uint32_t leading = (high & 0xfffff) | (high >= 0x100000 ? 0x100000 : 0);
  const std::uint32_t word = low != 0 ? low : leading;
  const int exponent = max(static_cast<int>(high >> 20), 1) - 1075 + (low != 0 ? 0 : 32);
  return word == 0 || high >= 0x7ff00000 ? no_bit : exponent + __ffs(static_cast<int>(word)) - 1;
}
__device__ __forceinline__ int lowest_bit(float x) {
  const std::uint32_t bits = __float_as_uint(x) & 0x7fffffff;
  const std::uint32_t word = (bits & 0x7fffff) | (bits >= 0x800000 ? 0x800000 : 0);
  const int exponent = max(static_cast<int>(bits >> 23), 1) - 150;
  return word == 0 || bits >= 0x7f800000 ? no_bit : exponent + __ffs(static_cast<int>(word)) - 1;
}

// Of up to 32 elements, numbered by the caller.
struct FoundLowestBits {
  int lowest = no_bit;
  unsigned inexact = 0;  // which are no integers

  template <class T>
  __device__ __forceinline__ void add(T x, int scale, int number) {
    const int bit = lowest_bit(x);
    lowest = min(lowest, bit);
    inexact |= bit < -scale ? 1u << number : 0;
  }
  __device__ __forceinline__ int depth() const { return DeviceLowestBits::lowest_bit_offset - lowest; }
};

// Remembers the elements that `inexact` names; place_of(number) is where they lie along k.
template <class PlaceOf>
__device__ __forceinline__ void keep_places(unsigned inexact, unsigned position, std::uint32_t* places,
                                            PlaceOf place_of) {
  for (; inexact != 0 && position < kept_places; inexact &= inexact - 1)
    places[position++] = static_cast<std::uint32_t>(place_of(__ffs(static_cast<int>(inexact)) - 1));
}

// By one thread.
template <class PlaceOf>
__device__ __forceinline__ void publish_lowest_bits(const FoundLowestBits& found,
                                                    const DeviceLowestBitsLists& lowest_bits, std::int64_t v,
                                                    PlaceOf place_of) {
  if (found.inexact == 0) return;
  const unsigned position = atomicAdd(&lowest_bits.counts[v].inexact, static_cast<unsigned>(__popc(found.inexact)));
  keep_places(found.inexact, position, lowest_bits.places + v * kept_places, place_of);
}

// By a warp, whose lanes have elements of the same vector.
template <class PlaceOf>
__device__ __forceinline__ void publish_warp_lowest_bits(const FoundLowestBits& found,
                                                         const DeviceLowestBitsLists& lowest_bits, std::int64_t v,
                                                         int lane, PlaceOf place_of) {
  const int depth = __reduce_max_sync(~0u, found.depth());
  if (lane == 0 && depth != 0) atomicMax(&lowest_bits.counts[v].depth, depth);
  if (!__any_sync(~0u, found.inexact != 0)) return;
  const auto mine = static_cast<unsigned>(__popc(found.inexact));
  unsigned before = mine;  // of the lanes up to this one
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(~0u, before, d);
    before += lane >= d ? other : 0;
  }
  unsigned position = lane == 31 ? atomicAdd(&lowest_bits.counts[v].inexact, before) : 0;
  position = __shfl_sync(~0u, position, 31) + before - mine;
  keep_places(found.inexact, position, lowest_bits.places + v * kept_places, place_of);
}

}  // namespace vernier::cuda
