// Error-free splitting of vectors into slices (Ozaki scheme I): x = sum_p 2^(exponent_p) digits_p, integer digits.
#pragma once

#include <cstdint>
#include <vector>

#include "product/operand.hpp"

namespace vernier {

// One slice of all vectors of an operand. digits: vector v, index l at [v * k + l], |digit| < 2^bits.
struct Slice {
  std::vector<std::int32_t> digits;
  std::vector<int> exponents;  // of each vector's unit
};

// Splits an operand slice by slice. Elements that are not finite count as zeros.
class SliceSplitter {
 public:
  // The unit of a vector follows what is left of it, which makes the most of every slice.
  template <class T>
  SliceSplitter(const Operand<T>& x, int bits);

  bool empty() const { return empty_; }  // nothing is left
  Slice next();

  // max over vectors v of sum_l |left_vl| weight_l / sum_l |x_vl| weight_l, weights >= 0.
  double left_over(const std::vector<double>& weights) const;

  // sum over vectors of |x_vl| 2^-(largest exponent of all): weights for the other operand.
  std::vector<double> weights() const;

 private:
  std::int64_t vectors_, k_;
  int bits_;
  bool empty_ = false;
  std::vector<double> whole_, left_;  // vector v, index l at [v * k + l]
  std::vector<int> units_;            // of the last slice
};

}  // namespace vernier
