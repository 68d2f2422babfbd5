// Kernels that find what is known of the vectors of a quadruple operand, choose their scales, and sample |A||B|.
#pragma once

#include "number/ieee754.hpp"
#include "product/flatness.hpp"
#include "residue/quad/quad_warp.cuh"

namespace vernier::cuda {

// ---- what a thread gathers, and a block ----------------------------------------------------------------------------

template <int Parts>
struct QuadExtremes {
  unsigned long long largest[Parts] = {};  // bits
  int lowest = no_lowest_bit, nonfinite = 0;

  __device__ void add(const double (&x)[Parts], const QuantumScale*) {
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      const std::uint64_t bits = magnitude_bits(x[p]);
      if (bits >= infinity_bits<double>) nonfinite = 1;
      if (bits == 0 || bits >= infinity_bits<double>) continue;
      largest[p] = max(largest[p], static_cast<unsigned long long>(bits));
      lowest = min(lowest, lowest_bit_of(bits));
    }
  }
  __device__ void merge(const QuadExtremes& other) {
#pragma unroll
    for (int p = 0; p < Parts; ++p) largest[p] = max(largest[p], other.largest[p]);
    lowest = min(lowest, other.lowest);
    nonfinite |= other.nonfinite;
  }
  __device__ QuadExtremes from_lane(int distance) const {
    QuadExtremes other;
#pragma unroll
    for (int p = 0; p < Parts; ++p) other.largest[p] = __shfl_xor_sync(~0u, largest[p], distance);
    other.lowest = __shfl_xor_sync(~0u, lowest, distance);
    other.nonfinite = __shfl_xor_sync(~0u, nonfinite, distance);
    return other;
  }
};

template <int Parts>
struct QuadSums {
  unsigned long long sum[Parts] = {}, squares[Parts] = {};

  __device__ void add(const double (&x)[Parts], const QuantumScale* scale) {
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      if (!is_finite(x[p])) continue;
      const auto v = static_cast<unsigned>(ceil(fabs(x[p]) * scale[p].first * scale[p].second));
      sum[p] += v;
      squares[p] += static_cast<unsigned long long>(v) * v;
    }
  }
  __device__ void merge(const QuadSums& other) {
#pragma unroll
    for (int p = 0; p < Parts; ++p) sum[p] += other.sum[p], squares[p] += other.squares[p];
  }
  __device__ QuadSums from_lane(int distance) const {
    QuadSums other;
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      other.sum[p] = __shfl_xor_sync(~0u, sum[p], distance);
      other.squares[p] = __shfl_xor_sync(~0u, squares[p], distance);
    }
    return other;
  }
};

// A block's sums over a slice of 16 vectors; found[warp][vector] has them, of which those of a vector are to be merged.
template <int Parts, class Sums>
__device__ __forceinline__ void sweep_slice(const QuadView& x, std::int64_t first, std::int64_t begin, std::int64_t end,
                                            const QuantumScale (*scales)[Parts],
                                            Sums (&found)[measure_warps][measure_vectors]) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  double parts[Parts];
  if (x.k_contiguous()) {
#pragma unroll
    for (int g = 0; g < measure_vectors / measure_warps; ++g) {
      const int v = warp + g * measure_warps;
      Sums sums;
      for (std::int64_t l = begin + lane; first + v < x.vectors && l < end; l += 32) {
        load_parts<Parts>(x.at(first + v, l), parts);
        sums.add(parts, scales[v]);
      }
#pragma unroll
      for (int d = 16; d > 0; d /= 2) sums.merge(sums.from_lane(d));
      if (lane < measure_warps) found[lane][v] = lane == warp ? sums : Sums{};
    }
  } else {
    const int v = static_cast<int>(threadIdx.x) % measure_vectors;
    Sums sums;
    for (std::int64_t l = begin + threadIdx.x / measure_vectors; first + v < x.vectors && l < end;
         l += measure_threads / measure_vectors) {
      load_parts<Parts>(x.at(first + v, l), parts);
      sums.add(parts, scales[v]);
    }
    sums.merge(sums.from_lane(16));
    if (lane < 16) found[warp][v] = sums;
  }
}

template <class Sums>
__device__ __forceinline__ Sums merged(const Sums (&found)[measure_warps][measure_vectors], int v) {
  Sums all = found[0][v];
  for (int w = 1; w < measure_warps; ++w) all.merge(found[w][v]);
  return all;
}

// A block has 16 vectors and all of their k, slice by slice, each read twice: the exponents, and what is measured by
// them.
template <int Parts>
__global__ void __launch_bounds__(measure_threads) measure_quad(const __grid_constant__ DeviceQuadSide side) {
  __shared__ QuadExtremes<Parts> extremes[measure_warps][measure_vectors];
  __shared__ QuadSums<Parts> sums[measure_warps][measure_vectors];
  __shared__ QuantumScale scales[measure_vectors][Parts];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * measure_vectors;
  const int v = static_cast<int>(threadIdx.x);
  QuadVector all;
  for (std::int64_t begin = 0; begin < side.x.k; begin += longest_slice) {
    const std::int64_t end = min(begin + longest_slice, side.x.k);
    sweep_slice<Parts>(side.x, first, begin, end, scales, extremes);
    __syncthreads();
    QuadExtremes<Parts> found;
    int exponent[Parts] = {};
    if (v < measure_vectors) {
      found = merged(extremes, v);
      for (int p = 0; p < Parts; ++p) {
        if (found.largest[p] != 0) exponent[p] = exponent_of<double>(found.largest[p]);
        scales[v][p] = quantum_scale(exponent[p]);
      }
    }
    __syncthreads();
    sweep_slice<Parts>(side.x, first, begin, end, scales, sums);
    __syncthreads();
    if (v < measure_vectors) {
      const QuadSums<Parts> s = merged(sums, v);
      all.nonfinite = all.nonfinite || found.nonfinite != 0;
      for (int p = 0; p < Parts; ++p) add_part({exponent[p], found.lowest, s.sum[p], s.squares[p]}, p == 0, all);
    }
    __syncthreads();
  }
  if (v < measure_vectors && first + v < side.x.vectors) side.vectors[first + v] = all;
}

// ---- scales --------------------------------------------------------------------------------------------------------

inline constexpr int scale_threads = 256;

// Vectors of A, then those of B.
__global__ void __launch_bounds__(scale_threads)
    set_quad_scales(const __grid_constant__ DeviceQuadSide a, const __grid_constant__ DeviceQuadSide b, int bits,
                    DeviceQuadFacts* facts) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * scale_threads + threadIdx.x;
  if (index >= a.x.vectors + b.x.vectors) return;
  const int which = index < a.x.vectors ? 0 : 1;
  const DeviceQuadSide& side = which == 0 ? a : b;
  const std::int64_t v = which == 0 ? index : index - a.x.vectors;
  const QuadVector& x = side.vectors[v];
  QuadScale s;
  const double norm =
      set_quad_scale(x, {side.x.k, bits, side.x.parts, which == 0 ? b.x.parts : a.x.parts, which == 0}, s);
  side.scales[v] = s;
  side.dd[v] = {s.error.rounding, s.error.half_norm, s.error.largest, -s.scale, x.nonfinite ? 1 : 0};
  QuadMaxima& maxima = facts->maxima;
  atomicMax(&maxima.norm_2[which], static_cast<unsigned long long>(magnitude_bits(norm)));
  atomicMax(&maxima.exponent[which], static_cast<unsigned>(s.exponent + 1));
  if (s.error.rounding != 0) atomicMax(&maxima.inexact, 1u);
  if (x.nonfinite) atomicMax(&maxima.special, 1u);
}

// ---- |A||B| --------------------------------------------------------------------------------------------------------

// A warp a sample.
__global__ void __launch_bounds__(32) sample_quad(const __grid_constant__ DeviceQuadSide a,
                                                  const __grid_constant__ DeviceQuadSide b, DeviceQuadFacts* facts) {
  const int r = static_cast<int>(blockIdx.x) / quad_samples, c = static_cast<int>(blockIdx.x) % quad_samples;
  const std::int64_t i = sampled_vector(r, a.x.vectors), j = sampled_vector(c, b.x.vectors);
  if (r >= a.x.vectors || c >= b.x.vectors || a.vectors[i].nonfinite || b.vectors[j].nonfinite) return;
  const double magnitude = magnitude_by_warp(a, i, b, j, a.x.k);
  if (threadIdx.x != 0) return;
  facts->samples[blockIdx.x].magnitude = magnitude;
  facts->samples[blockIdx.x].exists = 1;
}

__global__ void __launch_bounds__(64) sample_errors(const __grid_constant__ DeviceQuadSide a,
                                                    const __grid_constant__ DeviceQuadSide b, DeviceQuadFacts* facts) {
  if (threadIdx.x >= quad_samples * quad_samples || facts->samples[threadIdx.x].exists == 0) return;
  const QuadScale &row = a.scales[sampled_vector(threadIdx.x / quad_samples, a.x.vectors)],
                  &column = b.scales[sampled_vector(threadIdx.x % quad_samples, b.x.vectors)];
  facts->samples[threadIdx.x].error = entry_error(row.error, column.error);
  facts->samples[threadIdx.x].exponent = row.exponent + column.exponent;
}

}  // namespace vernier::cuda
