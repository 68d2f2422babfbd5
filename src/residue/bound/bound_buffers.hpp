// The product of |A| and |B| on a GPU: what is in device memory, what it promises, and what it finds out.
#pragma once

#include <array>
#include <cstdint>

#include "base/workspace.hpp"
#include "engine/bound/bound_layout.hpp"
#include "number/moduli.hpp"
#include "product/plan/native_cost.hpp"
#include "residue/bound/bound_scales.hpp"

namespace vernier::cuda {

// What sums of e5m2 numbers promise (docs/accuracy.md, theorem 12): everything is rounded towards zero.
BoundProduct fp8_bound_product();

// In device memory; all words but the last two are gathered by all vectors or entries.
struct BoundFindings {
  int largest_16;     // log2 of the largest |Ct|, in sixteenths
  int exponent;       // the largest scaled exponent
  int nonfinite[2];   // vectors of A and of B
  int span[2];        // the largest
  unsigned finished;  // blocks
  int moduli;         // 0: more than may be taken
  int spare;          // bits that these hold beyond the need
};

// Numbers of moduli that may be taken, and what they hold.
struct BoundChoices {
  int least = 1, most = max_moduli;
  std::array<double, max_moduli + 1> log2_bound{};
};
BoundChoices bound_choices(int most);

// In device memory, padded to bound_vectors().
struct BoundVectorsOnDevice {
  DeviceBoundSide side;
  int* tops = nullptr;  // log2 of the norms of the integers, in sixteenths
};
struct DeviceBoundBuffers {
  BoundVectorsOnDevice a, b;
  BoundFindings* found = nullptr;
  std::uint8_t *a_bytes = nullptr, *b_bytes = nullptr;  // bound_byte of each element, [vector][device_pitch(k)]
  std::uint8_t* codes = nullptr;
};
DeviceBoundBuffers carve_device_bound(Arena& arena, const ProductShape& shape);

}  // namespace vernier::cuda
