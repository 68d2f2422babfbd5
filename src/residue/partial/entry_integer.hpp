// The integer that the residues of one element stand for, in digits of 32 bits: what a GPU rounds, and sends as words.
// Host and device.
//
//     C = sum_q r_q P / p_q - kappa P,   kappa = rint(sum_q r_q / p_q)
//
// |C| < P (1 - 2^-20) / 2 (residues.hpp) leaves the quotient more room than its roundings take.
#pragma once

#include <cmath>
#include <cstdint>

#include "number/host_device.hpp"
#include "number/ieee754.hpp"
#include "residue/residues.hpp"

namespace vernier {

inline constexpr int entry_digits = 11;  // of 32 bits; the product of all moduli has 342

struct EntryTables {
  explicit EntryTables(const ResidueSystem& system) : moduli(system.count) {
    for (int l = 0; l < entry_digits; ++l) product[l] = digit_of(system.product, l);
    for (int q = 0; q < moduli; ++q) {
      const auto i = static_cast<std::size_t>(q);
      inverse[q] = 1.0 / modulus_of(system.list, q);
      for (int l = 0; l < entry_digits; ++l) cofactor[q][l] = digit_of(system.cofactor[i], l);
    }
  }

  int moduli;
  std::uint32_t product[entry_digits] = {};               // P
  std::uint32_t cofactor[max_moduli][entry_digits] = {};  // P / p_q
  double inverse[max_moduli] = {};                        // 1 / p_q

 private:
  static std::uint32_t digit_of(const WideInteger& x, int l) { return static_cast<std::uint32_t>(x.bits(32 * l, 32)); }
};

struct EntryInteger {
  bool negative = false;
  std::uint32_t digit[entry_digits] = {};  // of the magnitude, the least significant first

  VERNIER_HD std::uint64_t at(int l) const { return l >= 0 && l < entry_digits ? digit[l] : 0; }
  // Bits first .. first + count - 1 of the magnitude, count < 64.
  VERNIER_HD std::uint64_t bits(int first, int count) const {
    const int l = first / 32, shift = first % 32;
    std::uint64_t x = (at(l) | at(l + 1) << 32) >> shift;
    if (shift != 0) x |= at(l + 2) << (64 - shift);
    return x & ((std::uint64_t{1} << count) - 1);
  }
};

VERNIER_HD inline EntryInteger entry_integer(const EntryTables& tables, const std::int8_t* residues) {
  std::int64_t sum[entry_digits] = {};
  double quotient = 0;
  for (int q = 0; q < tables.moduli; ++q) {
    const std::int64_t r = residues[q];
    quotient += static_cast<double>(r) * tables.inverse[q];
    VERNIER_UNROLL
    for (int l = 0; l < entry_digits; ++l) sum[l] += r * tables.cofactor[q][l];
  }
  const auto kappa = static_cast<std::int64_t>(rint(quotient));
  EntryInteger x;
  std::int64_t carry = 0;
  VERNIER_UNROLL
  for (int l = 0; l < entry_digits; ++l) {
    const std::int64_t all = sum[l] - kappa * tables.product[l] + carry;
    x.digit[l] = static_cast<std::uint32_t>(all);
    carry = all >> 32;
  }
  x.negative = carry < 0;
  if (!x.negative) return x;
  std::uint64_t borrow = 1;  // all digits turned, plus one
  VERNIER_UNROLL
  for (int l = 0; l < entry_digits; ++l) {
    borrow += static_cast<std::uint32_t>(~x.digit[l]);
    x.digit[l] = static_cast<std::uint32_t>(borrow);
    borrow >>= 32;
  }
  return x;
}

// RN(2^exponent x)
template <class R>
VERNIER_HD R rounded_entry(const EntryInteger& x, int exponent) {
  int top = entry_digits - 1;
  while (top > 0 && x.digit[top] == 0) --top;
  std::uint64_t significand = x.at(top) << 32 | x.at(top - 1);
  if (significand == 0) return R{0};
  const int shift = leading_zeros(significand);
  const std::uint64_t next = x.at(top - 2) << shift;  // below 2^63: the leading digit is not zero, or has none below it
  significand = significand << shift | next >> 32;
  bool rest = static_cast<std::uint32_t>(next) != 0;
  for (int l = 0; l < top - 2; ++l) rest = rest || x.digit[l] != 0;
  return round_scaled<R>(x.negative, significand | (rest ? 1 : 0), exponent + 32 * (top - 1) - shift);
}

// ---- words (docs/distributed.md): signed limbs
// -----------------------------------------------------------------------

inline constexpr int limb_width = 59, most_summed_parties = 16;  // whose limbs add up without overflow

VERNIER_HD inline void to_limbs(const EntryInteger& x, int limbs, std::int64_t* words) {
  for (int l = 0; l < limbs; ++l) {
    const auto limb = static_cast<std::int64_t>(x.bits(limb_width * l, limb_width));
    words[l] = x.negative ? -limb : limb;
  }
}

// What turns limbs into residues, those of sums of products: of the integer times (P / p)^-1.
struct LimbResidues {
  explicit LimbResidues(const ResidueSystem& system) {
    for (int q = 0; q < system.count; ++q) {
      const int p = modulus_of(system.list, q);
      modulus[q] = static_cast<std::int16_t>(p);
      base[q] = static_cast<std::int16_t>(power_of_two_mod(limb_width, p));
      factor[q] = static_cast<std::int16_t>(system.row_factor[static_cast<std::size_t>(q)]);
    }
  }

  VERNIER_HD std::int8_t residue(const std::int64_t* words, int limbs, int q) const {
    const int p = modulus[q];
    int r = 0;
    for (int l = limbs - 1; l >= 0; --l) r = symmetric_residue(r * base[q] + words[l] % p, p);
    return static_cast<std::int8_t>(multiply_mod(r, factor[q], p));
  }

  std::int16_t modulus[max_moduli] = {}, base[max_moduli] = {}, factor[max_moduli] = {};
};

}  // namespace vernier
