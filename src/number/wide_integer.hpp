// Unsigned integers of a fixed number of 64-bit limbs: enough for the product of all moduli and a few bits more.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "number/moduli.hpp"

namespace vernier {

struct WideInteger {
  static constexpr int limbs = 6;           // 384 bits; the product of all moduli has 342
  std::array<std::uint64_t, limbs> limb{};  // least significant first

  constexpr bool operator==(const WideInteger&) const = default;

  constexpr int bit_width() const {
    for (int i = limbs - 1; i >= 0; --i)
      if (limb[i] != 0) return 64 * i + static_cast<int>(std::bit_width(limb[i]));
    return 0;
  }

  constexpr WideInteger& operator*=(std::uint32_t factor) {
    std::uint64_t carry = 0;
    for (auto& x : limb) {  // 64 x 32 bits in two halves: no 128-bit type in constant expressions of every compiler
      const std::uint64_t low = (x & 0xffffffffu) * factor + carry;
      const std::uint64_t high = (x >> 32) * factor + (low >> 32);
      x = (high << 32) | (low & 0xffffffffu);
      carry = high >> 32;
    }
    return *this;
  }

  constexpr int remainder(std::uint32_t divisor) const {
    std::uint64_t r = 0;
    for (int i = limbs - 1; i >= 0; --i) {
      r = ((r << 32) | (limb[i] >> 32)) % divisor;
      r = ((r << 32) | (limb[i] & 0xffffffffu)) % divisor;
    }
    return static_cast<int>(r);
  }

  // Bits first .. first + count - 1, count <= 64.
  constexpr std::uint64_t bits(int first, int count) const {
    const int i = first / 64, shift = first % 64;
    std::uint64_t x = i < limbs ? limb[i] >> shift : 0;
    if (shift != 0 && i + 1 < limbs) x |= limb[i + 1] << (64 - shift);
    return count == 64 ? x : x & ((std::uint64_t{1} << count) - 1);
  }
};

// The product of the first count moduli, without those in first .. last - 1.
constexpr WideInteger product_of_moduli(int count, int first = 0, int last = 0, ModuliList list = ModuliList::densest) {
  WideInteger product;
  product.limb[0] = 1;
  for (int q = 0; q < count; ++q)
    if (q < first || q >= last) product *= static_cast<std::uint32_t>(modulus_of(list, q));
  return product;
}

}  // namespace vernier
