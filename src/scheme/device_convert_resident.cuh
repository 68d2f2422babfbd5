// The conversion kernel for k up to 4096: each element is read from memory once and stays in registers through all
// sweeps. A warp has two vectors of the strip and, of each piece of 128 k, four elements a lane.
#pragma once

#include "scheme/device_strip.cuh"

namespace vernier::cuda {

// ---- what a warp finds out about one vector, from `Count` elements a lane -------------------------------------------

struct ExponentRange {
  int largest, lowest;  // nothing_found and its negative for a vector of zeros
  bool nonfinite;
};
inline constexpr int nothing_found = -(1 << 20);

// All lanes get the result. The common case looks at the leading words of double alone.
template <class T, int Count>
__device__ __forceinline__ ExponentRange warp_exponents(const T (&x)[Count]) {
  using Bits = typename Ieee754<T>::Bits;
  constexpr int fraction_of_key = Ieee754<T>::precision - 1 - (sizeof(T) == 8 ? 32 : 0);
  constexpr std::uint32_t least_normal = 1u << fraction_of_key,
                          infinity = static_cast<std::uint32_t>((infinity_bits<T>) >> (sizeof(T) == 8 ? 32 : 0));
  std::uint32_t largest = 0, smallest = ~0u;
  bool odd = false;  // subnormal or not finite
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const Bits bits = magnitude_bits(x[i]);
    const auto key = static_cast<std::uint32_t>(bits >> (sizeof(T) == 8 ? 32 : 0));
    odd = odd || (key < least_normal && bits != 0) || key >= infinity;
    largest = max(largest, key);
    smallest = min(smallest, key - 1);
  }
  constexpr int bias = Ieee754<T>::max_exponent;
  if (!__any_sync(~0u, odd)) {
    largest = __reduce_max_sync(~0u, largest);
    smallest = __reduce_min_sync(~0u, smallest);
    if (largest == 0) return {nothing_found, -nothing_found, false};
    return {static_cast<int>(largest >> fraction_of_key) - bias,
            static_cast<int>((smallest + 1) >> fraction_of_key) - bias, false};
  }
  int high = nothing_found, low = -nothing_found;
  bool nonfinite = false;
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const Bits bits = magnitude_bits(x[i]);
    if (bits >= infinity_bits<T>) {
      nonfinite = true;
    } else if (bits != 0) {
      high = max(high, exponent_of<T>(bits));
      low = min(low, exponent_of<T>(bits));
    }
  }
  return {__reduce_max_sync(~0u, high), __reduce_min_sync(~0u, low), __any_sync(~0u, nonfinite) != 0};
}

struct ResidentFindings {
  ExponentRange exponents[convert_vectors];
  std::uint32_t squares_low[convert_vectors], squares_high[convert_vectors];  // sums of the halves of lanes' sums
  std::uint32_t sum[convert_vectors], clipped[3][convert_vectors];
};

// One lane a block of the cluster asks that block; all lanes get the result.
__device__ __forceinline__ ExponentRange cluster_exponents(ResidentFindings& mine, int v, int lane) {
  const cg::cluster_group cluster = cg::this_cluster();
  ExponentRange r{nothing_found, -nothing_found, false};
  if (lane < static_cast<int>(cluster.num_blocks())) r = cluster.map_shared_rank(&mine, lane)->exponents[v];
  return {__reduce_max_sync(~0u, r.largest), __reduce_min_sync(~0u, r.lowest), __any_sync(~0u, r.nonfinite) != 0};
}

// sum v_l^2 of vector v in the whole cluster, in every lane.
__device__ __forceinline__ std::uint64_t cluster_squares(ResidentFindings& mine, int v, int lane) {
  const cg::cluster_group cluster = cg::this_cluster();
  std::uint32_t low = 0, high = 0;
  if (lane < static_cast<int>(cluster.num_blocks())) {
    const ResidentFindings* theirs = cluster.map_shared_rank(&mine, lane);
    low = theirs->squares_low[v];
    high = theirs->squares_high[v];
  }
  return (static_cast<std::uint64_t>(__reduce_add_sync(~0u, high)) << 16) + __reduce_add_sync(~0u, low);
}

// All that is known about vector v, in the one lane that asks.
__device__ inline VectorStatistics cluster_statistics(ResidentFindings& mine, int v, std::int64_t k) {
  const cg::cluster_group cluster = cg::this_cluster();
  ExponentRange range{nothing_found, -nothing_found, false};
  VectorSums sums;
  for (unsigned r = 0; r < cluster.num_blocks(); ++r) {
    const ResidentFindings* theirs = cluster.map_shared_rank(&mine, r);
    const ExponentRange& found = theirs->exponents[v];
    range = {max(range.largest, found.largest), min(range.lowest, found.lowest), range.nonfinite || found.nonfinite};
    sums.squares += (static_cast<std::uint64_t>(theirs->squares_high[v]) << 16) + theirs->squares_low[v];
    sums.sum += theirs->sum[v];
    for (std::size_t i = 0; i < 3; ++i) sums.clipped[i] += theirs->clipped[i][v];
  }
  VectorStatistics st;
  st.nonfinite = range.nonfinite;
  if (range.largest == nothing_found) return st;
  st.exponent = range.largest;
  st.lowest = range.lowest;
  st.squares = sums.squares;
  st.sum = sums.sum;
  st.flatness = shallow_flatness(sums, k);
  return st;
}

template <class T, int Count>
__device__ __forceinline__ void find_warp_sums(const T (&x)[Count], int exponent, ResidentFindings& mine, int v,
                                               int lane) {
  constexpr auto depths = shallow_depths;
  const QuantumScale scale = quantum_scale(exponent);
  std::uint32_t squares = 0, sum = 0, clipped[3] = {};  // squares: at most 32 * 2^24
  static_assert(Count <= 32);
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const std::uint32_t q = quantised_finite(x[i], scale);
    squares += q * q;
    sum += q;
#pragma unroll
    for (int d = 0; d < 3; ++d) clipped[d] += min(q, 1u << (quantum_bits - depths[d]));
  }
  const std::uint32_t low = __reduce_add_sync(~0u, squares & 0xffff), high = __reduce_add_sync(~0u, squares >> 16);
  sum = __reduce_add_sync(~0u, sum);
#pragma unroll
  for (int d = 0; d < 3; ++d) clipped[d] = __reduce_add_sync(~0u, clipped[d]);
  if (lane != 0) return;
  mine.squares_low[v] = low;
  mine.squares_high[v] = high;
  mine.sum[v] = sum;
  for (int d = 0; d < 3; ++d) mine.clipped[d][v] = clipped[d];
}

// ---- reading -------------------------------------------------------------------------------------------------------

// Elements 4 lane .. 4 lane + 3 of each piece, of the warp's vectors; zero where there are none.
template <class T, int Pieces>
__device__ __forceinline__ void read_contiguous(const StripPart<T>& s, int warp, int lane, T (&x)[2][4 * Pieces]) {
  constexpr int together = 16 / sizeof(T);  // elements of a 16-byte load
  const bool aligned = (reinterpret_cast<std::uintptr_t>(s.data) | s.vector_stride * sizeof(T)) % 16 == 0;
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    const int v = warp + convert_warps * g;
    const T* from = s.data + v * s.vector_stride + s.begin + 4 * lane;
#pragma unroll
    for (int p = 0; p < Pieces; ++p) {
      const std::int64_t l = s.begin + p * convert_k + 4 * lane;
      if (aligned && v < s.vectors && l + 3 < s.end) {
#pragma unroll
        for (int i = 0; i < 4 / together; ++i)
          *reinterpret_cast<uint4*>(&x[g][4 * p + i * together]) =
              *reinterpret_cast<const uint4*>(from + p * convert_k + i * together);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) x[g][4 * p + e] = v < s.vectors && l + e < s.end ? from[p * convert_k + e] : T{0};
      }
    }
  }
}

// The same where the elements of one index of k are side by side: all pieces are asked for, then turned one by one.
template <class T, int Pieces>
__device__ __forceinline__ void read_and_turn(const StripPart<T>& s, int warp, int lane,
                                              T (&turned)[convert_vectors][convert_k + 1], T (&x)[2][4 * Pieces]) {
  constexpr int each = convert_vectors * convert_k / convert_threads, step = convert_threads / convert_vectors;
  const int v = threadIdx.x % convert_vectors, first = threadIdx.x / convert_vectors;
  T raw[Pieces][each];
#pragma unroll
  for (int p = 0; p < Pieces; ++p)
#pragma unroll
    for (int c = 0; c < each; ++c) {
      const std::int64_t l = s.begin + p * convert_k + first + c * step;
      raw[p][c] = v < s.vectors && l < s.end ? s.data[v + l * s.k_stride] : T{0};
    }
#pragma unroll
  for (int p = 0; p < Pieces; ++p) {
    if (p > 0) __syncthreads();
#pragma unroll
    for (int c = 0; c < each; ++c) {
      const int l = first + c * step;
      turned[v][l % 4 * 32 + l / 4] = raw[p][c];
    }
    __syncthreads();
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int e = 0; e < 4; ++e) x[g][4 * p + e] = turned[warp + convert_warps * g][lane + 32 * e];
  }
}

// NaN and infinity count as zeros from here on.
template <class T, int Count>
__device__ __forceinline__ void keep_finite(T (&x)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i)
    if (magnitude_bits(x[i]) >= infinity_bits<T>) x[i] = T{0};
}

// ---- writing -------------------------------------------------------------------------------------------------------

// Pieces `piece` and `piece` + 1 of both vectors, 16 elements a lane, so that the constants of a modulus are loaded
// once for all of them. width: bytes of k that belong to the block.
template <class T, int Words, int Pieces>
__device__ __forceinline__ void write_two_pieces(const T (&x)[2][4 * Pieces], int piece, int width,
                                                 const TwoFactors (&scale)[2], const bool (&wanted)[2],
                                                 const DigitReductions<Words>& reductions, int moduli, std::uint8_t* to,
                                                 std::int64_t stride, std::int64_t plane) {
  std::uint32_t words[2][8][Words];
#pragma unroll
  for (int g = 0; g < 2; ++g)
#pragma unroll
    for (int e = 0; e < 8; ++e) scaled_words(static_cast<double>(x[g][4 * piece + e]), scale[g], words[g][e]);
  const bool first = piece * convert_k < width, second = (piece + 1) * convert_k < width;
  std::uint8_t* row[2] = {to + piece * convert_k, to + piece * convert_k + stride};
#pragma unroll 1
  for (int q = 0; q < moduli; ++q) {
    const ByteReduction<Words>& r = reductions.of[q];
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      std::uint32_t b[8];
#pragma unroll
      for (int e = 0; e < 8; ++e) b[e] = residue_byte(words[g][e], r);
      if (wanted[g] && first) *reinterpret_cast<std::uint32_t*>(row[g]) = packed_bytes(b[0], b[1], b[2], b[3]);
      if (wanted[g] && second)
        *reinterpret_cast<std::uint32_t*>(row[g] + convert_k) = packed_bytes(b[4], b[5], b[6], b[7]);
      row[g] += plane;
    }
  }
}

// ---- the kernel ----------------------------------------------------------------------------------------------------

template <class T, int Words, int Pieces>
__global__ void __launch_bounds__(convert_threads, Pieces > 2 ? 3 : 4)
    convert_resident(const __grid_constant__ ConvertTask<T> task,
                     const __grid_constant__ DigitReductions<Words> reductions) {
  __shared__ StripBuffer<T> buffer;
  __shared__ ResidentFindings findings;
  __shared__ StripResult result;
  const cg::cluster_group cluster = cg::this_cluster();
  const ConvertStrip<T> strip(task, cluster);
  const StripPart<T>& part = strip.part;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  wait_for_previous_kernels();
  allow_next_kernel();
  T x[2][4 * Pieces];
  if (part.k_contiguous)
    read_contiguous<T, Pieces>(part, warp, lane, x);
  else
    read_and_turn<T, Pieces>(part, warp, lane, buffer.turned, x);

  const int vector[2] = {warp, warp + convert_warps};
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    const ExponentRange range = warp_exponents(x[g]);
    if (lane == 0) findings.exponents[vector[g]] = range;
    if (range.nonfinite) keep_finite(x[g]);
  }
  cluster.sync();
  ExponentRange range[2];
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    range[g] = cluster_exponents(findings, vector[g], lane);
    find_warp_sums(x[g], range[g].largest == nothing_found ? 0 : range[g].largest, findings, vector[g], lane);
  }
  cluster.sync();
  TwoFactors scale[2];
  bool wanted[2];
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    VectorStatistics st;
    st.exponent = range[g].largest;
    st.lowest = range[g].lowest;
    st.squares = cluster_squares(findings, vector[g], lane);
    const int s = st.squares == 0 ? 0 : task.chooser.ordinary_exponent(st) - st.exponent;
    if (lane == 0) result.scale[vector[g]] = s;
    wanted[g] = vector[g] < part.vectors;
    scale[g] = scale_factors<Words>(s);
  }
  if (strip.operand->planes != nullptr) {
    std::uint8_t* to = strip.operand->planes + (strip.first + warp) * task.pitch + part.begin + 4 * lane;
#pragma unroll
    for (int p = 0; p < Pieces; p += 2)
      write_two_pieces<T, Words, Pieces>(x, p, static_cast<int>(strip.padded_end - part.begin), scale, wanted,
                                         reductions, task.moduli, to, convert_warps * task.pitch,
                                         strip.operand->x.vectors * task.pitch);
  }
  if (strip.rank == 0) {
    result.deep = false;
    __syncthreads();
    if (threadIdx.x < part.vectors) {
      const VectorStatistics st = cluster_statistics(findings, threadIdx.x, strip.operand->x.k);
      if (!st.zero() && st.flatness == not_flat) result.deep = true;
      result.statistics[threadIdx.x] = st;
    }
    __syncthreads();
  }
  cluster.sync();  // nobody asks for the findings any more
  if (strip.rank != 0) return;
  if (result.deep) find_deep_flatness_alone(part, strip.operand->x.k, buffer.depths, result.statistics);
  if (threadIdx.x < 32) publish(task, strip.side, strip.first, part.vectors, result.statistics, result.scale);
}

}  // namespace vernier::cuda
