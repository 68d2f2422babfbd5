// The kernel that makes the sums of quarters. As in residue_fragments.hpp, one instruction multiplies 16 rows of
// weights by the bytes of 32 elements. Here the four lanes that share a column bring the same place of the four
// quarters, and a row of weights belongs to one modulus and one sum: the tensor unit adds, and what is left is one
// reduction modulo p for each byte that is written.
#pragma once

#include <algorithm>
#include <type_traits>

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "product/plan/gpu_model.hpp"
#include "residue/bound/balance.hpp"
#include "residue/convert/residues.cuh"
#include "residue/convert/winograd_cuda.hpp"

namespace vernier::cuda {

inline constexpr int quarter_threads = 256, quarter_warps = quarter_threads / 32;
inline constexpr int quarter_vectors = quarter_warps;  // of the first half, one a warp
inline constexpr int span_k = 64, spans = 2;           // of the first half: 8 elements a lane
inline constexpr int quarter_k = spans * span_k;       // that leave as one line of 128 bytes a row
inline constexpr int quarter_rows = 16;                // of weights in one instruction
// Behind a gate blocks take turns, since a closed launch costs the start of its blocks.
inline constexpr int quarter_blocks_in_turns = 4 * h200_multiprocessors;
inline constexpr int quarter_steps = (winograd_products * most_winograd_moduli + quarter_rows - 1) / quarter_rows;

template <int Words>
struct QuarterReductions {
  std::uint32_t weights[most_winograd_moduli][Words];
  std::int32_t start[most_winograd_moduli][3];  // by winograd_net
  float inverse[most_winograd_moduli], bias[most_winograd_moduli];
  std::int32_t minus_modulus[most_winograd_moduli];
  std::int8_t signs[2][winograd_products][quarters];  // of both operands
};

template <class T>
struct WinogradTask {
  DeviceOperand<T> operand[2];
  std::int64_t half[2];  // vectors of the first half
  int strips[2];         // of quarter_vectors
  std::int64_t half_k;   // also the pitch of the planes
  std::int64_t chunk;    // of half_k that a block takes
  int chunks;
  int blocks;
  int moduli;
  Gate gate;
};

// What the lanes load, for one operand.
template <int Words>
struct QuarterTable {
  struct Finish {
    float inverse, bias;
    std::int32_t minus_modulus, unused;
  };
  uint4 weights[quarter_steps][32];
  uint2 third[Words == 3 ? quarter_steps : 1][32];  // weights of third words
  // Of rows g, g, g + 8, g + 8; where third words are left out, as all are zero, and where they count.
  int4 start[Words - 1][quarter_steps][8];
  Finish finish[quarter_steps][quarter_rows];
};

struct QuarterRow {
  int modulus, product;
  bool exists;

  __device__ QuarterRow(int row, int moduli)
      : modulus(row / winograd_products), product(row % winograd_products), exists(row < moduli * winograd_products) {}
};

template <int Words>
__device__ inline std::uint32_t signed_weights(const QuarterReductions<Words>& r, const QuarterRow& row, int side,
                                               int quarter, int word) {
  if (!row.exists) return 0;
  const int sign = r.signs[side][row.product][quarter];
  const std::uint32_t weights = r.weights[row.modulus][word];
  return sign == 0 ? 0 : sign > 0 ? weights : __vsub4(0, weights);
}

template <int Words>
__device__ inline void fill_table(QuarterTable<Words>& table, const QuarterReductions<Words>& r, int side, int moduli) {
  for (int i = threadIdx.x; i < quarter_steps * 32; i += quarter_threads) {
    const int step = i / 32, g = i % 32 / 4, c = i % 4;
    const QuarterRow lower(quarter_rows * step + g, moduli), upper(quarter_rows * step + g + 8, moduli);
    table.weights[step][i % 32] =
        make_uint4(signed_weights(r, lower, side, c, 0), signed_weights(r, upper, side, c, 0),
                   signed_weights(r, lower, side, c, 1), signed_weights(r, upper, side, c, 1));
    if constexpr (Words == 3)
      table.third[step][i % 32] =
          make_uint2(signed_weights(r, lower, side, c, 2), signed_weights(r, upper, side, c, 2));
  }
  const auto start = [&](const QuarterRow& row, bool third) {
    if (!row.exists) return 0;
    const auto& signs = r.signs[side][row.product];
    const int net = signs[0] + signs[1] + signs[2] + signs[3], all = r.start[row.modulus][net];
    return Words == 3 && !third ? all + net * dot_bytes(0x80000000u, r.weights[row.modulus][Words - 1], 0) : all;
  };
  for (int i = threadIdx.x; i < quarter_steps * quarter_rows; i += quarter_threads) {
    const int step = i / quarter_rows, g = i % quarter_rows;
    const QuarterRow row(i, moduli);
    const int q = row.exists ? row.modulus : 0;
    table.finish[step][g] = {r.inverse[q], r.bias[q], r.minus_modulus[q], 0};
    if (g >= 8) continue;
    for (int third = 0; third < Words - 1; ++third) {
      const int lower = start(row, third != 0), upper = start(QuarterRow(i + 8, moduli), third != 0);
      table.start[third][step][g] = make_int4(lower, lower, upper, upper);
    }
  }
}

// ---- reading -------------------------------------------------------------------------------------------------------

// Elements of a strip of vectors and both halves of k, in 8 bytes each; later their words. Neither copies, along k or
// across vectors, nor the lanes that read meet bank conflicts. A lane's eight elements of a span are constants apart.
struct QuarterStrip {
  static constexpr int span = 76, quarter = spans * span + 4, vector = quarters * quarter + 1;
  std::uint64_t slot[quarter_vectors * vector];

  static constexpr int offset(int t) { return 8 * t + t / 2 * 2; }  // of element t of a lane
  __device__ std::uint64_t* at(int v, int c, int k) {
    return &slot[v * vector + c * quarter + k / span_k * span + offset(k % 8) + k % span_k / 8];
  }
  __device__ std::uint64_t* of_lane(int v, int s, int lane) {
    return &slot[v * vector + lane % 4 * quarter + s * span + lane / 4];
  }
};

// A third word has a place of its own.
struct ThreeWordQuarters : QuarterStrip {
  std::uint32_t leading[quarter_vectors * vector];
};
template <int Words>
using QuarterWords = std::conditional_t<Words == 3, ThreeWordQuarters, QuarterStrip>;

// Vectors first .. of the first half and those as far into the second, elements l0 .. of both halves of k. A thread has
// one vector of each half and every 32nd element of k.
template <class T>
__device__ __forceinline__ void fetch_quarters(const Operand<T>& x, std::int64_t first, std::int64_t half,
                                               std::int64_t l0, std::int64_t half_k, QuarterStrip& strip) {
  constexpr int step = quarter_threads / quarter_vectors;
  static_assert(step == 32 && span_k == 2 * step);
  const int slow = threadIdx.x / 32, fast = threadIdx.x % 32;
  const int v = x.k_contiguous ? slow : fast % quarter_vectors;
  const int place = x.k_contiguous ? fast : fast / quarter_vectors + 4 * slow;
  const std::int64_t vector = first + v, l = l0 + place;
  const T* from = x.data + vector * x.vector_stride() + l * x.k_stride();
  const std::int64_t next_vector = half * x.vector_stride(), next_half = half_k * x.k_stride();
  std::uint64_t* to = strip.at(v, 0, place);
  const auto place_of = [&](int c, int i) {  // at(v, c, place + step i)
    return to + c * QuarterStrip::quarter + i / 2 * QuarterStrip::span + i % 2 * (step / 8);
  };
  if (first + half + quarter_vectors <= x.vectors && l0 + half_k + quarter_k <= x.k) {
#pragma unroll
    for (int c = 0; c < quarters; ++c) {
      const T* part = from + (c / 2 != 0 ? next_vector : 0) + (c % 2 != 0 ? next_half : 0);
#pragma unroll
      for (int i = 0; i < quarter_k / step; ++i, part += step * x.k_stride())
        copy_async_ahead(place_of(c, i), part, true);
    }
    return;
  }
#pragma unroll 1
  for (int c = 0; c < quarters; ++c)
#pragma unroll
    for (int i = 0; i < quarter_k / step; ++i) {
      const bool exists = vector + c / 2 * half < x.vectors && l + c % 2 * half_k + i * step < x.k;
      copy_async_ahead(place_of(c, i),
                       exists ? from + c / 2 * next_vector + c % 2 * next_half + i * step * x.k_stride() : x.data,
                       exists);
    }
}

// A thread has all vectors' elements of one k.
template <class T>
__device__ __forceinline__ void balance_quarters(const Operand<T>& x, std::int64_t l0, std::int64_t half_k,
                                                 QuarterStrip& strip) {
  static_assert(quarter_threads == 2 * quarter_k);
  const int half = threadIdx.x / quarter_k, place = threadIdx.x % quarter_k;
  const std::int64_t l = l0 + half * half_k + place;
  const double factor = l < x.k ? balance_factor(x.balance_sign * x.balance[l]) : 0;
#pragma unroll
  for (int v = 0; v < quarter_vectors; ++v)
#pragma unroll
    for (int c = half; c < quarters; c += 2) {
      T& e = *reinterpret_cast<T*>(strip.at(v, c, place));
      e = static_cast<T>(balanced_element(static_cast<double>(e), factor));
    }
  __syncthreads();
}

// The lane's eight elements of a span of vector v become words. Not 0: some third word is not zero.
template <class T, int Words>
__device__ __forceinline__ std::uint32_t scale_winograd(QuarterWords<Words>& strip, int v, int s, int lane,
                                                        const TwoFactors& scale) {
  std::uint32_t third = 0;
#pragma unroll
  for (int t = 0; t < 8; ++t) {
    std::uint64_t* slot = strip.of_lane(v, s, lane) + QuarterStrip::offset(t);
    const T x = *reinterpret_cast<const T*>(slot);
    std::uint32_t words[Words];
    scaled_words(magnitude_bits(x) < infinity_bits<T> ? static_cast<double>(x) : 0.0, scale, words);
    third |= third_word(words);
    *reinterpret_cast<uint2*>(slot) = make_uint2(words[0], words[1]);
    if constexpr (Words == 3) strip.leading[slot - strip.slot] = words[2];
  }
  return third;
}

// ---- writing -------------------------------------------------------------------------------------------------------

// A lane's eight elements of a span -> 16 residues for each of two rows of a step. leading: their third words, if these
// count.
template <bool Third>
__device__ __forceinline__ void sum_winograd(const std::uint64_t* mine, const std::uint32_t* leading,
                                             const std::uint32_t (&weights)[4], const std::uint32_t (&third)[2],
                                             const int (&start)[4], const ByteReduction<1> (&r)[2],
                                             std::uint32_t (&out)[2][4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    std::uint32_t pairs[2][4];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      int sum[2][4];
#pragma unroll
      for (int t = 0; t < 2; ++t) {
        const int at = QuarterStrip::offset(4 * half + 2 * h + t);
        const std::uint64_t words = mine[at];
        mma_bytes(sum[t], weights, static_cast<std::uint32_t>(words), static_cast<std::uint32_t>(words >> 32), start);
        if constexpr (Third) mma_bytes(sum[t], third, leading[at], sum[t]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
        pairs[h][i] = __byte_perm(remainder_byte(sum[0][i], r[i / 2]), remainder_byte(sum[1][i], r[i / 2]), 0x0040);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) out[i / 2][i % 2 * 2 + half] = __byte_perm(pairs[0][i], pairs[1][i], 0x5410);
  }
}

// to: of the lane, in row 0 of the warp's vector. Third: third words count.
template <bool Third, int Words>
__device__ __forceinline__ void write_winograd(QuarterWords<Words>& strip, const QuarterTable<Words>& table, int rows,
                                               std::uint8_t* to, std::int64_t plane, int warp, int lane) {
  const int g = lane / 4;
#pragma unroll 1
  for (int step = 0; step * quarter_rows < rows; ++step) {
    __syncwarp();  // or the compiler reads all words before the loop, where it has no registers for them
    const uint4 w = table.weights[step][lane];
    const int4 s = table.start[Third ? 1 : 0][step][g];
    const uint2 t = table.third[Third ? step : 0][lane];
    const std::uint32_t weights[4] = {w.x, w.y, w.z, w.w};
    const std::uint32_t third[2] = {t.x, t.y};
    const int start[4] = {s.x, s.y, s.z, s.w};
    const typename QuarterTable<Words>::Finish finish[2] = {table.finish[step][g], table.finish[step][g + 8]};
    ByteReduction<1> r[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) r[i] = {{0}, 0, finish[i].inverse, finish[i].bias, finish[i].minus_modulus};
#pragma unroll
    for (int span = 0; span < spans; ++span) {
      std::uint32_t out[2][4];
      const std::uint64_t* mine = strip.of_lane(warp, span, lane);
      const std::uint32_t* leading = nullptr;
      if constexpr (Third) leading = strip.leading + (mine - strip.slot);
      sum_winograd<Third>(mine, leading, weights, third, start, r, out);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int row = step * quarter_rows + g + 8 * i;
        if (row < rows)
          *reinterpret_cast<uint4*>(to + row * plane + span * span_k) =
              make_uint4(out[i][0], out[i][1], out[i][2], out[i][3]);
      }
    }
  }
}

template <int Words>
struct QuarterShared {
  QuarterWords<Words> strip;
  QuarterTable<Words> table;
};

// A block's part of a strip.
template <class T, int Words>
__device__ __forceinline__ void convert_quarters(const WinogradTask<T>& task, QuarterShared<Words>& shared, int side,
                                                 int block) {
  QuarterWords<Words>& strip = shared.strip;
  const QuarterTable<Words>& table = shared.table;
  const DeviceOperand<T>& operand = task.operand[side];
  const int strip_of_all = block / task.chunks, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int64_t begin = (block - strip_of_all * task.chunks) * task.chunk,
                     end = min(begin + task.chunk, task.half_k);
  const std::int64_t first =
      static_cast<std::int64_t>(strip_of_all - (side == 0 ? 0 : task.strips[0])) * quarter_vectors;
  const std::int64_t vector = first + warp + lane % 4 / 2 * task.half[side];
  const TwoFactors scale = scale_factors<Words>(vector < operand.x.vectors ? operand.scales[vector] : 0);
  std::uint8_t* to = operand.planes + (first + warp) * task.half_k + 16 * (lane % 4);
  for (std::int64_t l0 = begin; l0 < end; l0 += quarter_k) {
    __syncthreads();  // the table is there, or all have read the strip
    fetch_quarters(operand.x, first, task.half[side], l0, task.half_k, strip);
    wait_for_copies();
    __syncthreads();
    if (std::is_same_v<T, double> && operand.x.balance != nullptr) balance_quarters(operand.x, l0, task.half_k, strip);
    std::uint32_t third = 0;
#pragma unroll
    for (int s = 0; s < spans; ++s) third |= scale_winograd<T, Words>(strip, warp, s, lane, scale);
    const int rows = task.moduli * winograd_products;
    const std::int64_t plane = task.half[side] * task.half_k;
    if (Words == 3 && __reduce_max_sync(~0u, third) != 0)
      write_winograd<Words == 3, Words>(strip, table, rows, to + l0, plane, warp, lane);
    else
      write_winograd<false, Words>(strip, table, rows, to + l0, plane, warp, lane);
  }
}

// InTurns: the launch has fewer blocks than there are parts. A loop costs registers, so there is a kernel without.
template <class T, int Words, bool InTurns>
__global__ void __launch_bounds__(quarter_threads, Words == 3 ? 3 : 4)
    convert_winograd(const __grid_constant__ WinogradTask<T> task,
                     const __grid_constant__ QuarterReductions<Words> reductions) {
  auto& shared = dynamic_shared<QuarterShared<Words>>();
  const auto side_of = [&](int block) { return block / task.chunks < task.strips[0] ? 0 : 1; };
  int block = static_cast<int>(blockIdx.x), side = side_of(block);
  if (!InTurns) fill_table(shared.table, reductions, side, task.moduli);
  wait_for_previous_kernels();
  allow_next_kernel();
  if (task.gate.closed()) return;
  if constexpr (!InTurns) {
    convert_quarters<T, Words>(task, shared, side, block);
  } else {
    fill_table(shared.table, reductions, side, task.moduli);
#pragma unroll 1
    for (; block < task.blocks; block += static_cast<int>(gridDim.x)) {
      if (side_of(block) != side) {
        side = 1 - side;
        __syncthreads();  // all have read the other table
        fill_table(shared.table, reductions, side, task.moduli);
      }
      convert_quarters<T, Words>(task, shared, side, block);
    }
  }
}

// ---- host side -----------------------------------------------------------------------------------------------------

template <int Words>
QuarterReductions<Words> quarter_reductions(int moduli_count, ByteForm form) {
  QuarterReductions<Words> r{};
  for (int q = 0; q < moduli_count; ++q) {
    for (int net = 0; net < 3; ++net) {
      const ByteReduction<Words> one = digit_reduction<Words>(moduli[static_cast<std::size_t>(q)], form, quarters, net);
      r.start[q][net] = one.start;
      std::copy_n(one.weights, Words, r.weights[q]);
      r.inverse[q] = one.inverse;
      r.bias[q] = one.bias;
      r.minus_modulus[q] = one.minus_modulus;
    }
  }
  for (int s = 0; s < winograd_products; ++s)
    for (int c = 0; c < quarters; ++c) {
      r.signs[0][s][c] = winograd_a[s][c];
      r.signs[1][s][c] = winograd_b[s][c];
    }
  return r;
}

template <class T, int Words>
void launch_winograd(const DeviceOperand<T>& a, const DeviceOperand<T>& b, const ConversionForm& form,
                     cudaStream_t stream, const Gate& gate = {}) {
  constexpr std::int64_t least_chunk = 1024;  // filling a table takes as long as converting 64 of k
  const std::int64_t half_k = half_depth(a.x.k), chunk = std::min(least_chunk, half_k);
  WinogradTask<T> task{.operand = {a, b},
                       .half = {a.x.vectors > 0 ? half_vectors(a.x.vectors) : 0, half_vectors(b.x.vectors)},
                       .strips = {},
                       .half_k = half_k,
                       .chunk = chunk,
                       .chunks = static_cast<int>(divide_up(half_k, chunk)),
                       .blocks = 0,
                       .moduli = form.moduli,
                       .gate = gate};
  for (int side = 0; side < 2; ++side) task.strips[side] = static_cast<int>(task.half[side] / quarter_vectors);
  task.blocks = (task.strips[0] + task.strips[1]) * task.chunks;
  const auto launch_as = [&](auto kernel, int blocks) {
    launch("convert_winograd", kernel,
           {.grid = dim3(static_cast<unsigned>(blocks)),
            .block = dim3(quarter_threads),
            .shared_bytes = sizeof(QuarterShared<Words>),
            .overlap_previous = true},
           stream, task, quarter_reductions<Words>(form.moduli, form.form));
  };
  if (gate.word != nullptr && form.seldom && task.blocks > quarter_blocks_in_turns)
    launch_as(convert_winograd<T, Words, true>, quarter_blocks_in_turns);
  else
    launch_as(convert_winograd<T, Words, false>, task.blocks);
}

}  // namespace vernier::cuda
