// The conversion kernel for any k and any scales.
//
// A cluster of blocks takes a strip of 16 vectors, each block a part of k. Three sweeps over the strip: the largest
// exponents; the sums of quantised elements, which need them; the residues, which need the scales. Between sweeps the
// blocks exchange what they found through distributed shared memory. The second and third sweep find the elements in
// the first- or second-level cache unless k is very long. Without clusters one block measures a strip, and residues are
// a launch of their own, in which every block has a part of k.
//
// Elements of one index of k side by side in memory (rows of a column-major A) are turned in shared memory, so that
// residues leave in runs along k.
#pragma once

#include "residue/convert/strip.cuh"

namespace vernier::cuda {

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

// Of one vector, by the 16 or 32 threads that have it: what each sums fits 32 bits.
inline constexpr std::int64_t longest_summed = std::int64_t{16} << (31 - quantum_bits);

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

// ---- writing -------------------------------------------------------------------------------------------------------

// Four elements a lane of two vectors, as words.
template <int Words>
__device__ __forceinline__ void take_words(const double (&x)[2][4], const TwoFactors (&scale)[2],
                                           std::uint32_t (&words)[2][4][Words]) {
#pragma unroll
  for (int g = 0; g < 2; ++g)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      scaled_words(x[g][e], scale[g], words[g][e]);
      keep_words<Words>(words[g][e]);
    }
}

// Residues of the block's part up to its whole chunk or the pitch, zeros beyond k.
template <class T, int Words>
__device__ __forceinline__ void write_part(const ConvertStrip<T>& strip, const ConvertTask<T>& task, const int* scales,
                                           T (&turned)[convert_vectors][convert_k + 1],
                                           const ReductionTable<Words>& table) {
  const StripPart<T>& s = strip.part;
  const std::int64_t padded_end = strip.padded_end, pitch = task.pitch;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, chunk = chunk_of_lane(lane);
  TwoFactors scale[2];
  bool wanted[2];
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    const int v = warp + convert_warps * g;
    wanted[g] = v < s.vectors;
    scale[g] = scale_factors<Words>(wanted[g] ? scales[v] : 0);
  }
  std::uint8_t* to =
      strip.operand->planes + (strip.first + warp) * pitch + fragment_modulus(lane) * strip.plane + fragment_byte(lane);
  // The next piece is on its way while this one is converted: as the lane wants it, or to be turned.
  constexpr int each = convert_vectors * convert_k / convert_threads;
  constexpr int together = 16 / sizeof(T);  // elements of a 16-byte load
  static_assert(each == 8);
  const int turn_v = threadIdx.x % convert_vectors, turn_l = threadIdx.x / convert_vectors;
  const bool aligned = (reinterpret_cast<std::uintptr_t>(s.data) | s.vector_stride * sizeof(T)) % 16 == 0;
  T next[each];
  const auto fetch = [&](std::int64_t l0) {
    if (s.k_contiguous) {
      const std::int64_t l = l0 + 4 * chunk;
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        const T* from = s.data + (warp + convert_warps * g) * s.vector_stride + l;
        if (aligned && wanted[g] && l + 3 < s.end) {
#pragma unroll
          for (int i = 0; i < 4 / together; ++i)
            *reinterpret_cast<uint4*>(&next[4 * g + i * together]) =
                *reinterpret_cast<const uint4*>(from + i * together);
        } else {
#pragma unroll
          for (int e = 0; e < 4; ++e) next[4 * g + e] = wanted[g] && l + e < s.end ? from[e] : T{0};
        }
      }
    } else {
#pragma unroll
      for (int c = 0; c < each; ++c) {
        const std::int64_t l = l0 + turn_l + c * (convert_threads / convert_vectors);
        next[c] = turn_v < s.vectors && l < s.end ? s.data[turn_v + l * s.k_stride] : T{0};
      }
    }
  };
  fetch(s.begin);
  for (std::int64_t l0 = s.begin; l0 < padded_end; l0 += convert_k) {
    double x[2][4];
    if (s.k_contiguous) {
#pragma unroll
      for (int i = 0; i < each; ++i) x[i / 4][i % 4] = finite_or_zero(next[i]);
    } else {
      __syncthreads();
      // Column l of the piece lies at l % 4 * 32 + l / 4: no bank conflicts in either direction.
#pragma unroll
      for (int c = 0; c < each; ++c) {
        const int l = turn_l + c * (convert_threads / convert_vectors);
        turned[turn_v][l % 4 * 32 + l / 4] = next[c];
      }
      __syncthreads();
#pragma unroll
      for (int g = 0; g < 2; ++g)
#pragma unroll
        for (int e = 0; e < 4; ++e) x[g][e] = finite_or_zero(turned[warp + convert_warps * g][chunk + 32 * e]);
    }
    if (l0 + convert_k < padded_end) fetch(l0 + convert_k);
    std::uint32_t words[2][4][Words];
    take_words<Words>(x, scale, words);
    write_words_of_two<Words>(words, wanted, table, task.moduli, to + l0, convert_warps * pitch, strip.plane, lane);
  }
}

// ---- measuring -----------------------------------------------------------------------------------------------------

// What blocks tell each other about their strip.
struct StripFindings {
  unsigned long long largest[convert_vectors], smallest[convert_vectors];
  int nonfinite[convert_vectors];
  unsigned long long squares[convert_vectors], sum[convert_vectors], clipped[3][convert_vectors];
};

template <class T, class Blocks>
__device__ __forceinline__ void find_extremes(const StripPart<T>& s, StripFindings& mine, StripResult& result,
                                              const Blocks& blocks) {
  using Bits = typename Ieee754<T>::Bits;
  sweep<Extremes<T>>(
      s, [](int v) { return v; }, [](Extremes<T>& e, int, T x) { e.add(x); },
      [&](int v, const Extremes<T>& e) {
        atomicMax(&mine.largest[v], static_cast<unsigned long long>(e.largest));
        atomicMin(&mine.smallest[v], static_cast<unsigned long long>(e.smallest));
        if (e.nonfinite != 0) atomicOr(&mine.nonfinite[v], 1);
      });
  blocks.sync();
  if (threadIdx.x < convert_vectors) {
    const int v = threadIdx.x;
    unsigned long long largest = 0, smallest = ~0ull;
    int nonfinite = 0;
    for (unsigned r = 0; r < blocks.num_blocks(); ++r) {
      const StripFindings* theirs = blocks.map_shared_rank(&mine, r);
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

template <class T, class Blocks>
__device__ __forceinline__ void find_sums(const StripPart<T>& s, const ConvertTask<T>& task, int side,
                                          StripFindings& mine, StripResult& result, const Blocks& blocks) {
  StripPart<T> piece = s;
  for (; piece.begin < s.end; piece.begin = piece.end) {
    piece.end = min(s.end, piece.begin + longest_summed);
    sweep<QuantisedSums>(
        piece, [&](int v) { return quantum_scale(result.statistics[v].exponent); },
        [](QuantisedSums& sums, const TwoFactors& scale, T x) { sums.add(quantised(x, scale)); },
        [&](int v, const QuantisedSums& sums) {
          atomicAdd(&mine.squares[v], sums.squares);
          atomicAdd(&mine.sum[v], static_cast<unsigned long long>(sums.sum));
          for (int i = 0; i < 3; ++i) atomicAdd(&mine.clipped[i][v], static_cast<unsigned long long>(sums.clipped[i]));
        });
  }
  blocks.sync();
  if (threadIdx.x < s.vectors) {
    const int v = threadIdx.x;
    VectorSums sums;
    for (unsigned r = 0; r < blocks.num_blocks(); ++r) {
      const StripFindings* theirs = blocks.map_shared_rank(&mine, r);
      sums.squares += theirs->squares[v];
      sums.sum += theirs->sum[v];
      for (std::size_t i = 0; i < 3; ++i) sums.clipped[i] += theirs->clipped[i][v];
    }
    VectorStatistics& st = result.statistics[v];
    st.squares = sums.squares;
    st.sum = sums.sum;
    if (!st.zero()) {
      st.flatness = shallow_flatness(sums, task.operand[0].x.k);
      if (task.deep && st.flatness == not_flat) result.deep = true;
      result.scale[v] = task.chooser[side].ordinary_exponent(st) - st.exponent;
    } else {
      result.scale[v] = 0;
    }
  }
  __syncthreads();
}

// ---- the kernel ----------------------------------------------------------------------------------------------------

template <class T, int Words, class Blocks>
__global__ void __launch_bounds__(convert_threads, 3)
    convert_operands(const __grid_constant__ ConvertTask<T> task,
                     const __grid_constant__ DigitReductions<Words> reductions) {
  __shared__ StripBuffer<T> buffer;
  __shared__ StripFindings findings;
  __shared__ StripResult result;
  __shared__ ReductionTable<Words> table;
  const auto blocks = Blocks::here();
  const ConvertStrip<T> strip(task);
  const StripPart<T>& part = strip.part;
  const Operand<T>& x = strip.operand->x;
  if (threadIdx.x < convert_vectors) {
    const int v = threadIdx.x;
    findings.largest[v] = findings.squares[v] = findings.sum[v] = 0;
    findings.clipped[0][v] = findings.clipped[1][v] = findings.clipped[2][v] = 0;
    findings.smallest[v] = ~0ull;
    findings.nonfinite[v] = 0;
  }
  store_reductions<Words>(table, reductions, task.moduli);
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed()) return;
  __syncthreads();
  if (task.measure) {
    find_extremes(part, findings, result, blocks);
    find_sums(part, task, strip.side, findings, result, blocks);
    blocks.sync();  // nobody asks for the findings any more
    if (result.deep) find_deep_flatness(part, x.k, buffer.depths, result.statistics, blocks);
    if (strip.rank == 0 && threadIdx.x < 32)
      publish(task, strip.side, strip.first, part.vectors, result.statistics, result.scale);
  }
  if (strip.operand->planes == nullptr) return;
  write_part<T, Words>(strip, task, task.measure ? result.scale : strip.operand->scales + strip.first, buffer.turned,
                       table);
}

}  // namespace vernier::cuda
