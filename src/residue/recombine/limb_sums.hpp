// The tables of crt.hpp for any number of moduli: C as sums of limbs in double, for instruction sets without products
// of integers that are wide enough.
#pragma once

#include <cstdint>

#include "residue/recombine/recombine.hpp"

namespace vernier {

struct LimbSumTables {
  static constexpr int max_pairs = (max_moduli + 1) / 2, max_limbs = 11;

  explicit LimbSumTables(const ResidueSystem& system);

  int pairs, limbs, width;                 // width: bits of a limb
  std::uint32_t pair[max_pairs];           // p_b in the low half, p_a in the high one
  double weight[max_pairs][max_limbs];     // P / (p_a p_b), least significant limb first
  double product[max_limbs], inverse_top;  // P; 2^(width (limbs - 1)) / P
};

// For so many moduli; made once, thread-safe.
const LimbSumTables& limb_sum_tables(int count);

// C of one element, rounded once: RN(2^exponent C). residues: as in recombine_entry().
template <class T>
T rounded_entry(const RecombineTables& tables, const std::int8_t* residues, std::size_t plane_bytes, int exponent);

// Entry e of a block from the sums of an integer's limbs, stride apart.
void put_leading(const LimbSumTables& tables, const double* sums, std::size_t stride, std::size_t e, LeadingTile& out);

}  // namespace vernier
