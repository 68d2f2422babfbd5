// A block's part of a strip in shared memory: how it gets there, and how its residues are written.
#pragma once

#include <type_traits>

#include "cuda/ptx.cuh"
#include "engine/filled_pieces.hpp"
#include "number/bound_byte.hpp"
#include "residue/convert/strip.cuh"

namespace vernier::cuda {

// Elements of a block, in 8 bytes each; later their words. Lane L of a warp has those of chunk_of_lane(L). Threads that
// copy, along k or across 16 vectors, and lanes that read meet no bank conflicts; copies across 8 vectors, pairs of
// them.
template <int Pieces, int Vectors = convert_vectors>
struct ResidentStrip {
  static constexpr int pieces = Pieces, vectors = Vectors;
  static constexpr int row = Pieces * convert_k + 1;
  static constexpr int together = Pieces > 4 ? 4 : Pieces;  // pieces that a lane has in registers at once
  std::uint64_t slot[Vectors][row];

  __device__ std::uint64_t* at(int v, int piece, int chunk, int e) {
    return &slot[v][piece * convert_k + 32 * e + (chunk ^ (4 * e))];
  }
  template <class T, int Count>
  __device__ void read(int v, int piece, int chunk, T (&x)[Count]) {
#pragma unroll
    for (int i = 0; i < Count; ++i) x[i] = *reinterpret_cast<const T*>(at(v, piece + i / 4, chunk, i % 4));
  }
};

inline constexpr int scaled_pieces = 2;  // where scales are there

// A third word has a place of its own.
template <int Pieces, int Vectors>
struct ThreeWordStrip : ResidentStrip<Pieces, Vectors> {
  std::uint32_t leading[Vectors * ResidentStrip<Pieces, Vectors>::row];
};
template <int Words, int Pieces, int Vectors = convert_vectors>
using WordsStrip = std::conditional_t<Words == 3, ThreeWordStrip<Pieces, Vectors>, ResidentStrip<Pieces, Vectors>>;

template <int Words, class Strip>
__device__ __forceinline__ void put_words(Strip& strip, std::uint64_t* slot, const std::uint32_t (&words)[Words]) {
  if constexpr (Words == 1)
    *reinterpret_cast<std::uint32_t*>(slot) = words[0];
  else
    *reinterpret_cast<uint2*>(slot) = make_uint2(words[0], words[1]);
  if constexpr (Words == 3) strip.leading[slot - &strip.slot[0][0]] = words[2];
}

template <int Words, class Strip>
__device__ __forceinline__ void get_words(const Strip& strip, const std::uint64_t* slot,
                                          std::uint32_t (&words)[Words]) {
  const auto* from = reinterpret_cast<const std::uint32_t*>(slot);
#pragma unroll
  for (int w = 0; w < Words && w < 2; ++w) words[w] = from[w];
  if constexpr (Words == 3) words[2] = strip.leading[slot - &strip.slot[0][0]];
}

// A strip of which every element exists: places are constants apart, and addresses in memory steps.
template <class T, int Pieces, int Vectors>
__device__ __forceinline__ void fetch_whole_strip(const StripPart<T>& s, int warp, int lane,
                                                  ResidentStrip<Pieces, Vectors>& strip) {
  if (s.k_contiguous) {
    // Element 32 i + lane of a piece: its place moves by 8 with each i, but for a turn of the last bit of i.
    const int turn = lane % 4 / 2 * 8;
#pragma unroll
    for (int g = 0; g < Vectors / convert_warps; ++g) {
      const int v = warp + convert_warps * g;
      const T* from = s.data + v * s.vector_stride + s.begin + lane;
      std::uint64_t* const to[2] = {strip.at(v, 0, lane / 4, lane % 4), strip.at(v, 0, lane / 4, lane % 4) - 2 * turn};
#pragma unroll
      for (int i = 0; i < 4 * Pieces; ++i)
        copy_async_ahead(to[i % 2] + 8 * i % 32 + i / 4 * convert_k, from + 32 * i, true);
    }
  } else {
    // Element 16 i + first of a piece: 4 (i ^ first % 4) further on, for i below 4. With 8 vectors the even ones.
    constexpr int step = convert_threads / Vectors, stride = step / 16;
    const int v = threadIdx.x % Vectors, first = threadIdx.x / Vectors;
    const T* from = s.data + v + (s.begin + first) * s.k_stride;
    std::uint64_t* to[4 / stride];
#pragma unroll
    for (int j = 0; j < 4 / stride; ++j) to[j] = strip.at(v, 0, first / 4 + 4 * stride * j, first % 4);
#pragma unroll
    for (int i = 0; i < Pieces * convert_k; i += step, from += step * s.k_stride)
      copy_async_ahead(to[i / step % (4 / stride)] + i / 64 % 2 * 16 + i / convert_k * convert_k, from, true);
  }
}

// A thread has all vectors' elements of one k and another.
template <class T, int Pieces, int Vectors>
__device__ __forceinline__ void balance_strip(const StripPart<T>& s, ResidentStrip<Pieces, Vectors>& strip) {
  for (int l = threadIdx.x; l < Pieces * convert_k && s.begin + l < s.end; l += convert_threads) {
    const double factor = s.factor(s.begin + l);
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
      T& x = *reinterpret_cast<T*>(strip.at(v, l / convert_k, l % convert_k / 4, l % 4));
      x = static_cast<T>(balanced_element(static_cast<double>(x), factor));
    }
  }
  __syncthreads();
}

// Zero where there are no elements.
template <class T, int Pieces, int Vectors>
__device__ __forceinline__ void fetch_strip(const StripPart<T>& s, int warp, int lane,
                                            ResidentStrip<Pieces, Vectors>& strip) {
  if (s.vectors == Vectors && s.end - s.begin == Pieces * convert_k) {
    fetch_whole_strip(s, warp, lane, strip);
  } else {
    // As above a warp takes elements of one vector, or a half warp those of one k.
    constexpr int elements = Vectors * Pieces * convert_k;
#pragma unroll 4
    for (int i = threadIdx.x; i < elements; i += convert_threads) {
      const int v = s.k_contiguous ? i / (Pieces * convert_k) : i % Vectors,
                l = s.k_contiguous ? i % (Pieces * convert_k) : i / Vectors;
      const bool exists = v < s.vectors && s.begin + l < s.end;
      copy_async_ahead(strip.at(v, l / convert_k, l % convert_k / 4, l % 4),
                       exists ? s.data + v * s.vector_stride + (s.begin + l) * s.k_stride : s.data, exists);
    }
  }
  wait_for_copies();
  __syncthreads();
  if (std::is_same_v<T, double> && s.balance != nullptr) balance_strip(s, strip);
}

// NaN and infinity count as zeros from here on.
template <class T, int Pieces, int Vectors>
__device__ __forceinline__ void keep_finite(ResidentStrip<Pieces, Vectors>& strip, int v, int chunk) {
#pragma unroll
  for (int i = 0; i < 4 * Pieces; ++i) {
    T& x = *reinterpret_cast<T*>(strip.at(v, i / 4, chunk, i % 4));
    if (magnitude_bits(x) >= infinity_bits<T>) x = T{0};
  }
}

// The lane's elements of vector v as bound_bytes, of every k that the operand's step divides: a power of two.
template <class T, int Pieces, int Vectors>
__device__ __forceinline__ void write_some_bound_bytes(ResidentStrip<Pieces, Vectors>& elements,
                                                       const ConvertStrip<T>& strip, int v, int chunk, int exponent) {
  const int step = strip.operand->bound_step, shift = __ffs(step) - 1;
  const std::int64_t k = strip.operand->x.k, first = strip.part.begin + 4 * chunk;
  std::uint8_t* to = strip.operand->bound_bytes + (strip.first + v) * device_pitch(divide_up(k, step));
  for (int e = 0; e < 4; e += step) {
    if (((4 * chunk) & (step - 1)) != 0) return;
#pragma unroll
    for (int p = 0; p < Pieces; ++p) {
      const std::int64_t l = first + p * convert_k + e;
      if (l >= k) break;
      const T x = *reinterpret_cast<const T*>(elements.at(v, p, chunk, e));
      to[l >> shift] = bound_byte(static_cast<double>(x), exponent);
    }
  }
}

// By one thread: of a strip's vectors, bit b of those that hold something in piece b of the block's part of k.
template <class T>
__device__ __forceinline__ void fill_pieces(std::uint32_t* filled, const ConvertStrip<T>& strip, std::int64_t pitch,
                                            std::uint32_t bits) {
  if (filled == nullptr || bits == 0) return;
  static_assert(convert_k == piece_k && piece_vectors % convert_vectors == 0);
  const auto words = static_cast<int>(piece_words(pitch)), first = static_cast<int>(strip.part.begin / piece_k);
  std::uint32_t* word = filled + strip.first / piece_vectors * words + first / 32;
  for (auto left = static_cast<std::uint64_t>(bits) << (first % 32); left != 0; left >>= 32, ++word) {
    const auto some = static_cast<std::uint32_t>(left);
    if ((some & ~*static_cast<volatile std::uint32_t*>(word)) != 0) atomicOr(word, some);
  }
}

// The lane's elements of vector v as bound_bytes, a word for each piece. Returns, in all lanes, which pieces are not
// nothing beside the vector's largest element: none whose bytes are not 0; 0 where not every k is looked at.
template <class T, int Pieces, int Vectors>
__device__ __forceinline__ std::uint32_t write_bound_bytes(ResidentStrip<Pieces, Vectors>& elements,
                                                           const ConvertStrip<T>& strip, int v, int chunk, int exponent,
                                                           std::int64_t pitch) {
  if (v >= strip.part.vectors) return 0;
  if (strip.operand->bound_step > 1) {
    write_some_bound_bytes<T>(elements, strip, v, chunk, exponent);
    return 0;
  }
  static_assert(Pieces <= 32);
  std::uint32_t filled = 0;
  const int width = static_cast<int>(strip.padded_end - strip.part.begin);
  std::uint8_t* to = strip.operand->bound_bytes + (strip.first + v) * pitch + strip.part.begin + 4 * chunk;
#pragma unroll 2
  for (int p = 0; p < Pieces; ++p) {
    if (p * convert_k >= width) break;
    std::uint32_t word = 0;
    bool something = false;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const T x = *reinterpret_cast<const T*>(elements.at(v, p, chunk, e));
      constexpr int deep = 72;  // bits below: what 19 moduli and less round to 0
      const int biased = __double2hiint(static_cast<double>(x)) >> 20 & 0x7ff;
      something = something || (x != T{0} && biased > exponent + Ieee754<double>::max_exponent - deep);
      word |= static_cast<std::uint32_t>(bound_byte(static_cast<double>(x), exponent)) << (8 * e);
    }
    *reinterpret_cast<std::uint32_t*>(to + p * convert_k) = word;
    filled |= __any_sync(~0u, something) != 0 ? 1u << p : 0;
  }
  return filled;
}

// ---- writing -------------------------------------------------------------------------------------------------------

// Returns, in all lanes, whether some element has a third word that is not zero. filled: null, or which pieces of
// vectors before hold something; then of this one, too.
template <class T, int Words, class Strip>
__device__ __forceinline__ bool scale_strip(Strip& strip, int v, int chunk, const TwoFactors& scale,
                                            std::uint32_t* filled = nullptr) {
  constexpr int together = Strip::together;
  std::uint32_t third = 0;
#pragma unroll 1
  for (int p = 0; p < Strip::pieces; p += together) {
    T x[4 * together];
    strip.read(v, p, chunk, x);
    std::uint32_t some[together] = {};
#pragma unroll
    for (int i = 0; i < 4 * together; ++i) {
      std::uint32_t words[Words];
      scaled_words(static_cast<double>(x[i]), scale, words);
      third |= third_word(words);
      some[i / 4] |= any_word(words);
      put_words<Words>(strip, strip.at(v, p + i / 4, chunk, i % 4), words);
    }
    if (filled == nullptr) continue;
#pragma unroll
    for (int i = 0; i < together; ++i)
      if (__any_sync(~0u, some[i] != 0) != 0) *filled |= 1u << (p + i);
  }
  return Words == 3 && __any_sync(~0u, third != 0) != 0;
}

template <int Words, class Strip>
__device__ __forceinline__ void read_words(Strip& strip, int v, int piece, int chunk,
                                           std::uint32_t (&words)[4][Words]) {
#pragma unroll
  for (int e = 0; e < 4; ++e) get_words<Words>(strip, strip.at(v, piece, chunk, e), words[e]);
}

// Where a lane writes residues of a strip.
struct LanePlanes {
  int width, vectors, moduli;  // width: bytes of k that belong to the block
  std::uint8_t* to;            // in the first of its moduli
  std::int64_t stride, plane;  // from one of its vectors, of its moduli to the next
};
template <class T>
__device__ __forceinline__ LanePlanes lane_planes(const ConvertStrip<T>& strip, const ConvertTask<T>& task, int warp,
                                                  int lane) {
  return {static_cast<int>(strip.padded_end - strip.part.begin),
          strip.part.vectors,
          task.moduli,
          strip.operand->planes + (strip.first + warp) * task.pitch + strip.part.begin +
              fragment_modulus(lane) * strip.plane + fragment_byte(lane),
          convert_warps * task.pitch,
          strip.plane};
}

// One or two moduli that are left over by groups of four, from the given one on: two pieces share a group.
template <int Words, int Stored, class Strip>
__device__ __forceinline__ void write_rest(Strip& strip, const ReductionTable<Stored>& table, LanePlanes out,
                                           int modulus, int warp, int lane) {
  const int chunk = chunk_of_lane(lane), q = modulus + shared_modulus(lane), second = shared_piece(lane);
  const auto r = reduction_of<Words>(table[q]);
  out.to += second * (convert_k - 2 * out.plane);
#pragma unroll
  for (int p = 0; p < Strip::pieces; p += 2) {
    if (p * convert_k >= out.width) break;
#pragma unroll
    for (int g = 0; g < Strip::vectors / convert_warps; ++g) {
      const int v = warp + convert_warps * g;
      std::uint32_t words[2][4][Words];
      read_words<Words>(strip, v, p, chunk, words[0]);
      read_words<Words>(strip, v, p + 1, chunk, words[1]);
      const uint4 residues = residues_of_two_pieces<Words>(words, r, lane);
      if (v < out.vectors && q < out.moduli && (p + second) * convert_k < out.width)
        *reinterpret_cast<uint4*>(out.to + p * convert_k + g * out.stride) = residues;
    }
  }
}

template <int Words, int Stored, class Strip>
__device__ __forceinline__ void write_words(Strip& strip, const ReductionTable<Stored>& table, LanePlanes out, int warp,
                                            int lane) {
  static_assert(Strip::pieces % 2 == 0);
  const int chunk = chunk_of_lane(lane), grouped = grouped_moduli(out.moduli);
#pragma unroll 1
  for (int q = fragment_modulus(lane); q < grouped; q += fragment_moduli) {
    const auto r = reduction_of<Words>(table[q]);
#pragma unroll
    for (int p = 0; p < Strip::pieces; ++p) {
      if (p * convert_k >= out.width) break;
#pragma unroll
      for (int g = 0; g < Strip::vectors / convert_warps; ++g) {
        const int v = warp + convert_warps * g;
        std::uint32_t words[4][Words];
        read_words<Words>(strip, v, p, chunk, words);
        const uint4 residues = sixteen_residues<Words>(words, r, lane);
        if (v < out.vectors && q < out.moduli)
          *reinterpret_cast<uint4*>(out.to + p * convert_k + g * out.stride) = residues;
      }
    }
    out.to += fragment_moduli * out.plane;
  }
  if (grouped < out.moduli) write_rest<Words, Stored>(strip, table, out, grouped, warp, lane);
}

// third: whether some element of the warp's vectors has a third word that is not zero.
template <int Words, class Strip>
__device__ __forceinline__ void write_strip(Strip& strip, const ReductionTable<Words>& table, const LanePlanes& out,
                                            int warp, int lane, bool third = true) {
  if (Words == 3 && !third)
    write_words<Words == 3 ? 2 : Words, Words>(strip, table, out, warp, lane);
  else
    write_words<Words, Words>(strip, table, out, warp, lane);
}

}  // namespace vernier::cuda
