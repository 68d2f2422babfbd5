// The moduli of the residue number system and arithmetic modulo them. Host and device; includes only std.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "number/ieee754.hpp"

namespace vernier {

// Pairwise coprime moduli up to 256, largest first: each is the largest number that is coprime to all before it. The
// first N have the largest product that N moduli of at most 8 bits can have for every N that a product of ordinary data
// asks for.
inline constexpr int max_moduli = 49;
inline constexpr int largest_modulus = 256;

namespace detail {
constexpr std::array<int, max_moduli> make_moduli() {
  std::array<int, max_moduli> list{};
  int count = 0;
  for (int p = largest_modulus; count < max_moduli; --p) {
    bool coprime = true;
    for (int q = 0; q < count; ++q) coprime = coprime && std::gcd(p, list[q]) == 1;
    if (coprime) list[count++] = p;
  }
  return list;
}
}  // namespace detail

inline constexpr std::array<int, max_moduli> moduli = detail::make_moduli();

// Which list of moduli a system takes its own from.
enum class ModuliList {
  densest,    // the one above
  with_root,  // moduli of which -1 is a square: products of primes that are 1 modulo 4
};

namespace detail {
// Is every prime factor of p 1 modulo 4?
constexpr bool has_root(int p) {
  for (int d = 2; d <= p; ++d)
    for (; p % d == 0; p /= d)
      if (d % 4 != 1) return false;
  return true;
}

inline constexpr int moduli_with_root_count = 22;

constexpr std::array<int, moduli_with_root_count> make_moduli_with_root() {
  std::array<int, moduli_with_root_count> list{};
  int count = 0;
  for (int p = largest_modulus; count < moduli_with_root_count; --p) {
    bool usable = has_root(p);
    for (int q = 0; q < count; ++q) usable = usable && std::gcd(p, list[q]) == 1;
    if (usable) list[count++] = p;
  }
  return list;
}
}  // namespace detail

// 241, 233, 229, 221, 205, ... 29: each the largest with a root that is coprime to all before it.
inline constexpr auto moduli_with_root = detail::make_moduli_with_root();

constexpr int modulus_of(ModuliList list, int q) {
  const auto i = static_cast<std::size_t>(q);
  return list == ModuliList::densest ? moduli[i] : moduli_with_root[i];
}
constexpr int count_of(ModuliList list) {
  return list == ModuliList::densest ? max_moduli : detail::moduli_with_root_count;
}

// The least s with s^2 = -1 modulo p; 0 if there is none.
constexpr int root_of_minus_one(int p) {
  for (int s = 1; s < p; ++s)
    if ((s * s + 1) % p == 0) return s;
  return 0;
}

// Residues are symmetric: -(p - 1) / 2 .. (p - 1) / 2 for odd p, -128 .. 127 for p = 256. All fit int8.
constexpr int largest_residue(int p) { return (p - 1) / 2; }
constexpr int smallest_residue(int p) { return largest_residue(p) - p + 1; }

constexpr int symmetric_residue(std::int64_t x, int p) {
  const int r = static_cast<int>(x % p);  // has the sign of x
  if (r > largest_residue(p)) return r - p;
  return r < smallest_residue(p) ? r + p : r;
}

constexpr int multiply_mod(int a, int b, int p) { return symmetric_residue(static_cast<std::int64_t>(a) * b, p); }

constexpr int power_of_two_mod(int exponent, int p) {
  int result = symmetric_residue(1, p);
  for (int i = 0; i < exponent; ++i) result = symmetric_residue(2 * result, p);
  return result;
}

// The x in 1 .. p - 1 with a x = 1 modulo p; a and p coprime.
constexpr int inverse_mod(int a, int p) {
  for (int x = 1; x < p; ++x)
    if (symmetric_residue(static_cast<std::int64_t>(a) * x - 1, p) == 0) return x;
  return 0;
}

// ---- remainders modulo p of sums that an integer instruction leaves in the bits of a float: no conversion, one fused
// multiply-add in fp32 and one dot product of two 16-bit integers.
//
// start + y, 0 <= y < 3072 p, are the bits of the float (X + y) 2^e, 2^23 <= X + y < 2^24. X / p is so near an integer
// d that
//     M - d + (X + y) / p = M + n,     n = rint(y / p),     M = 0x4b43 2^16 as bits of a float,
// rounded once. The lower half of that float's bits is n, the upper half 0x4b43; their products with the halves of
// `factors`, -p and -start / 0x4b43, take the sum to y - n p, the symmetric remainder. 0x4b43 is a prime, so that its
// multiples leave all remainders that X may need.

inline constexpr int float_remainder_quotients = 3072;  // 24 bytes times weights of at most p / 2, and p more

struct FloatRemainder {
  std::int32_t start;
  float inverse;  // 2^-e / p
  float bias;     // M - d
  std::int32_t factors;
};

constexpr FloatRemainder make_float_remainder(int p) {
  constexpr int upper = 0x4b43, one = 1 << 23;
  const int sums = float_remainder_quotients * p;
  constexpr float magic = std::bit_cast<float>(upper << 16);
  // p / 2 modulo p = 256, the one even number, is -p / 2: quotients err upwards there.
  const float inverse = p % 2 != 0 ? 1.0f / static_cast<float>(p) : (1 + 0x1p-23f) / static_cast<float>(p);
  for (int factor = 32767; factor > 0; --factor) {
    const int start = upper * factor, x = one + start % one;
    const double quotient = x * static_cast<double>(inverse);
    const auto d = static_cast<int>(quotient + 0.5);
    const double first = (quotient - d) * p;  // error of the quotient of y = 0, in units of 1 / p
    const double last = first + sums * (static_cast<double>(inverse) * p - 1);
    const double least = p % 2 != 0 ? -0.49 : 0.01, most = least + 0.98;
    if (first < least || first > most || last < least || last > most || x + sums >= 2 * one) continue;
    const int exponent = start / one - 150;
    return {start, inverse * static_cast<float>(power_of_two(-exponent)), magic - static_cast<float>(d),
            (-factor * 65536) | (-p & 0xffff)};
  }
  return {};
}

}  // namespace vernier
