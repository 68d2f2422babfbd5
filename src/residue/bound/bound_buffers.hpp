// The product of |A| and |B| on a GPU: what is in device memory, what it promises, and what it finds out.
#pragma once

#include <array>
#include <cstdint>

#include "base/workspace.hpp"
#include "engine/bound/bound_layout.hpp"
#include "engine/filled_pieces.hpp"
#include "number/moduli.hpp"
#include "product/plan/native_cost.hpp"
#include "product/route.hpp"
#include "product/sides.hpp"
#include "residue/bound/bound_sample.hpp"
#include "residue/bound/bound_scales.hpp"
#include "residue/bound/guess.hpp"
#include "residue/scale/vector_needs.hpp"

namespace vernier::cuda {

// What sums of e5m2 numbers promise (docs/accuracy.md, theorem 12): everything is rounded towards zero.
BoundProduct fp8_bound_product();
// ... of a part of k (bound_k_step).
BoundProduct fp8_part_product();

// In device memory; all words but the last six are gathered by all vectors or entries.
struct BoundFindings {
  int largest_16;     // log2 of the largest |Ct|, in sixteenths
  int exponent;       // the largest scaled exponent
  int nonfinite[2];   // vectors of A and of B
  int span[2];        // the largest
  unsigned coarse;    // guesses whose scales are too coarse for some vector: bit g for number g + 1
  unsigned finished;  // blocks of a kernel
  int slack;          // bits by which scales are coarser for what a sample shows
  int moduli;         // 0: more than may be taken
  int spare;          // bits that these hold beyond the need
  unsigned allowed;   // as in GuessFindings
  float share;        // of all operations: those of pieces that hold something, by some groups of vectors
  int grading;        // between the least and the largest exponent that would balance the operands
};

// The guesses that may be made, of operands as they are, or balanced.
struct BoundGuesses {
  int least = 0, count = 0;  // moduli of the first; guesses
  int before = 0;            // numbers before the first
  ScaleChooser chooser[most_guesses][2];
};

// Numbers of moduli that may be taken, and what they hold; less than nothing for those between that may not.
struct BoundChoices {
  int least = 1, most = max_moduli;
  std::array<double, max_moduli + 1> log2_bound{};
};
BoundChoices bound_choices(int most);
BoundChoices bound_choices(const RouteClasses& classes);

// In device memory, padded to bound_vectors().
struct BoundVectorsOnDevice {
  DeviceBoundSide side;
  int* tops = nullptr;              // log2 of the norms of the integers, in sixteenths
  std::uint8_t* bytes = nullptr;    // bound_byte of each element, [vector][device_pitch(k)]
  std::uint32_t* filled = nullptr;  // FilledPieces of them
};
// In device memory; zeros before.
struct BoundSampleWords {
  int shortfall[2];         // what the least bound_slack() of each side lacks of most_bound_slack
  unsigned native_largest;  // the bits of the native product's largest error
  unsigned gathered;        // vectors that are there
  int grading[2];           // the largest exponent of balance, and minus the least

  VERNIER_HD int slack(int side) const { return most_bound_slack - shortfall[side]; }
  VERNIER_HD int grades() const { return grading[0] + grading[1]; }
};
// The sample of entries (bound_sample.hpp) in device memory; none without entries.
struct BoundSampleOnDevice {
  float* vectors[2] = {};  // [bound_sampled][pitch] of each side
  std::int64_t pitch = 0;
  BoundSampleEntry* entries = nullptr;  // [bound_sampled][bound_sampled]
  double* squares = nullptr;            // [2][bound_sampled]: of vectors that are being balanced
  BoundSampleWords* words = nullptr;
};
struct DeviceBoundBuffers {
  Sides<BoundVectorsOnDevice> side;
  BoundFindings* found = nullptr;
  std::uint8_t* codes = nullptr;
  std::size_t filled_bytes = 0;  // of both sides' filled, one behind the other
  BoundSampleOnDevice sample;
};
DeviceBoundBuffers carve_device_bound(Arena& arena, const ProductShape& shape);

}  // namespace vernier::cuda
