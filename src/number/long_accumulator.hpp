// Exact sums of products of doubles: a fixed-point number long enough for all of them. Includes only std.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "number/ieee754.hpp"
#include "number/int128.hpp"

namespace vernier {

// A finite double as +-significand * 2^exponent, with an integer significand below 2^53.
struct DoubleParts {
  bool negative;
  std::uint64_t significand;
  int exponent;
};

constexpr DoubleParts parts_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto biased = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  return {(bits >> 63) != 0, biased == 0 ? fraction : fraction | (std::uint64_t{1} << 52), std::max(biased, 1) - 1075};
}

// sum of +-integer * 2^exponent, nothing rounded. Between 2^lowest and 2^highest there is room for
//     alpha * (2^40 products of two doubles) + beta * c       and for
//     alpha * (integer * 2^-(s + t)) + beta * c               with s + t <= 2560,
// the sums of the residue scheme (docs/accuracy.md, theorem 8). Positive and negative terms are kept apart: a sum that
// hovers about zero would carry through all limbs at every term.
class LongAccumulator {
 public:
  static constexpr int lowest = -3712, limbs = 108, highest = lowest + 64 * limbs;

  void add_product(double x, double y) {
    const DoubleParts a = parts_of(x), b = parts_of(y);
    const Uint128 product = static_cast<Uint128>(a.significand) * b.significand;
    const std::array<std::uint64_t, 2> words = {static_cast<std::uint64_t>(product),
                                                static_cast<std::uint64_t>(product >> 64)};
    if (product != 0) add(a.negative != b.negative, words, a.exponent + b.exponent);
  }

  // +-(integer of Words limbs, least significant first) * 2^exponent
  template <std::size_t Words>
  void add(bool negative, const std::array<std::uint64_t, Words>& integer, int exponent) {
    const int position = exponent - lowest - shift_;
    const int bit = position & 63;
    std::array<std::uint64_t, limbs>& sum = sums_[negative ? 1 : 0];
    auto word = static_cast<std::size_t>(position >> 6);
    std::uint64_t below = 0, carry = 0;
    for (std::size_t i = 0; i <= Words; ++i, ++word) {
      const std::uint64_t x = i < Words ? integer[i] : 0;
      const std::uint64_t part = bit == 0 ? x : (x << bit) | below;
      below = bit == 0 ? 0 : x >> (64 - bit);
      if (i == Words && part == 0 && carry == 0) return;
      carry = add_to(sum[word], part, carry);
    }
    for (; carry != 0; ++word) carry = add_to(sum[word], 0, carry);
  }

  // The whole sum times a finite factor.
  void multiply(double factor) {
    const DoubleParts f = parts_of(factor);
    for (auto& sum : sums_) {
      Uint128 carry = 0;
      for (auto& x : sum) {
        carry += static_cast<Uint128>(x) * f.significand;
        x = static_cast<std::uint64_t>(carry);
        carry >>= 64;
      }
    }
    if (f.negative) std::swap(sums_[0], sums_[1]);
    shift_ += f.exponent;
  }

  // -1, 0 or 1
  int sign() const {
    for (std::size_t i = limbs; i-- > 0;)
      if (sums_[0][i] != sums_[1][i]) return sums_[0][i] > sums_[1][i] ? 1 : -1;
    return 0;
  }

  // The sum rounded once; +0 if it is zero.
  template <class T>
  T rounded(Rounding rounding = Rounding::nearest) const {
    const int s = sign();
    if (s == 0) return T{0};
    const auto &large = sums_[s > 0 ? 0 : 1], &small = sums_[s > 0 ? 1 : 0];
    std::array<std::uint64_t, limbs> difference;
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < limbs; ++i) {
      difference[i] = large[i] - small[i] - borrow;
      borrow = large[i] < small[i] || (borrow != 0 && large[i] == small[i]) ? 1 : 0;
    }
    std::size_t top = limbs - 1;
    while (difference[top] == 0) --top;
    const int zeros = std::countl_zero(difference[top]);
    std::uint64_t leading = difference[top] << zeros, rest = 0;
    if (top > 0) {
      if (zeros != 0) leading |= difference[top - 1] >> (64 - zeros);
      rest = difference[top - 1] << zeros;
      for (std::size_t i = 0; i + 1 < top; ++i) rest |= difference[i];
    }
    const int exponent = lowest + shift_ + 64 * static_cast<int>(top) - zeros;
    return round_scaled<T>(s < 0, leading | (rest != 0 ? 1 : 0), exponent, rounding);
  }

 private:
  static std::uint64_t add_to(std::uint64_t& limb, std::uint64_t x, std::uint64_t carry) {
    const Uint128 sum = static_cast<Uint128>(limb) + x + carry;
    limb = static_cast<std::uint64_t>(sum);
    return static_cast<std::uint64_t>(sum >> 64);
  }

  std::array<std::array<std::uint64_t, limbs>, 2> sums_{};  // of the positive and of the negative terms
  int shift_ = 0;                                           // both stand for themselves times 2^shift
};

}  // namespace vernier
