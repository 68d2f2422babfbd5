// What a GPU counts of operands and of open entries for contract `exact`: plans of the host know it too, also where
// there is no CUDA.
#pragma once

#include <cstdint>

namespace vernier::cuda {

// Of a vector's finite elements; all zeros before anything is counted.
struct DeviceLowestBits {
  int depth = 0;         // lowest_bit_offset - depth is the exponent of the lowest bit that is set; 0: there is none
  unsigned inexact = 0;  // elements that the given scale does not make integers

  static constexpr int lowest_bit_offset = 1 << 12;
  constexpr int exponent() const { return lowest_bit_offset - depth; }
};

// Of the inexact elements of a vector so many are remembered by their place along k.
inline constexpr int kept_places = 128;

// Of all vectors of an operand.
struct DeviceLowestBitsLists {
  DeviceLowestBits* counts = nullptr;
  std::uint32_t* places = nullptr;  // [vector][kept_places], in any order
};

// Entries that the residues leave open: of a block, those of them that a look at what was lost leaves open too; and
// both of all of C.
struct DeviceOpenCounts {
  unsigned long long open, after_refining, total_open, total_summed;
};

}  // namespace vernier::cuda
