// Random operands for the comparison of an engine with its model, in strata that normal or uniform data never reach.
#pragma once

#include "model/hardware/instructions.cuh"
#include "model/spec.hpp"

namespace vernier::model::gpu {

enum Stratum : int {
  cluster,        // exponents within a few of a common one
  cancelling,     // products in pairs of opposite sign, last bits apart
  zero_heavy,     // three of four are zeros of either sign
  subnormal,      // half the numbers are subnormal
  near_floor,     // products around the exponent that zeros count with; half of them beside a tie of fp16 results
  specials,       // now and then an infinity or a NaN
  powers,         // powers of two: ties
  uniform,        // uniform bits
  near_overflow,  // exponents near the largest
  cancels_c,      // c is minus the product, give or take
  strata,
};

__device__ inline std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x21f0aaadu;
  x ^= x >> 15;
  x *= 0xd35a2d97u;
  x ^= x >> 15;
  return x;
}
__device__ inline std::uint32_t random_word(std::uint64_t seed, std::uint64_t index) {
  const std::uint32_t h = mix(static_cast<std::uint32_t>(seed) ^ mix(static_cast<std::uint32_t>(index)));
  return mix(h ^
             mix(static_cast<std::uint32_t>(seed >> 32) + 0x9e3779b9u * static_cast<std::uint32_t>(index >> 32) + 1));
}

// What the operands of one instruction share.
struct Recipe {
  int stratum = 0;
  int centre_a = 0, centre_b = 0, width = 0;  // exponents
  int centre_c = 0, width_c = 0;
  bool tie = false;  // near_floor: halves of the smallest fp16 number, and powers of two where zeros cut them
};

__device__ inline int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

__device__ inline Recipe make_recipe(const Engine& e, std::uint64_t seed, std::uint64_t instruction) {
  const std::uint32_t r = random_word(seed, 4 * instruction), s = random_word(seed, 4 * instruction + 1);
  const FloatShape a = shape_of(e.a), b = shape_of(e.b), c = shape_of(e.c);
  Recipe q;
  q.stratum = static_cast<int>(r % strata);
  q.width = 1 << ((r >> 8) % 6);  // 1 ... 32
  const auto between = [](std::uint32_t x, int low, int high) {
    return low + static_cast<int>(x % static_cast<unsigned>(high - low + 1));
  };
  q.centre_a = between(s & 0xffff, a.emin(), a.emax());
  q.centre_b = between(s >> 16, b.emin(), b.emax());
  if (q.stratum == near_floor) {  // products near e_zero, or near e_zero - F
    const int target = e.zero_exponent - ((r >> 16) & 1 ? e.fraction_bits : 0);
    q.centre_a = clamp(target / 2 + between(r >> 20, -8, 8), a.emin(), a.emax());
    q.centre_b = clamp(target - q.centre_a, b.emin(), b.emax());
    q.width = 1 << ((r >> 8) % 4);
    q.tie = e.c == Format::fp16 && (r >> 27 & 1) != 0;
  }
  if (q.stratum == near_overflow) {
    const int target = c.emax();
    q.centre_a = clamp(target / 2, a.emin(), a.emax());
    q.centre_b = clamp(target - q.centre_a, b.emin(), b.emax());
    q.width = 2;
  }
  q.centre_c =
      clamp(q.centre_a + q.centre_b + between(random_word(seed, 4 * instruction + 2), -30, 30), c.emin() - 1, c.emax());
  q.width_c = q.width;
  return q;
}

// The six ways to pick two of four: the lower index in bits 0 and 1, the upper one in bits 2 and 3.
__device__ inline std::uint32_t sparse_code(std::uint32_t choice) { return 0xed9c84u >> (choice % 6 * 4) & 15; }

// Which two of every four elements a sparse instruction takes: four groups, and the same for the next four.
__device__ inline std::uint32_t make_metadata(std::uint64_t seed, std::uint64_t instruction) {
  const std::uint32_t r = random_word(seed, 4 * instruction + 3);
  return sparse_code(r & 255) | sparse_code(r >> 8 & 255) << 4 | sparse_code(r >> 16 & 255) << 8 |
         sparse_code(r >> 24) << 12;
}

// One number of the shape with an exponent around the centre.
__device__ inline std::uint32_t make_number(const FloatShape& s, const Recipe& q, int centre, int width,
                                            std::uint32_t r, std::uint32_t t) {
  const std::uint32_t code_bits = static_cast<std::uint32_t>(s.bits());
  const std::uint32_t low = s.ignored_bits == 0 ? 0 : (t >> 8) & ((1u << s.ignored_bits) - 1) & (0u - ((t >> 7) & 1));
  const std::uint32_t any = (r & ((code_bits == 32 ? 0u : 1u << code_bits) - 1u));
  const std::uint32_t sign = (r >> 31) << (code_bits - 1);
  const std::uint32_t fraction_mask = (1u << s.fraction_bits) - 1;
  int exponent = centre - width / 2 + static_cast<int>(t % static_cast<unsigned>(width + 1));
  std::uint32_t fraction = r & fraction_mask;
  if (q.stratum == uniform) return any << s.ignored_bits | low;
  if (q.stratum == zero_heavy && (t >> 24) % 4 != 0) return sign << s.ignored_bits;
  if (q.stratum == specials && (t >> 24) % 24 == 0) {
    const std::uint32_t top = (((1u << s.exponent_bits) - 1) << s.fraction_bits) | ((t >> 20) & 1 ? fraction : 0);
    return (sign | top) << s.ignored_bits | low;
  }
  if (q.stratum == subnormal && ((t >> 24) & 1) != 0) exponent = s.emin() - 1;
  if (q.stratum == powers && ((t >> 24) & 7) != 0) fraction = 0;
  if (((t >> 28) & 7) == 0) fraction = fraction_mask ^ ((t >> 27) & 1);  // long carries
  const int field = clamp(exponent - s.emin() + 1, 0, s.emax() - s.emin() + 1);
  return (sign | static_cast<std::uint32_t>(field) << s.fraction_bits | fraction) << s.ignored_bits | low;
}

__device__ inline std::uint32_t make_integer(const Recipe& q, std::uint32_t r, std::uint32_t t) {
  if (q.stratum == zero_heavy && t % 4 != 0) return 0;
  if (q.stratum == near_overflow || q.stratum == specials) return (t & 3) == 0 ? r & 0xff : (t & 4) != 0 ? 0x80 : 0x7f;
  return r & 0xff;
}

// 2^exponent, or 0 below the smallest subnormal number.
__device__ inline std::uint32_t power_of_two(const FloatShape& s, int exponent) {
  if (exponent >= s.emin()) return static_cast<std::uint32_t>(exponent - s.emin() + 1) << s.fraction_bits;
  const int bit = s.fraction_bits + exponent - s.emin();
  return bit < 0 ? 0 : 1u << bit;
}

// Product k of a tie: 0, 2^-25 (half of the smallest fp16 number), or a power of two at the place where zeros cut.
__device__ inline std::uint32_t make_tie(const Engine& e, std::uint64_t seed, std::uint64_t instruction, int side,
                                         int k, std::uint32_t r) {
  const std::uint32_t h = random_word(seed ^ 0x5bd1e995u, instruction * 64 + static_cast<unsigned>(k));
  if (h % 4 == 0) return 0;
  const FloatShape a = shape_of(e.a), b = shape_of(e.b);
  const int floor = e.zero_exponent - e.fraction_bits, lowest = a.emin() - a.fraction_bits + b.emin() - b.fraction_bits;
  const int target = h % 4 == 1 ? -25 : (floor < lowest ? lowest : floor) + static_cast<int>(h >> 8 & 7) - 4;
  const int exponent_a = clamp(target / 2 + static_cast<int>(h >> 16 & 7) - 4, a.emin() - a.fraction_bits, a.emax());
  const FloatShape s = side == 0 ? a : b;
  const bool negative = h % 4 != 1 && (r >> 9 & 1) != 0;
  return power_of_two(s, side == 0 ? exponent_a : target - exponent_a) |
         (negative ? static_cast<std::uint32_t>(s.sign_bit()) : 0);
}

// Element k of row `row` of A (side 0) or column `row` of B (side 1).
__device__ inline std::uint32_t make_operand(const Engine& e, const Recipe& q, std::uint64_t seed,
                                             std::uint64_t instruction, int side, int row, int k) {
  const bool paired = q.stratum == cancelling;
  const int source = paired ? k & ~1 : k;
  const std::uint64_t index = (instruction << 13 | static_cast<unsigned>(side) << 12 | static_cast<unsigned>(row) << 6 |
                               static_cast<unsigned>(source)) *
                                  2 +
                              0x100000000ull;
  const std::uint32_t r = random_word(seed, index), t = random_word(seed, index + 1);
  const Format format = side == 0 ? e.a : e.b;
  if (is_integer(format)) return make_integer(q, r, t);
  if (q.tie) return make_tie(e, seed, instruction, side, k, r);
  const FloatShape s = shape_of(format);
  std::uint32_t x = make_number(s, q, side == 0 ? q.centre_a : q.centre_b, q.width, r, t);
  if (paired && side == 0 && (k & 1) != 0) {
    x ^= static_cast<std::uint32_t>(s.sign_bit()) << s.ignored_bits;
    if ((t >> 22 & 3) == 0) x ^= 1u << s.ignored_bits;
  }
  return x;
}

__device__ inline std::uint32_t make_c(const Engine& e, const Recipe& q, std::uint64_t seed, std::uint64_t instruction,
                                       int row, int column) {
  const std::uint64_t index =
      (instruction << 13 | 1u << 11 | static_cast<unsigned>(row) << 3 | static_cast<unsigned>(column)) * 2 +
      0x8000000000000000ull;
  const std::uint32_t r = random_word(seed, index), t = random_word(seed, index + 1);
  if (e.sum == Sum::integer) {
    if (q.stratum == near_overflow || q.stratum == specials)
      return ((t & 1) != 0 ? 0x7fffffffu : 0x80000000u) + (r % 2000000) - 1000000;
    return q.stratum == uniform ? r : r >> 12;
  }
  if ((t >> 21 & 7) == 0 || (q.tie && (t >> 24 & 1) != 0)) return 0;
  return make_number(shape_of(e.c), q, q.centre_c, q.width_c, r, t);
}

}  // namespace vernier::model::gpu
