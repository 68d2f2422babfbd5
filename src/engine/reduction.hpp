// int32 sums modulo p, one at a time; what the engines without AVX-512 use and the others are held against.
//
// Everywhere a unit is four columns of a 16 x 16 tile of C: 64 sums, [4 columns][16 rows], become 64 consecutive
// residues. Internal linkage: see int8_engine.hpp.
#pragma once

#include <cstdint>

#include "engine/int8_engine.hpp"
#include "number/moduli.hpp"

namespace vernier {

inline constexpr int unit_elements = 64;
inline constexpr int units = block_elements / unit_elements;

struct Reduction {
  std::int32_t modulus, smallest, largest;
  double inverse;
};

static inline Reduction make_reduction(int modulus) {
  return {modulus, smallest_residue(modulus), largest_residue(modulus), 1.0 / modulus};
}

static inline std::int32_t to_symmetric(std::int32_t x, const Reduction& r) {  // from -3/2 p < x < 3/2 p
  x -= x > r.largest ? r.modulus : 0;
  return x + (x < r.smallest ? r.modulus : 0);
}

// The quotient is truncated, and one too small in magnitude at most: the remainder lies in -p .. p.
static inline std::int32_t reduce(std::int32_t x, const Reduction& r) {
  const auto quotient = static_cast<std::int32_t>(x * r.inverse);
  return to_symmetric(x - quotient * r.modulus, r);
}

// Writes a unit in the order of residue_index().
static inline void reduce_unit(const std::int32_t* sums, const Reduction& r, bool accumulate, std::int8_t* out) {
  std::int8_t residues[unit_elements];
  for (int e = 0; e < unit_elements; ++e) residues[e] = static_cast<std::int8_t>(reduce(sums[e], r));
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 16; ++i) {
      std::int8_t& element = out[(i >> 2) * 16 + j * 4 + (i & 3)];
      const std::int8_t residue = residues[j * 16 + i];
      element = accumulate ? static_cast<std::int8_t>(to_symmetric(residue + element, r)) : residue;
    }
}

// Does the nearest integer to x * fl32(1 / p) equal that to x / p for all |x| <= k ((p - 1) / 2)^2? x / p is at least 1
// / (2 p) away from the midpoint of two integers (p odd), and x must be exact in fp32.
static inline bool fp32_quotient_is_exact(int modulus, std::int64_t k) {
  const double error = static_cast<double>(1.0f / static_cast<float>(modulus)) - 1.0 / modulus;
  const double largest = static_cast<double>(k) * largest_residue(modulus) * largest_residue(modulus);
  return largest <= 0x1p24 && largest * (error < 0 ? -error : error) < 0.49 / modulus;
}

}  // namespace vernier
