// Residues of a piece of 128 elements by a warp (residue_fragments.hpp), and the constants they take in shared memory.
#pragma once

#include "cuda/ptx.cuh"
#include "engine/panel.hpp"
#include "residue/convert/digits.hpp"
#include "residue/convert/residue_fragments.hpp"

namespace vernier::cuda {

template <int Words>
struct DigitReductions {
  ByteReduction<Words> of[max_moduli];
};

// A reduction as lanes load it. The start stands there four times, as the instruction wants it: the compiler would make
// the copies anew for each.
template <int Words>
struct alignas(16) StoredReduction {
  std::int32_t start[4];
  std::uint32_t weights[Words];
  ByteReduction<Words> reduction;  // its weights and start are not loaded
};

inline constexpr int stored_moduli = max_moduli / fragment_moduli * fragment_moduli + fragment_moduli;

template <int Words>
using ReductionTable = StoredReduction<Words>[stored_moduli];

// Each lane needs constants of its own modulus. Those beyond the last one are zero; their residues are not stored.
template <int Words>
__device__ __forceinline__ void store_reductions(ReductionTable<Words>& table, const DigitReductions<Words>& from,
                                                 int moduli) {
  const int q = threadIdx.x;
  if (q >= round_up(moduli, fragment_moduli)) return;
  const ByteReduction<Words> r = q < moduli ? from.of[q] : ByteReduction<Words>{};
  for (std::int32_t& x : table[q].start) x = r.start;
  for (int w = 0; w < Words; ++w) table[q].weights[w] = r.weights[w];
  table[q].reduction = r;
}

template <int Words>
__device__ __forceinline__ void keep_words(std::uint32_t (&words)[Words]) {
#pragma unroll
  for (std::uint32_t& w : words) keep(w);
}

// Not 0: the last of three words stands for something else than zero.
template <int Words>
__device__ __forceinline__ std::uint32_t third_word(const std::uint32_t (&words)[Words]) {
  return Words == 3 ? words[Words - 1] ^ 0x80000000u : 0;
}

// Not 0: the integer is not zero.
template <int Words>
__device__ __forceinline__ std::uint32_t any_word(const std::uint32_t (&words)[Words]) {
  static_assert(Words <= 3);
  if constexpr (Words == 1)
    return words[0] ^ 0x80000000u;
  else
    return words[0] | (words[1] ^ 0x80000000u) | third_word(words);
}

// The same for elements of which fewer words are looked at: 2 of 3, of which the third stands for zero.
template <int Words, int Stored>
__device__ __forceinline__ StoredReduction<Words> reduction_of(const StoredReduction<Stored>& from) {
  if constexpr (Words == Stored) {
    return from;
  } else {
    static_assert(Words == 2 && Stored == 3);
    const ByteReduction<Stored>& r = from.reduction;
    const int zero = dot_bytes(0x80000000u, from.weights[2], 0);
    return {{from.start[0] + zero, from.start[1] + zero, from.start[2] + zero, from.start[3] + zero},
            {from.weights[0], from.weights[1]},
            {{}, 0, r.inverse, r.bias, r.minus_modulus}};
  }
}

// d = products of the words with the lane's rows of weights, plus `start` each.
template <int Words>
__device__ __forceinline__ void dot_words(int (&d)[4], const std::uint32_t (&words)[Words],
                                          const StoredReduction<Words>& r, const int (&start)[4], bool lower,
                                          bool upper) {
#pragma unroll
  for (int w = 0; w + 1 < Words; w += 2) {
    const std::uint32_t weights[4] = {lower ? r.weights[w] : 0, upper ? r.weights[w] : 0, lower ? r.weights[w + 1] : 0,
                                      upper ? r.weights[w + 1] : 0};
    if (w == 0)
      mma_bytes(d, weights, words[0], words[1], start);
    else
      mma_bytes(d, weights, words[w], words[w + 1], d);
  }
  if constexpr (Words % 2 == 1) {
    const std::uint32_t weights[2] = {lower ? r.weights[Words - 1] : 0, upper ? r.weights[Words - 1] : 0};
    if constexpr (Words == 1)
      mma_bytes(d, weights, words[0], start);
    else
      mma_bytes(d, weights, words[Words - 1], d);
  }
}

// Words of four elements a lane -> 16 residues a lane, modulo the p of its reduction; two elements at a time, for the
// registers.
template <int Words>
__device__ __forceinline__ uint4 sixteen_residues(const std::uint32_t (&words)[4][Words],
                                                  const StoredReduction<Words>& r, int lane) {
  const int start[4] = {r.start[0], r.start[1], r.start[2], r.start[3]};
  const bool lower = holds_weights(lane, false), upper = holds_weights(lane, true);
  std::uint32_t pairs[2][4];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    int sum[2][4];
    dot_words<Words>(sum[0], words[2 * h], r, start, lower, upper);
    dot_words<Words>(sum[1], words[2 * h + 1], r, start, lower, upper);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      pairs[h][i] = __byte_perm(remainder_byte(sum[0][i], r.reduction), remainder_byte(sum[1][i], r.reduction), 0x0040);
  }
  std::uint32_t out[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) out[i] = __byte_perm(pairs[0][i], pairs[1][i], 0x5410);
  return make_uint4(out[0], out[1], out[2], out[3]);
}

// Words of four elements a lane of two vectors -> one 16-byte store a vector and group of moduli. The loop over the
// moduli is outside, so that their constants are loaded once.
template <int Words>
__device__ __forceinline__ void write_words_of_two(const std::uint32_t (&words)[2][4][Words], const bool (&wanted)[2],
                                                   const ReductionTable<Words>& table, int moduli, std::uint8_t* to,
                                                   std::int64_t stride, std::int64_t plane, int lane) {
#pragma unroll 1
  for (int q = fragment_modulus(lane); q < round_up(moduli, fragment_moduli); q += fragment_moduli) {
    const StoredReduction<Words> r = table[q];
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      const uint4 residues = sixteen_residues<Words>(words[g], r, lane);
      if (wanted[g] && q < moduli) *reinterpret_cast<uint4*>(to + g * stride) = residues;
    }
    to += fragment_moduli * plane;
  }
}

// Words of four elements a lane of two pieces -> 16 residues a lane, of its shared_piece modulo the p of its
// shared_modulus. Rows of weights are zero in the products with the other piece, so that one sum serves both.
template <int Words>
__device__ __forceinline__ uint4 residues_of_two_pieces(const std::uint32_t (&words)[2][4][Words],
                                                        const StoredReduction<Words>& r, int lane) {
  std::uint32_t bytes[4][4];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    int sum[4] = {r.start[0], r.start[1], r.start[2], r.start[3]};
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const bool mine = shared_piece(lane) == p;
      dot_words<Words>(sum, words[p][e], r, sum, mine && holds_weights(lane, false), mine && holds_weights(lane, true));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) bytes[e][i] = remainder_byte(sum[i], r.reduction);
  }
  std::uint32_t out[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    out[i] = __byte_perm(__byte_perm(bytes[0][i], bytes[1][i], 0x0040), __byte_perm(bytes[2][i], bytes[3][i], 0x0040),
                         0x5410);
  return make_uint4(out[0], out[1], out[2], out[3]);
}

}  // namespace vernier::cuda
