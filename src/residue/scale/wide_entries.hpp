// What the vectors' proofs say together about the entries of a product: which are wide, and how wide. Host and device;
// scaling.cpp and route_choice.cu go over the vectors.
#pragma once

#include <cmath>
#include <cstdint>

#include "residue/scale/vector_needs.hpp"

namespace vernier {

// A larger share of wide entries than this makes all of them wide: blocks of C are multiplied whole, so that scattered
// wide vectors would have nearly all of C multiplied twice.
inline constexpr double most_wide_entries = 1.0 / 16;

// kinds[s]: how many vectors have the set s of proofs.
template <class Count>
VERNIER_HD constexpr bool disjoint_from_some(unsigned proofs, const Count* kinds) {
  for (unsigned p = 0; p < proof_sets; ++p)
    if (kinds[p] != 0 && (proofs & p) == 0) return true;
  return false;
}

template <class Count>
VERNIER_HD constexpr double wide_entries(const Count* rows, const Count* columns) {
  double count = 0;
  for (unsigned p = 0; p < proof_sets; ++p)
    for (unsigned q = 0; q < proof_sets; ++q)
      if ((p & q) == 0) count += static_cast<double>(rows[p]) * static_cast<double>(columns[q]);
  return count;
}

// An upper bound of log2 of the 2-norm at the given scaled exponent, after the rounding to integers. Host and device
// may differ in its last bits, and so in the number of moduli, but not in the product.
VERNIER_HD inline double norm_log2(const VectorStatistics& v, std::int64_t k, int exponent) {
  const double norm = std::sqrt(static_cast<double>(v.squares)) * std::ldexp(1.0, -quantum_bits);
  const double rounding = std::sqrt(static_cast<double>(k)) * 0.5;
  return exponent + std::log2(norm + std::ldexp(rounding, -exponent)) + 1e-9;
}

}  // namespace vernier
