// What a GPU tells the host about a product before the host chooses its moduli (contract `exact`).
#pragma once

#include <cstdint>

#include "base/panel.hpp"
#include "scheme/residues.hpp"
#include "scheme/statistics.hpp"

namespace vernier::cuda {

// Of a vector's finite elements; all zeros before anything is counted.
struct DeviceGrain {
  int depth = 0;         // lowest_grain - depth is the exponent of the lowest bit that is set; 0: there is none
  unsigned inexact = 0;  // elements that the given scale does not make integers

  static constexpr int lowest_grain = 1 << 12;
  constexpr int exponent() const { return lowest_grain - depth; }
};

// Of the inexact elements of a vector so many are remembered by their place along k.
inline constexpr int kept_places = 128;

// Of all vectors of an operand.
struct DeviceGrains {
  DeviceGrain* counts = nullptr;
  std::uint32_t* places = nullptr;  // [vector][kept_places], in any order
};

// What the choice of moduli wants to know (plan/exact_choice.hpp): about all vectors, and of a few rows and columns and
// the entries where they cross.
inline constexpr int sampled_side = 8;
inline constexpr int sampled_exponents = largest_exponent(max_limbs) + 2;

struct DeviceSample {
  int exact_log2_32[2];   // 32 times log2 of the norm from which on all elements of all vectors are integers
  unsigned nonfinite[2];  // vectors
  double dot[sampled_side][sampled_side], squares[2][sampled_side];  // of vectors over 2^exponent
  VectorStatistics statistics[2][sampled_side];
  int grain[2][sampled_side];
  unsigned needed[2][sampled_side]
                 [sampled_exponents];  // elements that are integers from this exponent of the largest on
};

// A block of the kernel that counts alone takes so many vectors and so much of k of each.
inline constexpr int grain_vectors = 32;
inline constexpr std::int64_t grain_k = 1024;
constexpr std::int64_t grain_blocks(std::int64_t vectors, std::int64_t k) {
  return divide_up(vectors, std::int64_t{grain_vectors}) * divide_up(k, grain_k);
}

// Entries that the residues leave open: of a block, those of them that a look at what was lost leaves open too; and
// both of all of C.
struct DeviceOpenCounts {
  unsigned long long open, after_look, total_open, total_summed;
};

// Sampled vectors of an operand.
constexpr int sample_size(std::int64_t vectors) {
  return static_cast<int>(vectors < sampled_side * 4 ? divide_up(vectors, 4) : sampled_side);
}
constexpr std::int64_t sampled_vector(int index, std::int64_t vectors) {
  return (2 * index + 1) * vectors / (2 * sample_size(vectors));
}

}  // namespace vernier::cuda
