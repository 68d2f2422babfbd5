// What is done to one element when vectors are split into slices, and the order of the sums that say when to stop. Host
// and device, the same bits on both.
#pragma once

#include <cmath>
#include <cstdint>

#include "number/host_device.hpp"
#include "number/ieee754.hpp"

namespace vernier {

// The smallest unit 2^u with |RN(x / 2^u)| < 2^bits for all |x| <= most, most > 0.
VERNIER_HD inline int slice_unit(double most, int bits) {
  const int unit = exponent_of<double>(magnitude_bits(most)) + 1 - bits;
  const bool carries = rint(ldexp(most, -unit)) >= power_of_two(bits);
  return unit + (carries ? 1 : 0);
}

// Sums along k go over 128 partial sums, elements l, l + 128, ... each, which are added pairwise: i and i + d for d =
// 64, 32, ... 1. Sums over vectors go over blocks of 64, one after another.
inline constexpr int slice_sum_width = 128;
inline constexpr int slice_sum_vectors = 64;

// One stored product of slices p and q, counted from 0, in the order of the sum.
struct SliceTerm {
  std::int64_t product;  // which of the stored ones
  int p, q;
};

}  // namespace vernier
