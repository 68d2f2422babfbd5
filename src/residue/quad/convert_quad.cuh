// The kernel that makes residues of elements of one part or two: integers of the parts are added, limb by limb, before
// they are reduced, so that an element costs what one of its bits would in a single number.
#pragma once

#include "cuda/ptx.cuh"
#include "engine/panel_cuda.hpp"
#include "residue/convert/residues.cuh"
#include "residue/quad/quad_warp.cuh"

namespace vernier::cuda {

inline constexpr int quad_piece = 128, quad_chunk = 4 * quad_piece;  // k that is converted at a time; of a block
inline constexpr int quad_strip_vectors = 8, quad_strip_threads = 128, quad_strip_warps = quad_strip_threads / 32;

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

// A piece of eight vectors in shared memory. Vector v of element l lies at v ^ swizzled(l): eight neighbours along k,
// of a vector or of l, and eight lanes of a warp that converts, take different banks.
template <int Parts>
struct QuadPiece {
  struct alignas(Parts == 2 ? 16 : 8) Element {
    double part[Parts];
  };
  Element of[quad_piece][quad_strip_vectors];

  __device__ static int swizzled(int l) { return (l >> 2 & 1) | ((l ^ l >> 3) & 3) << 1; }
  __device__ __forceinline__ Element& at(int v, int l) { return of[l][v ^ swizzled(l)]; }

  // Begins to copy the elements from l0 on; zeros are beyond the operand. aligned: elements lie as Element does.
  __device__ __forceinline__ void load(const QuadView& x, std::int64_t first, std::int64_t l0, bool aligned) {
    const int thread = static_cast<int>(threadIdx.x);
    const bool along_k = x.k_contiguous();
#pragma unroll
    for (int r = 0; r < quad_strip_vectors; ++r) {
      const int v = along_k ? r : thread % quad_strip_vectors,
                l = along_k ? thread : thread / quad_strip_vectors + 16 * r;
      const bool exists = first + v < x.vectors && l0 + l < x.k;
      const double* from = exists ? x.at(first + v, l0 + l) : x.data;
      Element& to = at(v, l);
      if (aligned) {
        copy_async_ahead(&to, reinterpret_cast<const Element*>(from), exists);
      } else {
#pragma unroll
        for (int p = 0; p < Parts; ++p) copy_async_ahead(&to.part[p], from + p, exists);
      }
    }
    close_copies();
  }
};

// A block has a part of k of eight vectors, a warp two of them; the next piece is on its way meanwhile.
template <int Parts, int Words>
__global__ void __launch_bounds__(quad_strip_threads, 4)
    convert_quad(const __grid_constant__ QuadConversion<Words> task) {
  constexpr bool copies = Parts < 3;  // binary128 was split along k
  __shared__ QuadPiece<copies ? Parts : 1> pieces[copies ? 2 : 1];
  __shared__ ReductionTable<Words> table;
  const QuadView& x = task.x;
  const bool aligned = Parts == 1 || holds_two_doubles(x.data);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32,
            chunk = chunk_of_lane(lane);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) / task.parts_of_k * quad_strip_vectors,
                     begin = static_cast<std::int64_t>(blockIdx.x) % task.parts_of_k * quad_chunk,
                     end = min(begin + quad_chunk, task.pitch), plane = x.vectors * task.pitch;
  if constexpr (copies) pieces[0].load(x, first, begin, aligned);
  store_reductions<Words>(table, task.reductions, task.moduli);
  TwoFactors scale[2];
  bool wanted[2];
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    const std::int64_t v = first + warp + quad_strip_warps * g;
    wanted[g] = v < x.vectors;
    scale[g] = two_factors((wanted[g] ? task.scales[v].scale : 0) - limb_bits * (Words / 2 - 1));
  }
  std::uint8_t* to = task.planes + (first + warp) * task.pitch + fragment_modulus(lane) * plane + fragment_byte(lane);
  for (std::int64_t l0 = begin; l0 < end; l0 += quad_piece) {
    const auto turn = static_cast<int>((l0 - begin) / quad_piece % 2);
    wait_for_copies();
    __syncthreads();
    if constexpr (copies)
      if (l0 + quad_piece < end) pieces[1 - turn].load(x, first, l0 + quad_piece, aligned);
    std::uint32_t words[2][4][Words];
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int v = warp + quad_strip_warps * g, l = 4 * chunk + e;
        double parts[Parts] = {};
        if constexpr (copies) {
          const auto element = pieces[turn].at(v, l);
#pragma unroll
          for (int p = 0; p < Parts; ++p) parts[p] = element.part[p];
        } else if (wanted[g] && l0 + l < x.k) {
#pragma unroll
          for (int p = 0; p < Parts; ++p) parts[p] = x.at(first + v, l0 + l)[p];
        }
        if constexpr (Parts == 2) parts[1] = is_finite(parts[0]) ? parts[1] : 0;
        summed_words(parts, scale[g], words[g][e]);
        keep_words<Words>(words[g][e]);
      }
    write_words_of_two<Words>(words, wanted, table, task.moduli, to + l0, quad_strip_warps * task.pitch, plane, lane);
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
         {.grid = dim3(static_cast<unsigned>(divide_up(x.vectors, std::int64_t{quad_strip_vectors}) * parts_of_k)),
          .block = dim3(quad_strip_threads)},
         stream, task);
}

}  // namespace vernier::cuda
