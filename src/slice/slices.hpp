// Error-free splitting of vectors into slices (Ozaki scheme I): x = sum_p 2^(exponent_p) digits_p, integer digits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "product/operand.hpp"

namespace vernier {

// One slice of all vectors of an operand. digits: vector v, index l at [v * k + l], |digit| < 2^bits.
struct Slice {
  std::vector<std::int32_t> digits;
  std::vector<int> exponents;  // of each vector's unit
};

// The digits of a slice that are not zero, vector by vector, where they are few.
struct SparseSlice {
  std::vector<std::size_t> begin;   // of each vector, and the end of the last
  std::vector<std::int64_t> index;  // along k
  std::vector<std::int32_t> digit;
};

// Empty where more than one digit in 256 is not zero, so that an engine multiplies all of them sooner.
std::optional<SparseSlice> sparse_slice(const Slice& slice, std::int64_t k);

// Splits an operand slice by slice. Elements that are not finite count as zeros.
class SliceSplitter {
 public:
  // equal_steps: the unit of a vector falls by 2^bits from slice to slice, so that equal p + q have equal weight;
  // otherwise it follows what is left of the vector, which makes the most of every slice.
  template <class T>
  SliceSplitter(const Operand<T>& x, int bits, bool equal_steps);

  bool empty() const { return empty_; }  // nothing is left
  Slice next();

  // max over vectors v of sum_l |left_vl| weight_l / sum_l |x_vl| weight_l, weights >= 0.
  double left_over(const std::vector<double>& weights) const;

  // sum over vectors of |x_vl| 2^-(largest exponent of all): weights for the other operand.
  std::vector<double> weights() const;

 private:
  std::int64_t vectors_, k_;
  int bits_;
  bool equal_steps_, empty_ = false;
  std::vector<double> whole_, left_;  // vector v, index l at [v * k + l]
  std::vector<int> units_;            // of the last slice
};

}  // namespace vernier
