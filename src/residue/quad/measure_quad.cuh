// Kernels that find what is known of the vectors of a quadruple operand, choose their scales, and sample |A||B|.
#pragma once

#include "number/ieee754.hpp"
#include "product/exact/entry.hpp"
#include "product/flatness.hpp"
#include "residue/convert/quantised.cuh"
#include "residue/quad/quad_warp.cuh"

namespace vernier::cuda {

// Of a slice in a block: vectors, and elements a thread.
inline constexpr int held_vectors = 4, held_elements = longest_slice * held_vectors / measure_threads;

// ---- what a thread gathers, and a block ----------------------------------------------------------------------------

template <int Parts>
struct QuadExtremes {
  unsigned long long largest[Parts] = {};     // bits
  unsigned depth[Parts] = {}, nonfinite = 0;  // depth: how far the lowest bit is below no_lowest_bit

  __device__ int lowest_bit(int part) const { return no_lowest_bit - static_cast<int>(depth[part]); }
  __device__ void add(const double (&x)[Parts], const QuantumScale*) {
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      const std::uint64_t bits = magnitude_bits(x[p]);
      if (!is_finite(x[p])) nonfinite = 1;
      if (bits == 0 || !is_finite(x[p])) continue;
      largest[p] = max(largest[p], static_cast<unsigned long long>(bits));
      depth[p] = max(depth[p], static_cast<unsigned>(no_lowest_bit - lowest_bit_of_halves(bits)));
    }
  }
  __device__ void merge(const QuadExtremes& other) {
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      largest[p] = max(largest[p], other.largest[p]);
      depth[p] = max(depth[p], other.depth[p]);
    }
    nonfinite |= other.nonfinite;
  }
  // Of all lanes, or of those that lie a multiple of held_vectors apart.
  __device__ void gather(bool all) {
    if (all) {
#pragma unroll
      for (int p = 0; p < Parts; ++p) {
        const auto high = static_cast<std::uint32_t>(largest[p] >> 32), most = __reduce_max_sync(~0u, high),
                   low = __reduce_max_sync(~0u, high == most ? static_cast<std::uint32_t>(largest[p]) : 0u);
        largest[p] = static_cast<unsigned long long>(most) << 32 | low;
        depth[p] = __reduce_max_sync(~0u, depth[p]);
      }
      nonfinite = __reduce_max_sync(~0u, nonfinite);
      return;
    }
#pragma unroll
    for (int d = 16; d >= held_vectors; d /= 2) {
      QuadExtremes other;
#pragma unroll
      for (int p = 0; p < Parts; ++p) {
        other.largest[p] = __shfl_xor_sync(~0u, largest[p], d);
        other.depth[p] = __shfl_xor_sync(~0u, depth[p], d);
      }
      other.nonfinite = __shfl_xor_sync(~0u, nonfinite, d);
      merge(other);
    }
  }

 private:
  // lowest_bit_of(), by one search in 32 bits.
  __device__ static int lowest_bit_of_halves(std::uint64_t bits) {
    const auto high = static_cast<std::uint32_t>(bits >> 32), low = static_cast<std::uint32_t>(bits);
    const std::uint32_t field = high >> 20, top = (high & 0xfffffu) | (field == 0 ? 0u : 0x100000u),
                        word = low != 0 ? low : top;
    return static_cast<int>(field == 0 ? 1 : field) - 1075 + (low != 0 ? 0 : 32) + 31 -
           __clz(static_cast<int>(word & (0 - word)));
  }
};

// A warp's elements are 512 of a vector at most: 32 bits hold their sums.
template <int Parts>
struct QuadSums {
  static constexpr int depths = static_cast<int>(shallow_depths.size());
  static_assert(longest_slice / 2 << 2 * quantum_bits <= std::int64_t{1} << 31);
  std::uint32_t sum[Parts] = {}, squares[Parts] = {}, clipped[depths] = {};  // clipped: of the leading part

  __device__ void add(const double (&x)[Parts], const QuantumScale* scale) {
    constexpr auto thresholds = shallow_depths;
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      const std::uint32_t v = quantised(x[p], scale[p]);
      sum[p] += v;
      squares[p] += v * v;
      if (p > 0) continue;
#pragma unroll
      for (int d = 0; d < depths; ++d)
        clipped[d] += min(v, 1u << (quantum_bits - thresholds[static_cast<std::size_t>(d)]));
    }
  }
  __device__ void gather(bool all) {
    const auto over_lanes = [all](std::uint32_t& x) {
      if (all) {
        x = __reduce_add_sync(~0u, x);
      } else {
#pragma unroll
        for (int d = 16; d >= held_vectors; d /= 2) x += __shfl_xor_sync(~0u, x, d);
      }
    };
#pragma unroll
    for (int p = 0; p < Parts; ++p) over_lanes(sum[p]), over_lanes(squares[p]);
#pragma unroll
    for (int d = 0; d < depths; ++d) over_lanes(clipped[d]);
  }
};

// Of a slice.
template <int Parts>
struct SliceSums {
  static constexpr int depths = QuadSums<Parts>::depths;
  unsigned long long sum[Parts] = {}, squares[Parts] = {};
  unsigned clipped[depths] = {};

  __device__ void merge(const QuadSums<Parts>& other) {
#pragma unroll
    for (int p = 0; p < Parts; ++p) sum[p] += other.sum[p], squares[p] += other.squares[p];
#pragma unroll
    for (int d = 0; d < depths; ++d) clipped[d] += other.clipped[d];
  }
  __device__ VectorSums leading() const {
    VectorSums s{squares[0], sum[0], {}};
    for (int d = 0; d < depths; ++d) s.clipped[static_cast<std::size_t>(d)] = clipped[d];
    return s;
  }
};

// A block holds a slice of four vectors in registers: memory is read once.
template <int Parts>
class HeldSlice {
 public:
  // Behind the vectors and behind `end` there are zeros.
  __device__ HeldSlice(const QuadView& x, std::int64_t first, std::int64_t begin, std::int64_t end)
      : contiguous_(x.k_contiguous()) {
    constexpr int warps_of_a_vector = measure_warps / held_vectors;
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    vector_ = contiguous_ ? warp / warps_of_a_vector : thread % held_vectors;
    const int from = contiguous_ ? warp % warps_of_a_vector * 32 + thread % 32 : thread / held_vectors;
#pragma unroll
    for (int e = 0; e < held_elements; ++e) {
      const std::int64_t l = begin + from + e * (measure_threads / held_vectors);
#pragma unroll
      for (int p = 0; p < Parts; ++p) x_[e][p] = 0;
      if (first + vector_ < x.vectors && l < end) load_parts<Parts>(x.at(first + vector_, l), x_[e]);
    }
  }

  // found[warp][vector] has the sums of which those of a vector are to be merged.
  template <class Sums>
  __device__ __forceinline__ void sum(const QuantumScale (*scales)[Parts],
                                      Sums (&found)[measure_warps][held_vectors]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    Sums sums;
#pragma unroll
    for (int e = 0; e < held_elements; ++e) sums.add(x_[e], scales[vector_]);
    sums.gather(contiguous_);
    if (lane < held_vectors) found[warp][lane] = contiguous_ && lane != vector_ ? Sums{} : sums;
  }

 private:
  double x_[held_elements][Parts];
  const bool contiguous_;
  int vector_;
};

template <class All, class Sums>
__device__ __forceinline__ All merged(const Sums (&found)[measure_warps][held_vectors], int v) {
  All all;
  for (int w = 0; w < measure_warps; ++w) all.merge(found[w][v]);
  return all;
}

// A block has four vectors and all of their k, slice by slice: the exponents, and what is measured by them.
template <int Parts>
__global__ void __launch_bounds__(measure_threads, 2) measure_quad(const __grid_constant__ DeviceQuadSide side) {
  __shared__ QuadExtremes<Parts> extremes[measure_warps][held_vectors];
  __shared__ QuadSums<Parts> sums[measure_warps][held_vectors];
  __shared__ QuantumScale scales[held_vectors][Parts];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * held_vectors;
  const int v = static_cast<int>(threadIdx.x);
  QuadVector all;
  if (side.exponents != nullptr && v < held_vectors && first + v < side.x.vectors)
    all.shift = side.exponents[first + v].shift(), all.span = side.exponents[first + v].span();
  for (std::int64_t begin = 0; begin < side.x.k; begin += longest_slice) {
    const std::int64_t end = min(begin + longest_slice, side.x.k);
    const HeldSlice<Parts> slice(side.x, first, begin, end);
    slice.sum(scales, extremes);
    __syncthreads();
    PartFacts parts[Parts];
    if (v < held_vectors) {
      const auto found = merged<QuadExtremes<Parts>>(extremes, v);
      all.nonfinite = all.nonfinite || found.nonfinite != 0;
      for (int p = 0; p < Parts; ++p) {
        if (found.largest[p] != 0) parts[p].exponent = exponent_of<double>(found.largest[p]);
        parts[p].lowest_bit = found.lowest_bit(p);
        scales[v][p] = quantum_scale(parts[p].exponent);
      }
    }
    __syncthreads();
    slice.sum(scales, sums);
    __syncthreads();
    if (v < held_vectors) {
      const auto found = merged<SliceSums<Parts>>(sums, v);
      for (int p = 0; p < Parts; ++p) parts[p].sum = found.sum[p], parts[p].squares = found.squares[p];
      parts[0].flatness = shallow_flatness(found.leading(), end - begin);
      add_slice(parts, Parts, begin, end - begin, all);
    }
  }
  if (v < held_vectors && first + v < side.x.vectors) side.vectors[first + v] = all;
}

// ---- scales --------------------------------------------------------------------------------------------------------

inline constexpr int scale_threads = 256;

// Vectors of A, then those of B.
__global__ void __launch_bounds__(scale_threads)
    set_quad_scales(const __grid_constant__ DeviceQuadSide a, const __grid_constant__ DeviceQuadSide b, QuadSize size,
                    DeviceQuadFacts* facts) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * scale_threads + threadIdx.x;
  if (index >= a.x.vectors + b.x.vectors) return;
  const int which = index < a.x.vectors ? 0 : 1;
  const DeviceQuadSide& side = which == 0 ? a : b;
  const std::int64_t v = which == 0 ? index : index - a.x.vectors;
  const QuadVector& x = side.vectors[v];
  QuadScale s;
  const double norm = set_quad_scale(x, {side.x.k, side.x.parts, size, which == 0}, s);
  side.scales[v] = s;
  side.dd[v] = {s.error.rounded, s.error.half_norm, s.error.floor, x.shift - s.scale, x.nonfinite ? 1 : 0};
  QuadMaxima& maxima = facts->maxima;
  const auto raise_to = [](auto& most, auto number) {
    if (number > most) atomicMax(&most, number);  // most threads see a larger one that is there
  };
  const auto raise = [&](unsigned long long& most, double number) {
    raise_to(most, static_cast<unsigned long long>(magnitude_bits(number)));
  };
  raise(maxima.norm_2[which], norm);
  raise(maxima.rounded[which], by_floor(s.error.rounded, s.error.floor));
  raise(maxima.half_norm[which], by_floor(s.error.half_norm, s.error.floor));
  raise_to(maxima.exponent[which], static_cast<unsigned>(s.exponent + 1));
  if (s.error.rounded != 0) raise_to(maxima.inexact, 1u);
  if (x.nonfinite) atomicMax(&maxima.special, 1u);
  if (x.span > most_span) atomicMax(&maxima.wide, 1u);
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
  facts->samples[threadIdx.x].error = quad_error(row.error, column.error);
  facts->samples[threadIdx.x].exponent = row.exponent + column.exponent;
}

}  // namespace vernier::cuda
