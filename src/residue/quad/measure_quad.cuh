// Kernels that find what is known of the vectors of a quadruple operand, choose their scales, and sample |A||B|.
#pragma once

#include "number/ieee754.hpp"
#include "product/exact/entry.hpp"
#include "product/flatness.hpp"
#include "residue/quad/quad_warp.cuh"

namespace vernier::cuda {

// ---- what a thread gathers, and a block ----------------------------------------------------------------------------

template <int Parts>
struct QuadExtremes {
  unsigned long long largest[Parts] = {};  // bits
  int depth[Parts] = {}, nonfinite = 0;    // depth: how far the lowest bit is below no_lowest_bit

  __device__ int lowest_bit(int part) const { return no_lowest_bit - depth[part]; }
  __device__ void add(const double (&x)[Parts], const QuantumScale*) {
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      const std::uint64_t bits = magnitude_bits(x[p]);
      if (!is_finite(x[p])) nonfinite = 1;
      if (bits == 0 || !is_finite(x[p])) continue;
      largest[p] = max(largest[p], static_cast<unsigned long long>(bits));
      depth[p] = max(depth[p], no_lowest_bit - lowest_bit_of(bits));
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
  __device__ QuadExtremes from_lane(int distance) const {
    QuadExtremes other;
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      other.largest[p] = __shfl_xor_sync(~0u, largest[p], distance);
      other.depth[p] = __shfl_xor_sync(~0u, depth[p], distance);
    }
    other.nonfinite = __shfl_xor_sync(~0u, nonfinite, distance);
    return other;
  }
};

template <int Parts>
struct QuadSums {
  static constexpr int depths = static_cast<int>(shallow_depths.size());
  unsigned long long sum[Parts] = {}, squares[Parts] = {};
  unsigned clipped[depths] = {};  // of the leading part; of a slice, so that 32 bits hold them

  __device__ void add(const double (&x)[Parts], const QuantumScale* scale) {
    constexpr auto thresholds = shallow_depths;
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      if (!is_finite(x[p])) continue;
      const auto v = static_cast<unsigned>(ceil(fabs(x[p]) * scale[p].first * scale[p].second));
      sum[p] += v;
      squares[p] += static_cast<unsigned long long>(v) * v;
      if (p > 0) continue;
#pragma unroll
      for (int d = 0; d < depths; ++d)
        clipped[d] += min(v, 1u << (quantum_bits - thresholds[static_cast<std::size_t>(d)]));
    }
  }
  __device__ void merge(const QuadSums& other) {
#pragma unroll
    for (int p = 0; p < Parts; ++p) sum[p] += other.sum[p], squares[p] += other.squares[p];
#pragma unroll
    for (int d = 0; d < depths; ++d) clipped[d] += other.clipped[d];
  }
  __device__ QuadSums from_lane(int distance) const {
    QuadSums other;
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      other.sum[p] = __shfl_xor_sync(~0u, sum[p], distance);
      other.squares[p] = __shfl_xor_sync(~0u, squares[p], distance);
    }
#pragma unroll
    for (int d = 0; d < depths; ++d) other.clipped[d] = __shfl_xor_sync(~0u, clipped[d], distance);
    return other;
  }
  __device__ VectorSums leading() const {
    VectorSums s{squares[0], sum[0], {}};
    for (int d = 0; d < depths; ++d) s.clipped[static_cast<std::size_t>(d)] = clipped[d];
    return s;
  }
};

// A block holds a slice of four vectors in registers, 16 elements a thread: memory is read once.
inline constexpr int held_vectors = 4, held_elements = longest_slice * held_vectors / measure_threads;

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
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
      if (contiguous_ || d >= held_vectors) sums.merge(sums.from_lane(d));
    if (lane < held_vectors) found[warp][lane] = contiguous_ && lane != vector_ ? Sums{} : sums;
  }

 private:
  double x_[held_elements][Parts];
  const bool contiguous_;
  int vector_;
};

template <class Sums>
__device__ __forceinline__ Sums merged(const Sums (&found)[measure_warps][held_vectors], int v) {
  Sums all = found[0][v];
  for (int w = 1; w < measure_warps; ++w) all.merge(found[w][v]);
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
      const QuadExtremes<Parts> found = merged(extremes, v);
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
      const QuadSums<Parts> found = merged(sums, v);
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
