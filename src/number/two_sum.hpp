// Sums whose rounding errors are kept (Knuth's TwoSum). Host and device: the same bits.
#pragma once

#include <cmath>

#include "number/host_device.hpp"

namespace vernier {

// sum + rest stays what it was, exactly: sum is rounded to nearest, rest is what that took. Nothing overflows.
VERNIER_HD inline void two_sum(float& sum, float& rest) {
  const float s = sum + rest, back = s - sum;
  rest = (sum - (s - back)) + (rest - back);
  sum = s;
}

// The same where |sum| >= |rest|, else off by a rounding of rest (Dekker's Fast2Sum).
VERNIER_HD inline void fast_two_sum(float& sum, float& rest) {
  const float s = sum + rest;
  rest = rest - (s - sum);
  sum = s;
}

// The end of a compensated sum of an engine that cuts (vernier/split.hpp, Sum::carry).
VERNIER_HD inline float compensated_end(float sum, float rest, float corrections) {
  fast_two_sum(sum, rest);                // as another run of zeros would
  const float cut = rest != 0 ? sum : 0;  // a sum that is exact so far stays: A I is A
  return sum + std::fma(cut, 0x1p-25f, corrections + rest);
}

}  // namespace vernier
