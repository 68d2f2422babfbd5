// Sums that own their digits (number/digit_sum.hpp). Host and device, constexpr; includes only std.
#pragma once

#include <array>
#include <cstdint>

#include "number/digit_sum.hpp"

namespace vernier {

// sum of +-integer * 2^exponent, nothing rounded, by digits from 2^Lowest on.
template <int Lowest, int Digits>
class OwnDigits {
 public:
  static constexpr int lowest = Lowest, digits = Digits;

  VERNIER_HD constexpr void add(bool negative, std::uint64_t integer, int exponent) {
    add_wide(negative, integer, exponent);
  }
  // +-(integer of Words limbs, least significant first) * 2^exponent
  template <std::size_t Words>
  constexpr void add(bool negative, const std::array<std::uint64_t, Words>& integer, int exponent) {
    for (const std::uint64_t limb : integer) {
      add_wide(negative, limb, exponent);
      exponent += 64;
    }
  }
  constexpr void add_product(double x, double y) {
    const DoubleParts a = parts_of(x), b = parts_of(y);
    add_wide(a.negative != b.negative, static_cast<Uint128>(a.significand) * b.significand, a.exponent + b.exponent);
  }

  // The whole sum times a finite factor.
  constexpr void multiply(double factor) {
    const DoubleParts f = parts_of(factor);
    const bool negative = order_digits(digits, word());
    Uint128 carry = 0;
    for (std::int64_t& digit : words_) {
      carry += static_cast<Uint128>(digit) * f.significand;
      digit = static_cast<std::int64_t>(carry & static_cast<Uint128>(digit_mask));
      carry >>= digit_bits;
    }
    if (negative != f.negative) negate();
    shift_ += f.exponent;
  }

  VERNIER_HD constexpr LeadingBits leading() const {
    OwnDigits ordered = *this;
    const bool negative = order_digits(digits, ordered.word());
    return leading_bits(negative, lowest + shift_, digits, ordered.word());
  }

  // -1, 0 or 1
  constexpr int sign() const {
    const Int128 value = leading().value;
    return value > 0 ? 1 : value < 0 ? -1 : 0;
  }

  // The sum rounded once; +0 if it is zero.
  template <class T>
  constexpr T rounded(Rounding rounding = Rounding::nearest) const {
    const LeadingBits x = leading();
    return x.value == 0 ? T{0} : round_wide<T>(x.value, x.exponent, rounding);
  }

 private:
  static constexpr int terms_in_a_word = 1 << 30;

  VERNIER_HD constexpr auto word() {
    return [this](int digit) -> std::int64_t& { return words_[digit]; };
  }

  // integer < 2^126
  VERNIER_HD constexpr void add_wide(bool negative, Uint128 integer, int exponent) {
    if (++terms_ == terms_in_a_word) {
      if (order_digits(digits, word())) negate();
      terms_ = 2;
    }
    const auto position = static_cast<unsigned>(exponent - lowest - shift_), bit = position % digit_bits;
    const auto low = static_cast<std::uint64_t>(integer), high = static_cast<std::uint64_t>(integer >> 64);
    const std::uint64_t parts[3] = {low << bit, high << bit | low >> 1 >> (63 - bit), high >> 1 >> (63 - bit)};
    const std::int64_t sign = negative ? -1 : 0;
    std::int64_t* to = words_ + position / digit_bits;
    VERNIER_UNROLL
    for (int i = 0; i < 5; ++i) {
      const auto part = static_cast<std::int64_t>(parts[i / 2] >> (i % 2 * digit_bits) & digit_mask);
      to[i] += (part ^ sign) - sign;
    }
  }
  VERNIER_HD constexpr void negate() {
    for (std::int64_t& digit : words_) digit = -digit;
  }

  std::int64_t words_[Digits + 4] = {};
  int shift_ = 0;  // the sum stands for itself times 2^shift
  int terms_ = 0;  // that words have taken since they were in order
};

// Between 2^lowest and 2^3200 there is room for
//     alpha * (2^40 products of two doubles) + beta * c       and for
//     alpha * (integer * 2^-(s + t)) + beta * c               with s + t <= 2560,
// the sums of the residue scheme (docs/accuracy.md, theorem 8).
using LongAccumulator = OwnDigits<-3712, 216>;

// Room for 2^20 terms of exponents -320 to 264: products of every format of 8 exponent bits.
using ShortAccumulator = OwnDigits<-320, 20>;

}  // namespace vernier
