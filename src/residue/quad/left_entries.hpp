// Entries of a product on a GPU that the host decides: those of NaN and infinities, exact sums of products, and those
// that doubles leave in doubt.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vernier/quad.hpp"

namespace vernier {

struct LeftEntry {
  std::int32_t row, column;  // of its block
  dd c;                      // before, where beta is not 0; after, perhaps the bits of a binary128
  std::int8_t residues[52];
};

struct QuadSide;
class QuadOperand;

// All of it in host memory.
struct LeftProblem {
  const QuadOperand &a, &b;
  const QuadSide &rows, &columns;
  double alpha, beta;
  int bits, moduli;  // bits = 0: rounded once, in this direction
  Rounding rounding = Rounding::nearest;
  bool binary128 = false;  // exact, or only rounded
};

struct LeftCounts {
  std::int64_t looked_at = 0, summed = 0;  // as QuadReport has them
};

// What decisions work in: room for `most` entries, and for the vectors of one on each thread.
struct LeftMemory {
  LeftMemory() = default;
  LeftMemory(std::int64_t most, std::int64_t k, int threads);

  int threads = 0;
  std::vector<LeftEntry> entries;
  std::unique_ptr<double[]> vectors;
};

// The memory's entries, of the block whose first entry is (i0, j0). Allocates nothing.
LeftCounts decide_left_entries(const LeftProblem& problem, std::int64_t i0, std::int64_t j0, LeftMemory& memory);

}  // namespace vernier
