// Exact sums as digits of 32 bits in signed words of 64, so that a term needs no carry: 2^30 terms fit before the
// digits are put in order. Host and device; includes only std.
//
// Where the words lie is the caller's business: word(d) is a reference to the word of digit d, which counts
// 2^(lowest + 32 d).
#pragma once

#include <bit>
#include <cstdint>

#include "number/bracket.hpp"
#include "number/host_device.hpp"
#include "number/ieee754.hpp"

namespace vernier {

inline constexpr int digit_bits = 32;
inline constexpr std::int64_t digit_mask = (std::int64_t{1} << digit_bits) - 1;

// Adds +-integer * 2^(lowest + position) to the digits first .. last - 1; its other digits are left out, for another
// call. position >= 0, integer < 2^126.
template <class Word>
VERNIER_HD constexpr void add_to_digits(bool negative, Uint128 integer, int position, int first, int last, Word word) {
  const int shift = position % digit_bits;
  int digit = position / digit_bits;
  const Uint128 low = integer << shift;  // and what the shift pushes out
  const auto high = static_cast<std::uint64_t>(shift == 0 ? 0 : integer >> (128 - shift));
  const std::uint64_t parts[3] = {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(low >> 64), high};
  VERNIER_UNROLL
  for (int i = 0; i < 5; ++i, ++digit) {
    const auto part = static_cast<std::int64_t>(parts[i / 2] >> (i % 2 * digit_bits) & digit_mask);
    if (part != 0 && digit >= first && digit < last) word(digit) += negative ? -part : part;
  }
}

// Puts the digits in order: afterwards 0 <= word(d) < 2^32, and they are those of the sum's magnitude. Returns whether
// it is negative. The sum must be below 2^(32 digits) in magnitude.
template <class Word>
VERNIER_HD constexpr bool order_digits(int digits, Word word) {
  std::int64_t carry = 0;
  for (int d = 0; d < digits; ++d) {
    const std::int64_t sum = word(d) + carry;
    word(d) = sum & digit_mask;
    carry = sum >> digit_bits;
  }
  if (carry >= 0) return false;
  std::int64_t borrow = 1;  // all digits turned, plus one
  for (int d = 0; d < digits; ++d) {
    const std::int64_t sum = (~word(d) & digit_mask) + borrow;
    word(d) = sum & digit_mask;
    borrow = sum >> digit_bits;
  }
  return true;
}

// A number by its leading bits, 95 or more if it has them: value * 2^exponent, exactly, or with value's last bit set
// for all that was cut off below. |value| < 2^126.
struct LeadingBits {
  Int128 value = 0;
  int exponent = 0;
  bool cut = false;
};

// Of ordered digits.
template <class Word>
VERNIER_HD constexpr LeadingBits leading_bits(bool negative, int lowest, int digits, Word word) {
  int top = digits - 1;
  while (top > 0 && word(top) == 0) --top;
  int last = top < 2 ? 0 : top - 2;
  Uint128 magnitude = 0;
  for (int d = top; d >= last; --d) magnitude = magnitude << digit_bits | static_cast<Uint128>(word(d));
  LeadingBits r;
  r.exponent = lowest + digit_bits * last;
  if (last > 0) {  // as much of the next digit as there is always room for
    constexpr int room = 30, rest = digit_bits - room;
    --last;
    magnitude = magnitude << room | static_cast<Uint128>(word(last) >> rest);
    r.exponent -= room;
    r.cut = (word(last) & ((std::int64_t{1} << rest) - 1)) != 0;
    for (int d = 0; d < last; ++d) r.cut = r.cut || word(d) != 0;
    if (r.cut) magnitude |= 1;
  }
  r.value = negative ? -static_cast<Int128>(magnitude) : static_cast<Int128>(magnitude);
  return r;
}

// A finite number as +-significand * 2^exponent, with the type's own precision.
struct ElementParts {
  bool negative;
  std::uint64_t significand;
  int exponent;
};
template <class T>
VERNIER_HD constexpr ElementParts element_parts(T x) {
  using F = Ieee754<T>;
  using Bits = typename F::Bits;
  const Bits magnitude = magnitude_bits(x);
  const auto biased = static_cast<int>(magnitude >> (F::precision - 1));
  const Bits fraction = magnitude & ((Bits{1} << (F::precision - 1)) - 1);
  return {magnitude != std::bit_cast<Bits>(x), biased == 0 ? fraction : fraction | Bits{1} << (F::precision - 1),
          (biased == 0 ? 1 : biased) - F::max_exponent - (F::precision - 1)};
}

// The ordered digits of a sum, times a finite factor: into digits of another place, from `to_lowest` on, added to what
// they hold.
template <class From, class To>
VERNIER_HD constexpr void multiply_digits(bool negative, int lowest, int digits, From from, double factor,
                                          int to_lowest, int to_digits, To to) {
  const DoubleParts f = parts_of(factor);
  for (int d = 0; d < digits; ++d) {
    const auto digit = static_cast<std::uint64_t>(from(d));
    if (digit == 0) continue;
    const Uint128 product = static_cast<Uint128>(digit) * f.significand;
    add_to_digits(negative != f.negative, product, lowest + digit_bits * d + f.exponent - to_lowest, 0, to_digits, to);
  }
}

}  // namespace vernier
