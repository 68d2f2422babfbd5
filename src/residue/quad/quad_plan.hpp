// Scales and moduli of a quadruple product: functions of the data and the contract alone.
#pragma once

#include <cstdint>
#include <vector>

#include "residue/quad/quad_operand.hpp"

namespace vernier {

// What is asked of T: |T - AB| <= (k 2^-bits + u) |A||B|; bits = 0: T rounded once.
struct QuadGoal {
  int bits = 0;
  bool exact() const { return bits == 0; }
};

struct QuadSide {
  std::vector<QuadVector> vectors;
  std::vector<QuadScale> scales;
  int parts = 1;
  int part_exponent[most_parts] = {};  // of the largest scaled element of each part
  double log2_norm = 0;                // of the longest scaled vector, rounding included
};

struct QuadPlan {
  int moduli = 0;
  int bits = 0;           // elements of any vector are scaled to this many bits at most
  bool integers = false;  // scaling makes integers of all elements
};

// A few entries of the product, for the choice of bits: row, column, and |A||B| there in units of
// 2^(exponent of the row's largest + exponent of the column's largest).
struct QuadSample {
  std::int64_t row = 0, column = 0;
  double magnitude = 0;
};

// Sets the scales of both sides.
QuadPlan plan_quad(QuadSide& a, QuadSide& b, std::int64_t k, QuadGoal goal, const std::vector<QuadSample>& samples);

// At least |sum x y - Ct| for a row and a column at their scales.
inline double quad_error(const QuadScale& row, const QuadScale& column) { return entry_error(row.error, column.error); }

}  // namespace vernier
