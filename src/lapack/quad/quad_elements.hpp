// What factorisations ask of elements of dd and binary128 beside their arithmetic.
#pragma once

#include <bit>
#include <cmath>

#include "residue/binary128/bits.hpp"
#include "residue/quad/quad_update.hpp"

namespace vernier {

inline bool positive(const dd& x) { return x.hi > 0; }
#if defined(__SIZEOF_FLOAT128__)
inline bool positive(binary128 x) { return x > 0; }
inline binary128 magnitude(binary128 x) { return x < 0 ? -x : x; }
inline binary128 binary128_power(int exponent) {  // a normal number
  return std::bit_cast<binary128>(static_cast<Uint128>(exponent + QuadBits::bias) << QuadBits::fraction_bits);
}
inline binary128 root(binary128 x) {  // x > 0; two steps of Newton's method from 53 bits
  const int half = QuadBits(std::bit_cast<Uint128>(x)).exponent() / 2;
  const binary128 near_one = x * binary128_power(-half) * binary128_power(-half);
  binary128 s = std::sqrt(static_cast<double>(near_one));
  for (int step = 0; step < 2; ++step) s = (s + near_one / s) / 2;
  return s * binary128_power(half);
}
#endif

}  // namespace vernier
