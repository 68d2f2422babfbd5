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
  // Of the elements of a thread; true where all are finite. Those behind a NaN or an infinity have no lower parts.
  template <int Count>
  __device__ __forceinline__ bool add_all(double (&x)[Count][Parts]) {
    bool finite = true;
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      unsigned most = 0, least_place = ~0u, least_low = ~0u;
#pragma unroll
      for (int e = 0; e < Count; ++e) {
        const std::uint64_t bits = magnitude_bits(x[e][p]);
        const auto high = static_cast<std::uint32_t>(bits >> 32), low = static_cast<std::uint32_t>(bits);
        most = max(most, high);
        least_place =
            min(least_place, (high >> 20) + (31u - static_cast<unsigned>(__clz(static_cast<int>(low & (0 - low))))));
        least_low = min(least_low, low);
      }
      if (p == 0 && Parts == 2 && most >= infinite_half) clear_behind_nonfinite(x);
      // Where lower halves have the lowest bits of normal numbers, the upper half of the largest says its exponent.
      if (least_low != 0 && most < infinite_half && least_place > 32) {
        largest[p] = static_cast<unsigned long long>(most) << 32;
        depth[p] = static_cast<unsigned>(no_lowest_bit + 1075) - least_place;
      } else {
#pragma unroll 1
        for (int e = 0; e < Count; ++e) add(x, e, p);
        finite = finite && most < infinite_half;
      }
    }
    return finite;
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
  static constexpr unsigned infinite_half = 0x7ff00000u;

  template <int Count>
  __device__ __forceinline__ static void clear_behind_nonfinite(double (&x)[Count][Parts]) {
#pragma unroll
    for (int e = 0; e < Count; ++e) x[e][Parts - 1] = is_finite(x[e][0]) ? x[e][Parts - 1] : 0;
  }
  template <int Count>
  __device__ __forceinline__ void add(const double (&x)[Count][Parts], int element, int p) {
    double value = 0;
#pragma unroll
    for (int e = 0; e < Count; ++e) value = e == element ? x[e][p] : value;  // all stay in registers
    const std::uint64_t bits = magnitude_bits(value);
    if (!is_finite(value)) nonfinite = 1;
    if (bits == 0 || !is_finite(value)) return;
    largest[p] = max(largest[p], static_cast<unsigned long long>(bits));
    depth[p] = max(depth[p], static_cast<unsigned>(no_lowest_bit - lowest_bit_of_halves(bits)));
  }

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

  template <int Count>
  __device__ __forceinline__ void add_all(const double (&x)[Count][Parts], const TwoFactors (&scale)[Parts],
                                          bool finite) {
    if (finite) {
#pragma unroll
      for (int e = 0; e < Count; ++e)
#pragma unroll
        for (int p = 0; p < Parts; ++p) add(quantised_finite(x[e][p], scale[p]), p);
      return;
    }
#pragma unroll
    for (int e = 0; e < Count; ++e)
#pragma unroll
      for (int p = 0; p < Parts; ++p) add(quantised(x[e][p], scale[p]), p);
  }
  __device__ __forceinline__ void add(std::uint32_t v, int p) {
    constexpr auto thresholds = shallow_depths;
    sum[p] += v;
    squares[p] += v * v;
    if (p > 0) return;
#pragma unroll
    for (int d = 0; d < depths; ++d)
      clipped[d] += min(v, 1u << (quantum_bits - thresholds[static_cast<std::size_t>(d)]));
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
  __device__ HeldSlice(const QuadView& x, std::int64_t first)
      : x_of_(x), first_(first), contiguous_(x.k_contiguous()), aligned_(holds_two_doubles(x.data)) {
    constexpr int warps_of_a_vector = measure_warps / held_vectors;
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    vector_ = contiguous_ ? warp / warps_of_a_vector : thread % held_vectors;
    from_ = contiguous_ ? warp % warps_of_a_vector * 32 + thread % 32 : thread / held_vectors;
  }
  __device__ int vector() const { return vector_; }

  // Behind the vectors and behind `end` there are zeros.
  __device__ __forceinline__ void load(std::int64_t begin, std::int64_t end) {
    constexpr int step = measure_threads / held_vectors;
    const bool exists = first_ + vector_ < x_of_.vectors;
    const double* p = x_of_.at(first_ + vector_, begin + from_);
    const std::int64_t stride = step * x_of_.k_stride;
    if (exists && end - begin == longest_slice && Parts == 2 && aligned_) {
#pragma unroll
      for (int e = 0; e < held_elements; ++e, p += stride) {
        const TwoDoubles both = *reinterpret_cast<const TwoDoubles*>(p);
        x_[e][0] = both.x, x_[e][Parts - 1] = both.y;
      }
      return;
    }
#pragma unroll
    for (int e = 0; e < held_elements; ++e, p += stride)
#pragma unroll
      for (int part = 0; part < Parts; ++part) x_[e][part] = exists && begin + from_ + e * step < end ? p[part] : 0;
  }

  __device__ __forceinline__ QuadExtremes<Parts> extremes(QuadExtremes<Parts> (&found)[measure_warps][held_vectors]) {
    QuadExtremes<Parts> own;
    finite_ = own.add_all(x_);
    return gathered(own, found);
  }
  __device__ __forceinline__ void sums(const TwoFactors (&scales)[Parts],
                                       QuadSums<Parts> (&found)[measure_warps][held_vectors]) const {
    QuadSums<Parts> own;
    own.add_all(x_, scales, finite_);
    gathered(own, found);
  }

 private:
  // found[warp][vector] has those of which a vector's are to be merged.
  template <class Sums>
  __device__ __forceinline__ Sums gathered(Sums own, Sums (&found)[measure_warps][held_vectors]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    own.gather(contiguous_);
    if (contiguous_ && lane != vector_) own = Sums{};
    if (lane < held_vectors) found[warp][lane] = own;
    return own;
  }

  const QuadView& x_of_;
  const std::int64_t first_;
  const bool contiguous_, aligned_;
  bool finite_ = true;
  int vector_, from_;
  double x_[held_elements][Parts];
};

template <class All, class Sums>
__device__ __forceinline__ All merged(const Sums (&found)[measure_warps][held_vectors], int v) {
  All all;
  for (int w = 0; w < measure_warps; ++w) all.merge(found[w][v]);
  return all;
}

// Exponents of the largest parts of each vector in each warp, from which all threads take scales.
template <int Parts>
struct WarpExponents {
  static constexpr std::int16_t none = -0x7fff;
  alignas(16) std::int16_t of[held_vectors][Parts][measure_warps];

  __device__ void set(const QuadExtremes<Parts>& found, int vector, int warp) {
#pragma unroll
    for (int p = 0; p < Parts; ++p)
      of[vector][p][warp] =
          found.largest[p] == 0 ? none : static_cast<std::int16_t>(exponent_of<double>(found.largest[p]));
  }
  __device__ int largest(int vector, int part) const {
    int most = none;
#pragma unroll
    for (int w = 0; w < measure_warps; ++w) most = max(most, static_cast<int>(of[vector][part][w]));
    return most == none ? 0 : most;
  }
};

// A block has four vectors and all of their k, slice by slice: the exponents, and what is measured by them.
template <int Parts>
__global__ void __launch_bounds__(measure_threads, 2) measure_quad(const __grid_constant__ DeviceQuadSide side) {
  __shared__ QuadExtremes<Parts> extremes[2][measure_warps][held_vectors];
  __shared__ QuadSums<Parts> sums[measure_warps][held_vectors];
  __shared__ WarpExponents<Parts> exponents;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * held_vectors, k = side.x.k;
  const int v = static_cast<int>(threadIdx.x);
  QuadVector all;
  if (side.exponents != nullptr && v < held_vectors && first + v < side.x.vectors)
    all.shift = side.exponents[first + v].shift(), all.span = side.exponents[first + v].span();
  HeldSlice<Parts> slice(side.x, first);
  for (std::int64_t begin = -longest_slice; begin < k; begin += longest_slice) {
    const std::int64_t end = min(begin + longest_slice, k);
    const auto turn = static_cast<int>((begin + longest_slice) / longest_slice % 2);
    if (begin >= 0) {
      const QuadExtremes<Parts> own = slice.extremes(extremes[turn]);
      if (v % 32 < held_vectors) exponents.set(own, v % 32, v / 32);
      __syncthreads();
      TwoFactors scales[Parts];
#pragma unroll
      for (int p = 0; p < Parts; ++p) scales[p] = quantum_scale(exponents.largest(slice.vector(), p));
      slice.sums(scales, sums);
      __syncthreads();
    }
    if (end < k) slice.load(end, min(end + longest_slice, k));  // on its way while four threads add up
    if (begin < 0 || v >= held_vectors) continue;
    const auto found = merged<QuadExtremes<Parts>>(extremes[turn], v);
    const auto sum = merged<SliceSums<Parts>>(sums, v);
    PartFacts parts[Parts];
    all.nonfinite = all.nonfinite || found.nonfinite != 0;
    for (int p = 0; p < Parts; ++p) {
      if (found.largest[p] != 0) parts[p].exponent = exponent_of<double>(found.largest[p]);
      parts[p].lowest_bit = found.lowest_bit(p);
      parts[p].sum = sum.sum[p], parts[p].squares = sum.squares[p];
    }
    parts[0].flatness = shallow_flatness(sum.leading(), end - begin);
    add_slice(parts, Parts, begin, end - begin, all);
  }
  if (v < held_vectors && first + v < side.x.vectors) side.vectors[first + v] = all;
}

// ---- scales --------------------------------------------------------------------------------------------------------

inline constexpr int scale_threads = 256;

// Of a warp, whose first lane alone raises it.
__device__ __forceinline__ void raise_together(unsigned long long& most, double number) {
  std::uint64_t bits = magnitude_bits(number);
#pragma unroll
  for (int d = 16; d > 0; d /= 2) bits = max(bits, __shfl_xor_sync(~0u, bits, d));
  if (threadIdx.x % 32 == 0 && bits > most) atomicMax(&most, static_cast<unsigned long long>(bits));
}
__device__ __forceinline__ void raise_together(unsigned& most, unsigned number) {
  number = __reduce_max_sync(~0u, number);
  if (threadIdx.x % 32 == 0 && number > most) atomicMax(&most, number);
}

// Blocks of vectors of A, then of B; for each size.
__global__ void __launch_bounds__(scale_threads)
    set_quad_scales(const __grid_constant__ DeviceQuadSide a, const __grid_constant__ DeviceQuadSide b,
                    const __grid_constant__ QuadSizes sizes, DeviceQuadFacts* facts) {
  const std::int64_t blocks_of_a = divide_up(a.x.vectors, std::int64_t{scale_threads});
  const int which = blockIdx.x < blocks_of_a ? 0 : 1;
  const DeviceQuadSide& side = which == 0 ? a : b;
  const std::int64_t v = (blockIdx.x - which * blocks_of_a) * scale_threads + threadIdx.x;
  const QuadVector x = v < side.x.vectors ? side.vectors[v] : QuadVector{};
  QuadScale s;
  const double norm = set_quad_scale(x, {side.x.k, side.x.parts, sizes.of[blockIdx.y], which == 0}, s);
  if (static_cast<int>(blockIdx.y) == sizes.kept && v < side.x.vectors) {
    side.scales[v] = s;
    side.dd[v] = {s.error.rounded, s.error.half_norm, s.error.floor, x.shift - s.scale, x.nonfinite ? 1 : 0};
  }
  QuadMaxima& maxima = facts->maxima[blockIdx.y];
  raise_together(maxima.norm_2[which], norm);
  raise_together(maxima.rounded[which], by_floor(s.error.rounded, s.error.floor));
  raise_together(maxima.half_norm[which], by_floor(s.error.half_norm, s.error.floor));
  raise_together(maxima.exponent[which], static_cast<unsigned>(s.exponent + 1));
  raise_together(maxima.inexact, s.error.rounded != 0 ? 1u : 0u);
  raise_together(maxima.special, x.nonfinite ? 1u : 0u);
  raise_together(maxima.wide, x.span > most_span ? 1u : 0u);
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
