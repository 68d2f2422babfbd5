// Errors of a sample of entries: those that the native product has there, and those that scales from the product of |A|
// and |B| would have. Where ours are smaller, scales may be coarser (docs/accuracy.md, theorem 12). Host and device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "residue/bound/bound_scales.hpp"

namespace vernier {

inline constexpr int bound_sampled = 32;      // vectors of each side; each pair of them is an entry
inline constexpr int most_bound_slack = 24;   // bits of both sides together
inline constexpr float bound_margin = 0.95f;  // of the native product's errors that ours may reach
inline constexpr float rounding_rms = 0.41f;  // of a sum of any size, in units of u times its magnitude

// Which vector of A (side 0) or B (1) is sampled t-th: four side by side at eight places, others on the other side, so
// that diagonals are no more than a part of the entries.
VERNIER_HD constexpr std::int64_t bound_sampled_vector(int side, int t, std::int64_t vectors) {
  const std::int64_t place = (4 * (t / 4) + 1 + 2 * side) * vectors / 32 / 4 * 4 + t % 4;
  return place < vectors ? place : vectors - 1;
}

// In units of u times the entry of |A||B|: rounding errors in the mean square.
struct BoundSampleEntry {
  float magnitude = 0;  // the entry of |A||B|, in units of 2^(e_i + e_j); 0: no part of the sample
  float native = 0;     // of the native product
  float last = 0;       // of the last rounding, which every product has
};

// An entry, term by term, as the native product adds it: in chains, then the chains.
class BoundSampleSum {
 public:
  explicit BoundSampleSum(std::int64_t chain) : chain_(chain) {}

  void add(float term) {
    if (left_ == 0) close();
    --left_;
    if (term == 0) return;  // adds no error
    in_chain_ += term;
    squares_ += in_chain_ * in_chain_;
    magnitude_ += std::abs(term);
  }
  BoundSampleEntry entry() {
    close();
    return of(sum_, squares_, magnitude_);
  }
  // squares: of all sums that were rounded on the way.
  static VERNIER_HD BoundSampleEntry of(float sum, float squares, float magnitude) {
    if (!(magnitude > 0)) return {};
    return {magnitude, rounding_rms * std::sqrt(squares) / magnitude, rounding_rms * std::abs(sum) / magnitude};
  }

 private:
  void close() {
    left_ = chain_;
    if (sum_ != 0) squares_ += (sum_ + in_chain_) * (sum_ + in_chain_);
    sum_ += in_chain_;
    in_chain_ = 0;
  }
  std::int64_t chain_, left_ = 0;
  float in_chain_ = 0, sum_ = 0, squares_ = 0, magnitude_ = 0;
};

// One vector of the sample: what its elements are rounded to, in units of u 2^e, and its 2-norm in units of 2^e.
struct BoundSampleSide {
  float step = 0, norm = 0;
};
VERNIER_HD inline BoundSampleSide bound_sample_side(const BoundRule& rule, const VectorStatistics& v, int em) {
  if (v.zero()) return {};
  return {static_cast<float>(std::ldexp(1.0, rule.unit_bits - em)), static_cast<float>(bound_norm(v))};
}

// Our error of an entry with scales that are coarser by 2^row_bits and 2^column_bits.
VERNIER_HD inline float bound_sample_error(const BoundSampleEntry& e, const BoundSampleSide& row,
                                           const BoundSampleSide& column, float rows_coarser, float columns_coarser) {
  const float a = row.step * column.norm * rows_coarser / e.magnitude,
              b = column.step * row.norm * columns_coarser / e.magnitude;
  return std::sqrt((a * a + b * b) / 12 + e.last * e.last);
}

// Our largest error of any entry, but for the last rounding: what the weights of scales allow, coarser.
VERNIER_HD inline float bound_largest_error(const BoundRule& rule, float rows_coarser, float columns_coarser) {
  return static_cast<float>(rule.rms) *
         std::sqrt((rows_coarser * rows_coarser + columns_coarser * columns_coarser) / 2);
}

// Both products' errors, added up.
struct BoundSampleErrors {
  float count = 0, sum = 0, native_sum = 0, native_squares = 0, native_largest = 0;

  VERNIER_HD void add(float ours, float natives) {
    count += 1;
    sum += ours;
    native_sum += natives;
    native_squares += natives * natives;
    native_largest = natives > native_largest ? natives : native_largest;
  }
  // The native mean less its own uncertainty: entries of a row or column are alike.
  VERNIER_HD bool our_mean_is_smaller() const {
    if (!(count > 0)) return false;
    const float mean = native_sum / count, variance = native_squares / count - mean * mean;
    const float sure = mean - std::sqrt((variance > 0 ? variance : 0) / bound_sampled);
    return sum <= bound_margin * sure * count;
  }
  VERNIER_HD bool ours_are_smaller(float our_largest) const {
    return our_mean_is_smaller() && our_largest <= bound_margin * native_largest;
  }
};

// The rule by which scales that are there already are judged: errors may come up to the native product's largest of the
// sample.
VERNIER_HD inline BoundRule judging_rule(BoundRule rule, float native_largest) {
  const double largest = static_cast<double>(bound_margin) * static_cast<double>(native_largest);
  if (rule.rms > 0 && largest > rule.rms) rule.rms = largest;
  return rule;
}

// Of so many bits by which scales get coarser in all, rows take the greater half.
VERNIER_HD constexpr int rows_slack(int bits) { return (bits + 1) / 2; }
VERNIER_HD constexpr int columns_slack(int bits) { return bits / 2; }

// How many bits in all the bound itself allows; from the least bound_slack() of all columns and of all rows.
VERNIER_HD constexpr int allowed_slack(int of_columns, int of_rows) {
  int bits = 0;
  while (bits < most_bound_slack && rows_slack(bits + 1) <= of_columns && columns_slack(bits + 1) <= of_rows) ++bits;
  return bits;
}

}  // namespace vernier
