// What a GPU tells the host about a product before the host chooses its moduli (contract `exact`).
#pragma once

#include <cstdint>

#include "engine/panel.hpp"
#include "product/exact/device_counts.hpp"
#include "product/statistics.hpp"
#include "residue/residues.hpp"

namespace vernier::cuda {

// What the choice of moduli wants to know (residue/plan/exact_choice.hpp): about all vectors, and of a few rows and
// columns and the entries where they cross.
inline constexpr int sampled_side = 8;
inline constexpr int sampled_exponents = largest_exponent(max_limbs) + 2;

struct DeviceSample {
  int exact_log2_32[2];   // 32 times log2 of the norm from which on all elements of all vectors are integers
  unsigned nonfinite[2];  // vectors
  double dot[sampled_side][sampled_side], squares[2][sampled_side];  // of vectors over 2^exponent
  VectorStatistics statistics[2][sampled_side];
  int lowest_bit[2][sampled_side];
  unsigned needed[2][sampled_side]
                 [sampled_exponents];  // elements that are integers from this exponent of the largest on
};

// Sampled vectors of an operand.
constexpr int sample_size(std::int64_t vectors) {
  return static_cast<int>(vectors < sampled_side * 4 ? divide_up(vectors, 4) : sampled_side);
}
constexpr std::int64_t sampled_vector(int index, std::int64_t vectors) {
  return (2 * index + 1) * vectors / (2 * sample_size(vectors));
}

}  // namespace vernier::cuda
