// Sums of a few products by residues, taken modulo two p at once on the way into the Chinese remainder: what
// recombination does with the products of Strassen-Winograd. Host and device, the same bits on both.
//
// A product counts u = r_a p_b + r_b p_a modulo p_a p_b (crt.hpp). Sums of up to four of them are brought back
// to |u| <= p_a p_b / 2 as number/byte_reduction.hpp does it for one p, and leave as doubles.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "number/host_device.hpp"
#include "number/moduli.hpp"
#include "residue/recombine/crt.hpp"

namespace vernier {

inline constexpr int most_summed_products = 4;

struct PairReduction {
  std::int32_t start;  // bits of the float D: 2^23 <= D + u < 2^24, D a multiple of p_a p_b
  float inverse, bias;
  std::int32_t minus_product;  // - p_a p_b
  double back;                 // what exact_sum has to take off
};

// The turned word start + sum of u -> the sum modulo p_a p_b.
VERNIER_HD inline double exact_sum(std::int32_t sum, const PairReduction& r) {
#if defined(__CUDA_ARCH__)
  const std::int32_t quotient = __float_as_int(__fmaf_rn(__int_as_float(sum), r.inverse, r.bias));
#else
  const auto quotient = std::bit_cast<std::int32_t>(std::fma(std::bit_cast<float>(sum), r.inverse, r.bias));
#endif
  const std::uint32_t turned = static_cast<std::uint32_t>(sum) +
                               static_cast<std::uint32_t>(r.minus_product) * static_cast<std::uint32_t>(quotient);
  return std::bit_cast<double>(std::uint64_t{0x43300000} << 32 | turned) - r.back;
}

// For moduli 2 g and 2 g + 1 of `count`; the second is 1 if there is none.
inline PairReduction pair_reduction(int count, int g) {
  const int a = moduli[static_cast<std::size_t>(2 * g)],
            b = 2 * g + 1 < count ? moduli[static_cast<std::size_t>(2 * g + 1)] : 1;
  constexpr std::uint32_t one = 0x4b000000, quotient_of_zero = 0x4b400000;  // bits of 2^23 and of 1.5 * 2^23
  constexpr int most = most_summed_products << 16;                          // |u| < 2^16
  const int product = a * b;
  PairReduction r{};
  // `turned` is the sum plus a number that depends on D: one that leaves room on both sides.
  std::uint32_t added = 0;
  int d = ((1 << 23) + most + product - 1) / product * product;
  for (;; d += product) {
    added = one + static_cast<std::uint32_t>(d - (1 << 23)) - static_cast<std::uint32_t>(product) * quotient_of_zero;
    if (added > most && added < ~std::uint32_t{0} - most) break;
  }
  r.start = static_cast<std::int32_t>(one) + (d - (1 << 23));
  r.inverse = static_cast<float>(1.0 / product);
  r.bias = 12582912.0f - static_cast<float>(d / product);
  r.minus_product = -product;
  r.back = 0x1p52 + added;
  return r;
}

}  // namespace vernier
