// Scales and moduli of a quadruple product: functions of the data and the contract alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
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

// Maxima over the scaled vectors of a side: of bounds of their 2-norms; of the other members of QuadError, divided by
// the floor: infinite where that is zero.
struct QuadExtent {
  double norm_2 = 0, rounded = 0, half_norm = 0;
};
VERNIER_HD inline double by_floor(double x, double floor) { return x == 0 ? 0 : x / floor; }

struct QuadExtents {
  QuadExtent a, b;

  // At least what an entry's error is of its |A||B|.
  double share() const { return product(a.rounded, b.half_norm) + product(b.rounded, a.half_norm); }

 private:
  static double product(double x, double y) { return x == 0 || y == 0 ? 0 : x * y * (1 + 0x1p-40); }
};

inline constexpr int most_expected = 8;

// The scales of both sides, wherever they lie.
class QuadScales {
 public:
  virtual ~QuadScales() = default;
  // What set() is likely to be asked for next: a device finds all of it at once.
  virtual void expect(const std::vector<QuadSize>&) {}
  virtual QuadExtents set(const QuadSize& size) = 0;
  virtual std::vector<QuadSampleError> samples() = 0;  // at the scales that are set
};

// Of binary128 whose exponents in a vector no doubles hold.
[[noreturn]] void fail_beyond_span();

// Sets the scales; plan.integers is left to the caller.
QuadPlan choose_bits(QuadScales& scales, std::int64_t k, QuadGoal goal);

// What proved_moduli() tries first, and the size of vectors then.
int likely_moduli(QuadGoal goal);
QuadSize likely_size(int moduli);

// Of sides in host memory. sample: called where vectors do not prove |A||B|.
QuadPlan plan_quad(QuadSide& a, QuadSide& b, std::int64_t k, QuadGoal goal,
                   const std::function<std::vector<QuadSample>()>& sample);

}  // namespace vernier
