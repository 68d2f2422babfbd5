// What the kernels of quadruple products share: loads of elements, and |A||B| of an entry.
#pragma once

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "residue/quad/quad_view.hpp"

namespace vernier::cuda {

inline constexpr int measure_threads = 256, measure_warps = measure_threads / 32;

struct alignas(16) TwoDoubles {
  double x, y;
};
__device__ __forceinline__ bool holds_two_doubles(const double* p) {
  return reinterpret_cast<std::uintptr_t>(p) % alignof(TwoDoubles) == 0;
}

__device__ __forceinline__ double magnitude_at(const QuadView& x, std::int64_t v, std::int64_t l,
                                               const TwoFactors& unit) {
  const double* p = x.at(v, l);
  double sum = p[0];
  for (int part = 1; part < x.parts; ++part) sum += p[part];
  return part_magnitude(sum, unit);
}

// Of row i and column j, by a warp: as magnitude_product() has it for the first `count` elements. Both are finite.
__device__ __forceinline__ double magnitude_by_warp(const DeviceQuadSide& a, std::int64_t i, const DeviceQuadSide& b,
                                                    std::int64_t j, std::int64_t count) {
  const TwoFactors f = two_factors(-a.vectors[i].exponent), g = two_factors(-b.vectors[j].exponent);
  double sum = 0;
  for (std::int64_t l = threadIdx.x % 32; l < count; l += magnitude_lanes)
    sum += magnitude_at(a.x, i, l, f) * magnitude_at(b.x, j, l, g);
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  return less_roundings(sum, count);
}

}  // namespace vernier::cuda
