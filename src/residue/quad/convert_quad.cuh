// The kernel that makes residues of elements of one part or two: integers of the parts are added, limb by limb, before
// they are reduced, so that an element costs what one of its bits would in a single number.
#pragma once

#include "engine/panel_cuda.hpp"
#include "residue/convert/residues.cuh"
#include "residue/quad/quad_warp.cuh"

namespace vernier::cuda {

inline constexpr int quad_piece = 128, quad_chunk = 4 * quad_piece;  // k that is turned at a time; of a block

template <int Words>
struct QuadConversion {
  QuadView x;
  const QuadScale* scales;
  std::uint8_t* planes;
  std::int64_t pitch;
  int parts_of_k, moduli;
  DigitReductions<Words> reductions;
};

// Sums of two limbs of 62 bits fit their 64.
template <int Parts, int Words>
__device__ __forceinline__ void summed_words(const double (&x)[Parts], const TwoFactors& scale,
                                             std::uint32_t (&words)[Words]) {
  static_assert(Words % 2 == 0);
  std::int64_t limb[Words / 2] = {};
#pragma unroll
  for (int p = 0; p < Parts; ++p) {
    double rest = is_finite(x[p]) ? x[p] * scale.first * scale.second : 0;
#pragma unroll
    for (int t = Words / 2 - 1; t >= 0; --t) {
      const double whole = t > 0 ? trunc(rest) : rest;
      limb[t] += rounded_integer(whole);
      rest = (rest - whole) * 0x1p62;
    }
  }
#pragma unroll
  for (int t = 0; t < Words / 2; ++t) {
    words[2 * t] = static_cast<std::uint32_t>(limb[t]);
    words[2 * t + 1] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(limb[t]) >> 32) ^ 0x80000000u;
  }
}

// A piece of 16 vectors in shared memory, column l at l % 4 * 32 + l / 4: no bank conflicts in either direction.
template <int Parts>
using TurnedPiece = double[Parts][measure_vectors][quad_piece + 1];

template <int Parts>
__device__ __forceinline__ void turn_piece(const QuadView& x, std::int64_t first, std::int64_t l0, bool aligned,
                                           TurnedPiece<Parts>& turned) {
  const int v = static_cast<int>(threadIdx.x) % measure_vectors;
#pragma unroll
  for (int l = static_cast<int>(threadIdx.x) / measure_vectors; l < quad_piece;
       l += measure_threads / measure_vectors) {
    double parts[Parts] = {};
    if (first + v < x.vectors && l0 + l < x.k) load_parts<Parts>(x.at(first + v, l0 + l), aligned, parts);
#pragma unroll
    for (int p = 0; p < Parts; ++p) turned[p][v][l % 4 * 32 + l / 4] = parts[p];
  }
}

// The piece at l0 is wanted soon: a line of memory a thread, of elements of 16 bytes that are not along k.
__device__ __forceinline__ void prefetch_piece(const QuadView& x, std::int64_t first, std::int64_t l0,
                                               std::int64_t end) {
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t v = first + thread % 2 * 8, l = l0 + thread / 2;
  if (v < x.vectors && l < end) prefetch_line(x.at(v, l));
}

// A block has a part of k of 16 vectors, a warp two of them.
template <int Parts, int Words>
__global__ void __launch_bounds__(measure_threads, 2) convert_quad(const __grid_constant__ QuadConversion<Words> task) {
  constexpr bool turns = Parts < 3;  // binary128 was split along k
  __shared__ TurnedPiece<turns ? Parts : 1> turned;
  __shared__ ReductionTable<Words> table;
  const QuadView& x = task.x;
  const bool aligned = holds_two_doubles(x.data);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32,
            chunk = chunk_of_lane(lane);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) / task.parts_of_k * measure_vectors,
                     begin = static_cast<std::int64_t>(blockIdx.x) % task.parts_of_k * quad_chunk,
                     end = min(begin + quad_chunk, task.pitch), plane = x.vectors * task.pitch;
  store_reductions<Words>(table, task.reductions, task.moduli);
  TwoFactors scale[2];
  bool wanted[2];
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    const std::int64_t v = first + warp + measure_warps * g;
    wanted[g] = v < x.vectors;
    scale[g] = two_factors((wanted[g] ? task.scales[v].scale : 0) - limb_bits * (Words / 2 - 1));
  }
  std::uint8_t* to = task.planes + (first + warp) * task.pitch + fragment_modulus(lane) * plane + fragment_byte(lane);
  for (std::int64_t l0 = begin; l0 < end; l0 += quad_piece) {
    __syncthreads();
    if constexpr (turns)
      if (!x.k_contiguous()) turn_piece<Parts>(x, first, l0, aligned, turned);
    __syncthreads();
    if (Parts == 2 && !x.k_contiguous()) prefetch_piece(x, first, l0 + quad_piece, min(end, x.k));
    std::uint32_t words[2][4][Words];
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int v = warp + measure_warps * g;
        const std::int64_t l = l0 + 4 * chunk + e;
        double parts[Parts] = {};
        if (turns && !x.k_contiguous()) {
#pragma unroll
          for (int p = 0; p < Parts; ++p) parts[p] = turned[turns ? p : 0][v][chunk + 32 * e];
        } else if (wanted[g] && l < x.k) {
          load_parts<Parts>(x.at(first + v, l), aligned, parts);
        }
        summed_words(parts, scale[g], words[g][e]);
        keep_words<Words>(words[g][e]);
      }
    write_words_of_two<Words>(words, wanted, table, task.moduli, to + l0, measure_warps * task.pitch, plane, lane);
  }
}

template <int Parts, int Words>
void launch_convert_quad(const QuadView& x, const QuadScale* scales, int moduli, std::uint8_t* planes,
                         cudaStream_t stream) {
  const std::int64_t pitch = device_pitch(x.k), parts_of_k = divide_up(pitch, std::int64_t{quad_chunk});
  QuadConversion<Words> task{x, scales, planes, pitch, static_cast<int>(parts_of_k), moduli, {}};
  for (int q = 0; q < moduli; ++q)
    task.reductions.of[q] = digit_reduction<Words>(vernier::moduli[static_cast<std::size_t>(q)], ByteForm::natural);
  launch("convert_quad", convert_quad<Parts, Words>,
         {.grid = dim3(static_cast<unsigned>(divide_up(x.vectors, std::int64_t{measure_vectors}) * parts_of_k)),
          .block = dim3(measure_threads)},
         stream, task);
}

}  // namespace vernier::cuda
