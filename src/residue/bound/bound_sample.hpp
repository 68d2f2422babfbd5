// Errors of a sample of entries: those that the native product has there, and those that scales from the product of |A|
// and |B| would have. Where ours are smaller, scales may be coarser (docs/accuracy.md, theorem 12). Host and device.
#pragma once

#include <cmath>
#include <cstdint>

#include "residue/bound/bound_scales.hpp"

namespace vernier {

inline constexpr int bound_sampled = 32;        // vectors of each side; each pair of them is an entry
inline constexpr int most_bound_slack = 24;     // bits of both sides together
inline constexpr float bound_margin = 0.95f;    // of the native product's mean error that ours may reach
inline constexpr float largest_of_all = 2;      // times its largest of the sample: less than that of all entries
inline constexpr float bound_certainty = 1.5f;  // standard deviations of the native mean that it is taken less
inline constexpr float rounding_rms = 0.41f;    // of a sum of any size, in units of u times its magnitude

// Which vector of A (side 0) or B (1) is sampled t-th: places by the golden ratio, in 2^32 parts, which no period of
// the data meets; others on the other side, so that diagonals are no more than a part of the entries.
VERNIER_HD constexpr std::int64_t bound_sampled_vector(int side, int t, std::int64_t vectors) {
  const std::uint32_t place = 0x9e3779b9u * static_cast<std::uint32_t>(t + 1) + (side == 0 ? 0 : 0x04000000u);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(vectors) * place >> 32);
}

// In units of u times the entry of |A||B|: rounding errors in the mean square.
struct BoundSampleEntry {
  float magnitude = 0;  // the entry of |A||B|, in units of 2^(e_i + e_j); 0: no part of the sample
  float native = 0;     // of the native product
  float last = 0;       // of the last rounding, which every product has
  // 2-norms of what the roundings of the row and of the column are multiplied by, in units of 2^e_j and 2^e_i: an
  // element that is 0 is not rounded.
  float row_partners = 0, column_partners = 0;
};

// Sums of an entry. squares: of all sums that the native product rounds on the way; row_partners, column_partners: of
// elements whose partner is not 0.
struct BoundSampleSums {
  float sum = 0, squares = 0, magnitude = 0, row_partners = 0, column_partners = 0;

  // A product of an element of the row and one of the column, which the native product adds so that its sum is `now`.
  VERNIER_HD void add(float x, float y, float now) {
    const float term = x * y;
    if (term != 0) squares += now * now;
    magnitude += std::abs(term);
    if (x != 0) row_partners += y * y;
    if (y != 0) column_partners += x * x;
  }
  VERNIER_HD BoundSampleEntry entry() const {
    if (!(magnitude > 0)) return {};
    return {magnitude, rounding_rms * std::sqrt(squares) / magnitude, rounding_rms * std::abs(sum) / magnitude,
            std::sqrt(row_partners), std::sqrt(column_partners)};
  }
};

// Entries of one row and so many columns, term by term, as the native product adds them: in chains, then the chains. In
// a form that compilers turn into vectors.
template <int Columns>
class BoundSampleSum {
 public:
  explicit BoundSampleSum(std::int64_t chain) : chain_(chain) {}

  void add(float x, const float* y) {
    if (left_ == 0) close();
    --left_;
    for (int j = 0; j < Columns; ++j) {
      const float term = x * y[j], now = in_chain_[j] + term;
      const float square = now * now, row_partner = y[j] * y[j], column_partner = x * x;
      in_chain_[j] = now;
      squares_[j] += term != 0 ? square : 0;
      magnitude_[j] += std::abs(term);
      row_partners_[j] += x != 0 ? row_partner : 0;
      column_partners_[j] += y[j] != 0 ? column_partner : 0;
    }
  }
  BoundSampleEntry entry(int j) {
    close();
    return BoundSampleSums{sum_[j], squares_[j], magnitude_[j], row_partners_[j], column_partners_[j]}.entry();
  }

 private:
  void close() {
    left_ = chain_;
    for (int j = 0; j < Columns; ++j) {
      const float sum = sum_[j] + in_chain_[j];
      squares_[j] += sum_[j] != 0 && in_chain_[j] != 0 ? sum * sum : 0;
      sum_[j] = sum;
      in_chain_[j] = 0;
    }
  }
  std::int64_t chain_, left_ = 0;
  float in_chain_[Columns] = {}, sum_[Columns] = {}, squares_[Columns] = {}, magnitude_[Columns] = {},
        row_partners_[Columns] = {}, column_partners_[Columns] = {};
};

// What the elements of a vector of the sample are rounded to, in units of u 2^e.
VERNIER_HD inline float bound_sample_step(const BoundRule& rule, const VectorStatistics& v, int em) {
  return v.zero() ? 0 : static_cast<float>(std::ldexp(1.0, rule.unit_bits - em));
}

// Our error of an entry whose row and column are rounded to these steps.
VERNIER_HD inline float bound_sample_error(const BoundSampleEntry& e, float row_step, float column_step) {
  const float a = row_step * e.row_partners / e.magnitude, b = column_step * e.column_partners / e.magnitude;
  return std::sqrt((a * a + b * b) / 12 + e.last * e.last);
}

// Our largest error of any entry, but for the last rounding: what the weights of scales allow, coarser.
VERNIER_HD inline float bound_largest_error(const BoundRule& rule, float rows_coarser, float columns_coarser) {
  return static_cast<float>(rule.rms) *
         std::sqrt((rows_coarser * rows_coarser + columns_coarser * columns_coarser) / 2);
}

// Means of the rows of the sample, or of its columns, added up.
struct BoundSampleMeans {
  float count = 0, sum = 0, squares = 0;

  VERNIER_HD void add(float errors, float entries) {
    if (!(entries > 0)) return;
    const float mean = errors / entries;
    count += 1;
    sum += mean;
    squares += mean * mean;
  }
  // Of the mean of all: so many of them are independent of each other.
  VERNIER_HD float variance() const {
    if (!(count > 0)) return 0;
    const float mean = sum / count, spread = squares / count - mean * mean;
    return spread > 0 ? spread / count : 0;
  }
};

// The native product's errors of the sample.
struct BoundNativeErrors {
  float count = 0, sum = 0, largest = 0;
  BoundSampleMeans rows, columns;

  // The most that our mean error may be: the native mean, less its own uncertainty, since errors of a row or a column
  // are alike.
  VERNIER_HD float most_mean() const {
    if (!(count > 0)) return -1;
    return bound_margin * (sum / count - bound_certainty * std::sqrt(rows.variance() + columns.variance()));
  }
  VERNIER_HD float most_of_any() const { return largest_of_all * largest; }
};

// The rule by which scales that are there already are judged.
VERNIER_HD inline BoundRule judging_rule(BoundRule rule, float native_largest) {
  const double largest = static_cast<double>(largest_of_all) * static_cast<double>(native_largest);
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
