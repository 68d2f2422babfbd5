// Scales and moduli of a quadruple product: functions of the data and the contract alone.
#pragma once

#include <algorithm>
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

  int largest_exponent() const {  // of the scaled parts
    int most = 0;
    for (const QuadScale& s : scales) most = std::max(most, s.exponent);
    return most;
  }
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

// Of a sampled entry at the scales of the moment: the magnitude's unit is 2^exponent of that of Ct.
struct QuadSampleError {
  double magnitude, error;
  int exponent;
};

// At least the 2-norms of the longest scaled vectors.
struct QuadNorms {
  double a, b;
};

// The scales of both sides, wherever they lie.
class QuadScales {
 public:
  virtual ~QuadScales() = default;
  virtual QuadNorms set(int bits) = 0;
  virtual std::vector<QuadSampleError> samples() const = 0;
};

// Sets the scales; plan.integers is left to the caller.
QuadPlan choose_bits(QuadScales& scales, std::int64_t k, QuadGoal goal);

// Of sides in host memory.
QuadPlan plan_quad(QuadSide& a, QuadSide& b, std::int64_t k, QuadGoal goal, const std::vector<QuadSample>& samples);

// At least |sum x y - Ct| for a row and a column at their scales.
inline double quad_error(const QuadScale& row, const QuadScale& column) { return entry_error(row.error, column.error); }

}  // namespace vernier
