// What a thread finds out about the elements of a vector at its scale, for count_grains and for the conversion that
// counts.
#pragma once

#include "number/digit_sum.hpp"
#include "scheme/device_sample.hpp"
#include "scheme/exact_entry.hpp"

namespace vernier::cuda {

// Of up to 32 elements, numbered by the caller.
struct FoundGrains {
  int depth = 0;
  unsigned inexact = 0;  // which are no integers

  template <class T>
  __device__ __forceinline__ void add(T x, int scale, int number) {
    if (x == 0 || !is_finite(x)) return;
    const ElementParts p = element_parts(x);
    const int lowest = p.exponent + __ffsll(static_cast<long long>(p.significand)) - 1;
    depth = max(depth, DeviceGrain::lowest_grain - lowest);
    inexact |= lowest + scale < 0 ? 1u << number : 0;
  }
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
__device__ __forceinline__ void publish_grains(const FoundGrains& found, const DeviceGrains& grains, std::int64_t v,
                                               PlaceOf place_of) {
  if (found.inexact == 0) return;
  const unsigned position = atomicAdd(&grains.counts[v].inexact, static_cast<unsigned>(__popc(found.inexact)));
  keep_places(found.inexact, position, grains.places + v * kept_places, place_of);
}

// By a warp, whose lanes have elements of the same vector.
template <class PlaceOf>
__device__ __forceinline__ void publish_warp_grains(const FoundGrains& found, const DeviceGrains& grains,
                                                    std::int64_t v, int lane, PlaceOf place_of) {
  const int depth = __reduce_max_sync(~0u, found.depth);
  if (lane == 0 && depth != 0) atomicMax(&grains.counts[v].depth, depth);
  if (!__any_sync(~0u, found.inexact != 0)) return;
  const auto mine = static_cast<unsigned>(__popc(found.inexact));
  unsigned before = mine;  // of the lanes up to this one
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(~0u, before, d);
    before += lane >= d ? other : 0;
  }
  unsigned position = lane == 31 ? atomicAdd(&grains.counts[v].inexact, before) : 0;
  position = __shfl_sync(~0u, position, 31) + before - mine;
  keep_places(found.inexact, position, grains.places + v * kept_places, place_of);
}

}  // namespace vernier::cuda
