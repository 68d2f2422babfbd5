// An integer given by its bytes -> its residue modulo p as one byte: a dot product of bytes with byte weights, one
// fused multiply-add in fp32 and one integer multiply-add. Host and device, the same bits on both.
//
// y = sum of b_i w_i, w_i = 256^i factor mod p, lands in the bits of the float D + y, 2^23 <= D + y < 2^24, D a
// multiple of p. Multiplied by `inverse` and added to `bias` = 1.5 * 2^23 - D / p, it leaves n = rint(y / p) in the low
// bits of another float, and y - n p in the low byte. `inverse` is 1 / p rounded up, so that the quotient errs to one
// side only, by less than 1.5 / p; the byte has room for the remainder that results.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "number/host_device.hpp"
#include "number/moduli.hpp"

namespace vernier {

// Which bytes stand for a residue.
enum class ByteForm {
  symmetric,  // -128 .. 127, as int8
  natural,    // 0 .. 255, as uint8: not always below p
};

template <int Words>
struct ByteReduction {
  std::uint32_t weights[Words];  // four int8 each
  std::int32_t start;            // bits of the float D, less what the words were offset by
  float inverse, bias;
  std::int32_t minus_modulus;
};

// c + sum of the four bytes of `bytes`, unsigned, times those of `weights`, signed.
VERNIER_HD inline std::int32_t dot_bytes(std::uint32_t bytes, std::uint32_t weights, std::int32_t c) {
#if defined(__CUDA_ARCH__)
  std::int32_t d;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(bytes), "r"(weights), "r"(c));
  return d;
#else
  for (int i = 0; i < 32; i += 8)
    c += static_cast<std::int32_t>(bytes >> i & 255) * static_cast<std::int8_t>(weights >> i & 255);
  return c;
#endif
}

// Only the low byte of the result means anything. sum: start + y.
template <int Words>
VERNIER_HD inline std::uint32_t remainder_byte(std::int32_t sum, const ByteReduction<Words>& r) {
#if defined(__CUDA_ARCH__)
  const std::int32_t quotient = __float_as_int(__fmaf_rn(__int_as_float(sum), r.inverse, r.bias));
#else
  const auto quotient = std::bit_cast<std::int32_t>(std::fma(std::bit_cast<float>(sum), r.inverse, r.bias));
#endif
  return static_cast<std::uint32_t>(sum) +
         static_cast<std::uint32_t>(r.minus_modulus) * static_cast<std::uint32_t>(quotient);
}

// What an unsigned word of the integer stands for: 2^shift (word - 2^offset_bit), or 2^shift word.
struct WordPlace {
  int shift = 0;
  int offset_bit = -1;  // -1: no offset; may lie beyond the word's own bits
};

namespace detail {

constexpr int power_mod(int base, int exponent, int p) {
  int result = symmetric_residue(1, p);
  for (; exponent > 0; exponent /= 2, base = multiply_mod(base, base, p))
    if (exponent % 2 == 1) result = multiply_mod(result, base, p);
  return result;
}

// The least d >= least with d = 0 modulo p and d = rest modulo 256; p odd, or p = 256 and rest = 0.
constexpr int multiple_with_low_byte(int p, int least, int rest) {
  const int d = (least + p - 1) / p * p;
  if (p % 2 == 0) return d;
  unsigned inverse = static_cast<unsigned>(p);  // modulo 8; each step doubles the bits
  for (int i = 0; i < 2; ++i) inverse *= 2 - static_cast<unsigned>(p) * inverse;
  return d + p * static_cast<int>(static_cast<unsigned>(rest - d) * inverse % 256);
}

}  // namespace detail

// Of a sum of up to `terms` such integers, of which `net` more are added than taken away.
template <int Words>
ByteReduction<Words> make_byte_reduction(int p, int factor, const std::array<WordPlace, Words>& places, ByteForm form,
                                         int terms = 1, int net = 1) {
  ByteReduction<Words> r{};
  int added = 0;
  for (int w = 0; w < Words; ++w) {
    const WordPlace& place = places[static_cast<std::size_t>(w)];
    const int unit = multiply_mod(factor, detail::power_mod(2, place.shift, p), p);
    int weight = unit;
    for (int i = 0; i < 4; ++i, weight = multiply_mod(weight, 256, p))
      r.weights[w] |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(weight)) << (8 * i);
    if (place.offset_bit >= 0) added += multiply_mod(unit, detail::power_mod(2, place.offset_bit, p), p);
  }
  // D = 0 modulo p and, in the natural form, 128 modulo 256, which moves the byte by as much. Sums of all weights stay
  // within +- terms * Words * 4 * 255 * 128 < terms * Words * 2^17 of it.
  constexpr std::int32_t one = 0x4b000000;  // bits of 2^23
  const int shift = form == ByteForm::natural && p != 256 ? 128 : 0;
  const int d = detail::multiple_with_low_byte(p, (1 << 23) + terms * Words * (1 << 17) + 1024, shift);
  r.start = one + (d - (1 << 23)) - shift - symmetric_residue(net * added, p);
  r.inverse = static_cast<float>(1.0 / p);
  if (static_cast<double>(r.inverse) * p < 1) r.inverse = std::nextafter(r.inverse, 1.0f);
  r.bias = 12582912.0f - static_cast<float>(d / p);
  r.minus_modulus = -p;
  return r;
}

}  // namespace vernier
