// A factor for a whole operand, in sixteenths, that uses what powers of two leave of a budget: elements become
// RN(x sixteenths / 16) before their power of two (docs/accuracy.md, theorem 11).
#pragma once

#include <cstdint>
#include <span>

#include "residue/scale/scaling.hpp"

namespace vernier {

inline constexpr int no_factor = 16, most_factor = 31;  // sixteenths
inline constexpr int factor_sample = 8;                 // vectors that the choice looks at

// What the statistics of a vector become. The exponent stays: the largest element is below 2^(exponent + 2) then.
constexpr VectorStatistics multiplied(VectorStatistics v, int sixteenths) {
  const auto m = static_cast<std::uint64_t>(sixteenths);
  v.squares = (v.squares * m * m + 255) / 256;
  v.sum = (v.sum * m + 15) / 16;
  if (v.flatness != not_flat && sixteenths >= 23) --v.flatness;  // 2 log2(23 / 16) > 1, and half bits count
  return v;
}

// The factor with which the vectors of the sample lose least. Others are expected to have norms 2 % larger at most, and
// lose a bit where they have not.
int choose_factor(const ScalingRule& rule, std::int64_t k, std::span<const VectorStatistics> sample);

// Are all exponents such that scaling, multiplying and dividing stay within the normal numbers?
bool far_from_the_ends(std::span<const VectorStatistics> statistics);

}  // namespace vernier
