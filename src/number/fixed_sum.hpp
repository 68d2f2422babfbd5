// An exact sum of numbers of moderate exponents: a fixed-point accumulator. Host and device, constexpr.
#pragma once

#include <cstdint>

#include "number/formats.hpp"

namespace vernier {

// Holds sums of up to 2^20 terms significand * 2^exponent with significand < 2^64 and -320 <= exponent <= 264, which
// covers the products of every format of 8 exponent bits.
class FixedSum {
 public:
  VERNIER_HD constexpr void add(bool negative, std::uint64_t significand, int exponent) {
    const int position = exponent - lowest;
    const int word = position / 64, bit = position % 64;
    std::uint64_t part[2] = {significand << bit, bit == 0 ? 0 : significand >> (64 - bit)};
    std::uint64_t carry = 0;
    for (int i = word; i < words; ++i) {
      const std::uint64_t x = i - word < 2 ? part[i - word] : 0;
      if (i - word >= 2 && carry == 0) break;
      const std::uint64_t old = words_[i];
      words_[i] = negative ? old - x - carry : old + x + carry;
      carry = negative ? (old < x || (carry != 0 && old == x)) : (words_[i] < old || (carry != 0 && words_[i] == old));
    }
  }

  VERNIER_HD constexpr bool is_zero() const {
    for (int i = 0; i < words; ++i)
      if (words_[i] != 0) return false;
    return true;
  }

  // The sum as sign and magnitude: magnitude * 2^exponent, where magnitude holds the leading bits and bit 0 stands for
  // "something lies below" (its place is far under every rounding's).
  struct Leading {
    bool negative = false;
    Uint128 magnitude = 0;
    int exponent = 0;
  };
  VERNIER_HD constexpr Leading leading() const {
    Leading r;
    r.negative = (words_[words - 1] >> 63) != 0;
    std::uint64_t m[words] = {};
    std::uint64_t carry = 1;
    for (int i = 0; i < words; ++i) {
      m[i] = r.negative ? ~words_[i] + carry : words_[i];
      carry = carry != 0 && words_[i] == 0 ? 1 : 0;
    }
    int top = words - 1;
    while (top > 1 && m[top] == 0) --top;
    r.magnitude = (Uint128{m[top]} << 64) | m[top - 1];
    r.exponent = lowest + 64 * (top - 1);
    bool below = false;
    int low = top - 1;
    // A small top word leaves few bits: take in the next one.
    if (low > 0 && m[top] >> 56 == 0) {
      r.magnitude = (r.magnitude << 8) | (m[low - 1] >> 56);
      r.exponent -= 8;
      below = (m[low - 1] << 8) != 0;
      --low;
    }
    for (int i = 0; i < low; ++i) below = below || m[i] != 0;
    if (below) r.magnitude |= 1;
    return r;
  }

 private:
  static constexpr int words = 10;
  static constexpr int lowest = -320;
  std::uint64_t words_[words] = {};
};

}  // namespace vernier
