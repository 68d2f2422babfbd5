// The vector path of the model: rows of A against N columns of B, block by block, on floats that are exact here.
//
// A term's significand product (at most 22 bits) times 2^(e - e_max + F) is a float without rounding error, and its
// conversion to an integer cuts toward zero: the sign-magnitude alignment of the engines. Sums of one block fit 32
// bits. Lanes whose numbers lie outside this picture (infinities, NaNs, subnormal c or d, exponents under the zeros')
// are reported and computed by the scalar model.
//
// A source file that is compiled for its instruction set includes this header, and has an N of its own.
#pragma once

#include <cstring>

#include "model/tile.hpp"

namespace vernier::model {
namespace {

template <int N>
struct Lanes {
  typedef float Floats __attribute__((vector_size(4 * N)));
  typedef std::int32_t Ints __attribute__((vector_size(4 * N)));
  typedef std::uint32_t Words __attribute__((vector_size(4 * N)));

  template <class V>
  static void load(const void* p, V& v) {
    std::memcpy(&v, p, sizeof v);
  }
};

// d = c + sum of L products for N lanes. slow[j] != 0: lane j is not done.
template <int N, int L>
[[gnu::always_inline]] inline void sum_lanes(const BlockRule& rule, const float* as, const std::int32_t* ae,
                                             const float* bs, const std::int32_t* be, const std::uint32_t* c,
                                             std::uint32_t* d, std::int32_t* slow) {
  using V = Lanes<N>;
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  using Words = typename V::Words;
  Ints c_word;
  V::load(c, c_word);
  const Ints c_field = (c_word >> 23) & 255;
  const Ints c_zero = (c_word & 0x7fffffff) == 0;
  const Ints c_exponent = c_zero ? Ints{} + rule.zero_exponent : c_field - 127;
  Ints odd = (c_field == 255) | ((c_field == 0) & ~c_zero);

  Ints e[L];
  Ints e_max = c_exponent;
#pragma GCC unroll 16
  for (int t = 0; t < L; ++t) {
    V::load(be + t * N, e[t]);
    e[t] += ae[t];
    e_max = e[t] > e_max ? e[t] : e_max;
  }
  odd |= e_max < rule.zero_exponent;

  const Ints base = e_max - (rule.fraction_bits + 127);
  // 2^(x - base - 127) for x <= e_max, 0 where it is far below every unit
  const auto scale = [&base](const Ints& x, Floats& power) __attribute__((always_inline)) {
    const Ints field = x - base;
    power = (Floats)((field > 0 ? field : Ints{}) << 23);
  };
  Floats power;
  scale(c_exponent, power);
  const Floats c_significand = (Floats)(c_zero ? Ints{} : (c_word & (int)0x807fffff) | (127 << 23));
  Ints first = __builtin_convertvector(c_significand * power, Ints), second = {};
#pragma GCC unroll 16
  for (int t = 0; t < L; ++t) {
    Floats p;
    V::load(bs + t * N, p);
    scale(e[t], power);
    const Ints x = __builtin_convertvector(p * as[t] * power, Ints);
    if (t < L / 2)
      first += x;
    else
      second += x;
  }

  // |first + second| < 2^32: the sign comes from half the sum, the magnitude modulo 2^32.
  const Ints half = (first >> 1) + (second >> 1) + (first & second & 1);
  const Words sign = (Words)(half >> 31);
  const Words magnitude = (((Words)first + (Words)second) ^ sign) - sign;
  Words low = magnitude >> 24;  // as many ones as there are bits beyond 24
  low |= low >> 1;
  low |= low >> 2;
  low |= low >> 4;
  const Words kept = magnitude & ~low;
  const Floats value = __builtin_convertvector((Ints)(kept >> 16), Floats) * 65536.0f +
                       __builtin_convertvector((Ints)(kept & 0xffff), Floats);
  const Ints bits = (Ints)value;
  const Ints zero = bits == 0;
  const Ints field = (bits >> 23) + e_max - rule.fraction_bits;
  odd |= ~zero & ((field < 1) | (field > 254));
  const Ints result = zero ? Ints{} : ((bits & 0x7fffff) | (field << 23) | ((Ints)sign << 31));
  std::memcpy(d, &result, sizeof result);
  std::memcpy(slow, &odd, sizeof odd);
}

template <int N, int L>
inline void rows_of_blocks(const RowTask& task) {
  alignas(64) std::int32_t slow[N];
  for (int q = 0; q < task.blocks; ++q)
    for (int r = 0; r < task.row_count; ++r) {
      alignas(64) std::uint32_t d[N];
      std::uint32_t* const c = task.c + r * N;
      sum_lanes<N, L>(task.rule, task.rows[r].significand + q * L, task.rows[r].exponent + q * L,
                      task.strip.significand + q * L * N, task.strip.exponent + q * L * N, c, d, slow);
      std::int32_t any = 0;
      for (int j = 0; j < N; ++j) any |= slow[j];
      if (any != 0) [[unlikely]]
        for (int j = 0; j < N; ++j)
          if (slow[j] != 0) d[j] = task.scalar(task.context, r, q, j, c[j]);
      std::memcpy(c, d, sizeof d);
    }
}

template <int N>
inline void rows_of(const RowTask& task) {
  if (task.block == 4) rows_of_blocks<N, 4>(task);
  if (task.block == 8) rows_of_blocks<N, 8>(task);
  if (task.block == 16) rows_of_blocks<N, 16>(task);
}

}  // namespace
}  // namespace vernier::model
