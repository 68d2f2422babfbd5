// The kernel behind device_convert.hpp.
//
// A cluster of blocks takes a strip of 16 vectors, each block a part of k. Three sweeps over the strip: the largest
// exponents; the sums of quantised elements, which need them; the residues, which need the scales. Between sweeps the
// blocks exchange what they found through distributed shared memory. The second and third sweep find the elements in
// the first- or second-level cache unless k is very long.
//
// Elements of one index of k side by side in memory (rows of a column-major A) are turned in shared memory, so that
// residues leave in runs along k.
#pragma once

#include <cooperative_groups.h>

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "scheme/device_convert.hpp"
#include "scheme/device_digits.hpp"
#include "scheme/flatness.hpp"
#include "scheme/vector_needs.hpp"

namespace vernier::cuda {

inline constexpr int convert_threads = 256, convert_warps = convert_threads / 32;
inline constexpr int convert_vectors = 16;  // of a strip
inline constexpr int convert_k = 128;       // that is turned at a time: 4 elements a lane

template <class T>
struct ConvertTask {
  DeviceOperand<T> operand[2];
  int strips[2];
  std::int64_t pitch;  // of the planes
  std::int64_t chunk;  // elements of k that a block takes, a multiple of convert_k
  bool measure;
  ScaleChooser chooser;
  Regularity regularity;
  int moduli;
};

template <int Words>
struct DigitReductions {
  ByteReduction<Words> of[max_moduli];
};

// ---- what one thread gathers from one vector -----------------------------------------------------------------------

template <class T>
struct Extremes {
  using Bits = typename Ieee754<T>::Bits;
  Bits largest = 0, smallest = std::numeric_limits<Bits>::max();
  int nonfinite = 0;

  __device__ void add(T x) {
    const Bits bits = magnitude_bits(x);
    if (bits >= infinity_bits<T>) {
      nonfinite = 1;
    } else {
      largest = max(largest, bits);
      smallest = min(smallest, bits - 1);  // zeros become the largest number; one is added back at the end
    }
  }
  __device__ void merge(const Extremes& other) {
    largest = max(largest, other.largest);
    smallest = min(smallest, other.smallest);
    nonfinite |= other.nonfinite;
  }
  __device__ Extremes from_lane(int distance) const {
    Extremes other;
    other.largest = __shfl_xor_sync(~0u, largest, distance);
    other.smallest = __shfl_xor_sync(~0u, smallest, distance);
    other.nonfinite = __shfl_xor_sync(~0u, nonfinite, distance);
    return other;
  }
};

struct QuantisedSums {
  unsigned long long squares = 0;
  std::uint32_t sum = 0, clipped[3] = {};

  __device__ void add(std::uint32_t v) {
    constexpr auto depths = shallow_depths;
    squares += static_cast<unsigned long long>(v) * v;
    sum += v;
#pragma unroll
    for (int i = 0; i < 3; ++i) clipped[i] += min(v, 1u << (quantum_bits - depths[i]));
  }
  __device__ void merge(const QuantisedSums& other) {
    squares += other.squares;
    sum += other.sum;
    for (int i = 0; i < 3; ++i) clipped[i] += other.clipped[i];
  }
  __device__ QuantisedSums from_lane(int distance) const {
    QuantisedSums other;
    other.squares = __shfl_xor_sync(~0u, squares, distance);
    other.sum = __shfl_xor_sync(~0u, sum, distance);
    for (int i = 0; i < 3; ++i) other.clipped[i] = __shfl_xor_sync(~0u, clipped[i], distance);
    return other;
  }
};

// ceil(|x| 2^(quantum_bits - exponent)), as vector_statistics has it.
template <class T>
__device__ __forceinline__ std::uint32_t quantised_finite(T x, const QuantumScale& scale) {
  const double y = fabs(static_cast<double>(x)) * scale.first * scale.second;
  return static_cast<std::uint32_t>(__double2loint(__dadd_ru(y, 0x1p52)));
}

// The same, 0 if x is not finite.
template <class T>
__device__ __forceinline__ std::uint32_t quantised(T x, const QuantumScale& scale) {
  return magnitude_bits(x) < infinity_bits<T> ? quantised_finite(x, scale) : 0;
}

// ---- a block's part of a strip -------------------------------------------------------------------------------------

template <class T>
struct StripPart {
  const T* data;  // first vector of the strip, first element of k
  std::int64_t vector_stride, k_stride;
  int vectors;              // that exist, at most 16
  std::int64_t begin, end;  // the block's part of k, cut at k
  bool k_contiguous;
};

// Gathers each vector's elements: add(sums, context, element) with context = context_of(vector). found(vector, sums) is
// called by one thread of each warp that saw the vector.
template <class Sums, class T, class ContextOf, class Add, class Found>
__device__ __forceinline__ void sweep(const StripPart<T>& s, ContextOf context_of, Add add, Found found) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (s.k_contiguous) {
    for (int v = warp; v < s.vectors; v += convert_warps) {
      Sums sums;
      const auto context = context_of(v);
      const T* x = s.data + v * s.vector_stride;
#pragma unroll 8
      for (std::int64_t l = s.begin + lane; l < s.end; l += 32) add(sums, context, x[l]);
#pragma unroll
      for (int d = 16; d > 0; d /= 2) sums.merge(sums.from_lane(d));
      if (lane == 0) found(v, sums);
    }
  } else {
    const int v = threadIdx.x % convert_vectors;
    Sums sums;
    if (v < s.vectors) {
      const auto context = context_of(v);
      const T* x = s.data + v;
#pragma unroll 8
      for (std::int64_t l = s.begin + threadIdx.x / convert_vectors; l < s.end; l += convert_threads / convert_vectors)
        add(sums, context, x[l * s.k_stride]);
    }
    sums.merge(sums.from_lane(16));
    if (lane < 16 && v < s.vectors) found(v, sums);
  }
}

__device__ __forceinline__ std::uint32_t packed_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                      std::uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

// Two vectors, four elements each -> one 4-byte store a vector and modulus. The loop over the moduli is outside, so
// that their constants are loaded once.
template <int Words>
__device__ __forceinline__ void write_residues(const double (&x)[2][4], const TwoFactors (&scale)[2],
                                               const bool (&wanted)[2], const DigitReductions<Words>& reductions,
                                               int moduli, std::uint8_t* to, std::int64_t stride, std::int64_t plane) {
  std::uint32_t words[2][4][Words];
#pragma unroll
  for (int g = 0; g < 2; ++g)
#pragma unroll
    for (int e = 0; e < 4; ++e) scaled_words(x[g][e], scale[g], words[g][e]);
#pragma unroll 1
  for (int q = 0; q < moduli; ++q, to += plane) {
    const ByteReduction<Words>& r = reductions.of[q];
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      std::uint32_t b[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) b[e] = residue_byte(words[g][e], r);
      if (wanted[g]) *reinterpret_cast<std::uint32_t*>(to + g * stride) = packed_bytes(b[0], b[1], b[2], b[3]);
    }
  }
}

template <class T>
__device__ __forceinline__ double finite_or_zero(T x) {
  return magnitude_bits(x) < infinity_bits<T> ? static_cast<double>(x) : 0.0;
}

// Residues of the block's part up to its whole chunk or the pitch, zeros beyond k. planes: of the strip's first vector.
template <class T, int Words>
__device__ __forceinline__ void write_part(const StripPart<T>& s, std::int64_t padded_end, const int* scales,
                                           T (&turned)[convert_vectors][convert_k + 1],
                                           const DigitReductions<Words>& reductions, int moduli, std::uint8_t* planes,
                                           std::int64_t pitch, std::int64_t plane) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  TwoFactors scale[2];
  bool wanted[2];
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    const int v = warp + convert_warps * g;
    wanted[g] = v < s.vectors;
    scale[g] = scale_factors<Words>(wanted[g] ? scales[v] : 0);
  }
  std::uint8_t* to = planes + warp * pitch + 4 * lane;
  constexpr int each = convert_vectors * convert_k / convert_threads;  // elements that a thread turns
  const int turn_v = threadIdx.x % convert_vectors, turn_l = threadIdx.x / convert_vectors;
  T next[each];
  const auto fetch = [&](std::int64_t l0) {
#pragma unroll
    for (int c = 0; c < each; ++c) {
      const std::int64_t l = l0 + turn_l + c * (convert_threads / convert_vectors);
      next[c] = turn_v < s.vectors && l < s.end ? s.data[turn_v + l * s.k_stride] : T{0};
    }
  };
  if (!s.k_contiguous) fetch(s.begin);
  for (std::int64_t l0 = s.begin; l0 < padded_end; l0 += convert_k) {
    double x[2][4];
    if (s.k_contiguous) {
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        const T* from = s.data + (warp + convert_warps * g) * s.vector_stride + l0 + 4 * lane;
#pragma unroll
        for (int e = 0; e < 4; ++e) x[g][e] = wanted[g] && l0 + 4 * lane + e < s.end ? finite_or_zero(from[e]) : 0.0;
      }
    } else {
      __syncthreads();
      // Column l of the piece lies at l % 4 * 32 + l / 4: no bank conflicts in either direction.
#pragma unroll
      for (int c = 0; c < each; ++c) {
        const int l = turn_l + c * (convert_threads / convert_vectors);
        turned[turn_v][l % 4 * 32 + l / 4] = next[c];
      }
      __syncthreads();
      if (l0 + convert_k < padded_end) fetch(l0 + convert_k);
#pragma unroll
      for (int g = 0; g < 2; ++g)
#pragma unroll
        for (int e = 0; e < 4; ++e) x[g][e] = finite_or_zero(turned[warp + convert_warps * g][lane + 32 * e]);
    }
    write_residues<Words>(x, scale, wanted, reductions, moduli, to + l0, convert_warps * pitch, plane);
  }
}

// ---- measuring -----------------------------------------------------------------------------------------------------

namespace cg = cooperative_groups;

// What the blocks of a cluster tell each other about their strip.
struct StripFindings {
  unsigned long long largest[convert_vectors], smallest[convert_vectors];
  int nonfinite[convert_vectors];
  unsigned long long squares[convert_vectors], sum[convert_vectors], clipped[3][convert_vectors];
};

// What every block knows about the strip after the exchanges.
struct StripResult {
  VectorStatistics statistics[convert_vectors];
  int scale[convert_vectors];
  bool deep;  // some vector needs the deeper thresholds of flatness
};

inline constexpr int depth_bins = deep_depths.back() + 1;
using DepthHistograms = std::uint32_t[convert_vectors][depth_bins];

template <class T>
__device__ __forceinline__ void find_extremes(const StripPart<T>& s, StripFindings& mine, StripResult& result) {
  using Bits = typename Ieee754<T>::Bits;
  const cg::cluster_group cluster = cg::this_cluster();
  sweep<Extremes<T>>(
      s, [](int v) { return v; }, [](Extremes<T>& e, int, T x) { e.add(x); },
      [&](int v, const Extremes<T>& e) {
        atomicMax(&mine.largest[v], static_cast<unsigned long long>(e.largest));
        atomicMin(&mine.smallest[v], static_cast<unsigned long long>(e.smallest));
        if (e.nonfinite != 0) atomicOr(&mine.nonfinite[v], 1);
      });
  cluster.sync();
  if (threadIdx.x < convert_vectors) {
    const int v = threadIdx.x;
    unsigned long long largest = 0, smallest = ~0ull;
    int nonfinite = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); ++r) {
      const StripFindings* theirs = cluster.map_shared_rank(&mine, r);
      largest = max(largest, theirs->largest[v]);
      smallest = min(smallest, theirs->smallest[v]);
      nonfinite |= theirs->nonfinite[v];
    }
    VectorStatistics st;
    st.nonfinite = nonfinite != 0;
    if (largest != 0) {
      st.exponent = exponent_of<T>(static_cast<Bits>(largest));
      st.lowest = exponent_of<T>(static_cast<Bits>(smallest + 1));
    }
    result.statistics[v] = st;
  }
  if (threadIdx.x == 0) result.deep = false;
  __syncthreads();
}

template <class T>
__device__ __forceinline__ void find_sums(const StripPart<T>& s, const ConvertTask<T>& task, StripFindings& mine,
                                          StripResult& result) {
  const cg::cluster_group cluster = cg::this_cluster();
  sweep<QuantisedSums>(
      s, [&](int v) { return quantum_scale(result.statistics[v].exponent); },
      [](QuantisedSums& sums, const QuantumScale& scale, T x) { sums.add(quantised(x, scale)); },
      [&](int v, const QuantisedSums& sums) {
        atomicAdd(&mine.squares[v], sums.squares);
        atomicAdd(&mine.sum[v], static_cast<unsigned long long>(sums.sum));
        for (int i = 0; i < 3; ++i) atomicAdd(&mine.clipped[i][v], static_cast<unsigned long long>(sums.clipped[i]));
      });
  cluster.sync();
  if (threadIdx.x < s.vectors) {
    const int v = threadIdx.x;
    VectorSums sums;
    for (unsigned r = 0; r < cluster.num_blocks(); ++r) {
      const StripFindings* theirs = cluster.map_shared_rank(&mine, r);
      sums.squares += theirs->squares[v];
      sums.sum += theirs->sum[v];
      for (std::size_t i = 0; i < 3; ++i) sums.clipped[i] += theirs->clipped[i][v];
    }
    VectorStatistics& st = result.statistics[v];
    st.squares = sums.squares;
    st.sum = sums.sum;
    if (!st.zero()) {
      st.flatness = shallow_flatness(sums, task.operand[0].x.k);
      if (st.flatness == not_flat) result.deep = true;
      result.scale[v] = task.chooser.needs(st).ordinary - st.exponent;
    } else {
      result.scale[v] = 0;
    }
  }
  __syncthreads();
}

struct Nothing {
  __device__ void merge(const Nothing&) {}
  __device__ Nothing from_lane(int) const { return {}; }
};

// How many elements of the block's part have which depth below their vector's maximum.
template <class T>
__device__ void count_depths(const StripPart<T>& s, DepthHistograms& counts, const VectorStatistics* statistics) {
  for (int i = threadIdx.x; i < convert_vectors * depth_bins; i += convert_threads) counts[0][i] = 0;
  __syncthreads();
  sweep<Nothing>(
      s, [](int v) { return v; },
      [&](Nothing&, int v, T x) {
        const auto bits = magnitude_bits(x);
        if (bits == 0 || bits >= infinity_bits<T>) return;
        const int depth = statistics[v].exponent - exponent_of<T>(bits);
        if (depth < depth_bins) atomicAdd(&counts[v][depth], 1u);
      },
      [](int, const Nothing&) {});
  __syncthreads();
}

template <class T>
__device__ void set_deep_flatness(const StripPart<T>& s, std::int64_t k, const DepthHistograms& counts,
                                  VectorStatistics* statistics) {
  if (threadIdx.x < s.vectors) {
    VectorStatistics& st = statistics[threadIdx.x];
    if (!st.zero() && st.flatness == not_flat) st.flatness = deep_flatness_of(counts[threadIdx.x], k);
  }
  __syncthreads();
}

// The deeper thresholds, for the vectors that need them, by all blocks of a cluster; the first one has the result.
template <class T>
__device__ void find_deep_flatness(const StripPart<T>& s, std::int64_t k, DepthHistograms& mine,
                                   VectorStatistics* statistics) {
  const cg::cluster_group cluster = cg::this_cluster();
  count_depths(s, mine, statistics);
  cluster.sync();
  if (cluster.block_rank() == 0) {
    for (int i = threadIdx.x; i < convert_vectors * depth_bins; i += convert_threads)
      for (unsigned r = 1; r < cluster.num_blocks(); ++r) mine[0][i] += cluster.map_shared_rank(&mine[0][0], r)[i];
    __syncthreads();
    set_deep_flatness(s, k, mine, statistics);
  }
  cluster.sync();
}

// By one block, which reads the whole strip again.
template <class T>
__device__ void find_deep_flatness_alone(StripPart<T> s, std::int64_t k, DepthHistograms& counts,
                                         VectorStatistics* statistics) {
  s.begin = 0;
  s.end = k;
  count_depths(s, counts, statistics);
  set_deep_flatness(s, k, counts, statistics);
}

// The first warp of the first block of a cluster: results to memory, and the strip's share in what is known about the
// product. The last strip of all says whether the product is regular.
template <class T>
__device__ void publish(const ConvertTask<T>& task, int side, std::int64_t first, int vectors,
                        const VectorStatistics* statistics, const int* scales) {
  const int v = threadIdx.x;
  int allowance = RegularityState::most_allowance, roughness = 0, not_own = 0, nonfinite = 0;
  if (v < vectors) {
    const VectorStatistics& st = statistics[v];
    task.operand[side].statistics[first + v] = st;
    task.operand[side].scales[first + v] = scales[v];
    nonfinite = st.nonfinite ? 1 : 0;
    if (!st.zero()) {
      const VectorNeeds need = task.chooser.needs(st);
      allowance = task.chooser.flat_allowance_2(need);
      roughness = need.roughness_2;
      not_own = task.chooser.proved_by_own_span(need) ? 0 : 1;
    }
  }
  if (task.regularity.state == nullptr) return;
  allowance = __reduce_min_sync(~0u, allowance);
  roughness = __reduce_max_sync(~0u, roughness);
  not_own = __reduce_or_sync(~0u, not_own);
  nonfinite = __reduce_or_sync(~0u, nonfinite);
  if (v != 0) return;
  RegularityState& all = *task.regularity.state;
  atomicMin(&all.least_allowance[side], allowance);
  atomicMax(&all.roughness[side], roughness);
  if (not_own != 0) atomicOr(&all.some_not_own[side], 1);
  if (nonfinite != 0) atomicOr(&all.nonfinite, 1);
  __threadfence();
  if (atomicAdd(&all.strips_done, 1u) + 1 != static_cast<unsigned>(task.strips[0] + task.strips[1])) return;
  __threadfence();
  volatile RegularityState& found = all;
  const bool flat = found.least_allowance[0] >= found.roughness[1] && found.least_allowance[1] >= found.roughness[0];
  const bool own = found.some_not_own[0] == 0 && found.some_not_own[1] == 0;
  const bool regular = found.nonfinite == 0 && (!task.chooser.rule().componentwise || flat || own);
  *task.regularity.hold = regular ? 0 : 1;
  all = RegularityState::reset();
  __threadfence_system();
  *static_cast<volatile unsigned*>(task.regularity.host) = regular ? Regularity::regular : Regularity::irregular;
}

// ---- the kernel ----------------------------------------------------------------------------------------------------

template <class T>
union StripBuffer {
  T turned[convert_vectors][convert_k + 1];
  DepthHistograms depths;
};

// Which strip a cluster has, and which part of it a block.
template <class T>
struct ConvertStrip {
  const DeviceOperand<T>* operand;
  int side, rank;
  std::int64_t first;       // vector of the operand
  std::int64_t padded_end;  // of the block's part in the planes
  StripPart<T> part;

  __device__ ConvertStrip(const ConvertTask<T>& task, const cg::cluster_group& cluster) {
    const int strip = static_cast<int>(blockIdx.x / cluster.num_blocks());
    side = strip < task.strips[0] ? 0 : 1;
    rank = static_cast<int>(cluster.block_rank());
    operand = &task.operand[side];
    first = static_cast<std::int64_t>(strip - (side == 0 ? 0 : task.strips[0])) * convert_vectors;
    const Operand<T>& x = operand->x;
    const std::int64_t begin = rank * task.chunk;
    padded_end = min(begin + task.chunk, task.pitch);
    part = {.data = x.at(first, 0),
            .vector_stride = x.vector_stride(),
            .k_stride = x.k_stride(),
            .vectors = static_cast<int>(min(static_cast<std::int64_t>(convert_vectors), x.vectors - first)),
            .begin = begin,
            .end = min(begin + task.chunk, x.k),
            .k_contiguous = x.k_contiguous};
  }
};

template <class T, int Words>
__global__ void __launch_bounds__(convert_threads, 3)
    convert_operands(const __grid_constant__ ConvertTask<T> task,
                     const __grid_constant__ DigitReductions<Words> reductions) {
  __shared__ StripBuffer<T> buffer;
  __shared__ StripFindings findings;
  __shared__ StripResult result;
  const cg::cluster_group cluster = cg::this_cluster();
  const ConvertStrip<T> strip(task, cluster);
  const StripPart<T>& part = strip.part;
  const Operand<T>& x = strip.operand->x;
  if (threadIdx.x < convert_vectors) {
    const int v = threadIdx.x;
    findings.largest[v] = findings.squares[v] = findings.sum[v] = 0;
    findings.clipped[0][v] = findings.clipped[1][v] = findings.clipped[2][v] = 0;
    findings.smallest[v] = ~0ull;
    findings.nonfinite[v] = 0;
  }
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.measure) {
    __syncthreads();
    find_extremes(part, findings, result);
    find_sums(part, task, findings, result);
    cluster.sync();  // nobody asks for the findings any more
    if (result.deep) find_deep_flatness(part, x.k, buffer.depths, result.statistics);
    if (strip.rank == 0 && threadIdx.x < 32)
      publish(task, strip.side, strip.first, part.vectors, result.statistics, result.scale);
  }
  if (strip.operand->planes == nullptr) return;
  write_part<T, Words>(part, strip.padded_end, task.measure ? result.scale : strip.operand->scales + strip.first,
                       buffer.turned, reductions, task.moduli, strip.operand->planes + strip.first * task.pitch,
                       task.pitch, x.vectors * task.pitch);
}

}  // namespace vernier::cuda
