// An entry's exact sum in digits, and C = alpha sum + beta C rounded once from it. Host and device, the same on both
// (docs/accuracy.md, theorem 8).
#pragma once

#include "number/long_accumulator.hpp"
#include "product/exact/entry.hpp"

namespace vernier {

// alpha, beta and the direction, and what can be said about them before any entry is seen.
template <class T>
struct UpdateForm {
  T alpha, beta;
  bool only_rounded;   // beta = 0, alpha = +-2^alpha_exponent
  bool moderate;       // finite, and far enough from the ends of the range for products of doubles
  int alpha_exponent;  // floor(log2 |alpha|)
  Rounding rounding;

  VERNIER_HD UpdateForm(T a, T b, Rounding r = Rounding::nearest) : alpha(a), beta(b), rounding(r) {
    constexpr int most = 300;
    const auto is_moderate = [&](T x) {
      return is_finite(x) && x != 0 && exponent_of_value(x) <= most && exponent_of_value(x) >= -most;
    };
    only_rounded = b == 0 && is_power_of_two(a);
    moderate = is_moderate(a) && (b == 0 || is_moderate(b));
    alpha_exponent = is_finite(a) && a != 0 ? exponent_of_value(a) : 0;
  }
};

// Where products of row and column lie: digits for sums of them, k < 2^26.
struct DigitRange {
  int lowest, digits;
};

template <class T>
VERNIER_HD inline DigitRange product_digits(const VectorStatistics& row, const VectorStatistics& column) {
  constexpr int last = Ieee754<T>::min_exponent - (Ieee754<T>::precision - 1);
  const auto low = [&](int x) {
    return x - (Ieee754<T>::precision - 1) < last ? last : x - (Ieee754<T>::precision - 1);
  };
  const int lowest = low(row.lowest) + low(column.lowest), highest = row.exponent + column.exponent + 2 + 26;
  return {lowest, (highest - lowest) / digit_bits + 3};
}

// Digits that alpha times a sum of products, plus beta c, may take, whatever the exponents (docs/accuracy.md, theorem
// 8): from 2^-3712 to 2^3200.
inline constexpr int result_lowest = LongAccumulator::lowest, result_digits = LongAccumulator::digits;

// alpha * sum + beta * c, rounded once, as combined(). The sum's digits are put in order; result(d): result_digits
// words that are overwritten.
template <class T, class Word, class Result>
VERNIER_HD inline T rounded_digits(const DigitRange& range, Word word, T alpha, T beta, const T* c, Result result,
                                   Rounding rounding = Rounding::nearest) {
  const bool negative = order_digits(range.digits, word);
  const LeadingBits x = leading_bits(negative, range.lowest, range.digits, word);
  if (!is_finite(alpha)) return combined_special(static_cast<T>(x.value == 0 ? 0 : negative ? -1 : 1), alpha, beta, c);
  if (beta != 0 && !(is_finite(beta) && is_finite(*c))) return beta * *c;
  if (beta == 0 && is_power_of_two(alpha))
    return round_wide<T>(alpha < 0 ? -x.value : x.value, x.exponent + exponent_of_value(alpha), rounding);
  for (int d = 0; d < result_digits; ++d) result(d) = 0;
  multiply_digits(negative, range.lowest, range.digits, word, static_cast<double>(alpha), result_lowest, result_digits,
                  result);
  if (beta != 0 && *c != 0) {
    const DoubleParts f = parts_of(static_cast<double>(beta)), g = parts_of(static_cast<double>(*c));
    add_to_digits(f.negative != g.negative, static_cast<Uint128>(f.significand) * g.significand,
                  f.exponent + g.exponent - result_lowest, 0, result_digits, result);
  }
  const LeadingBits y = leading_bits(order_digits(result_digits, result), result_lowest, result_digits, result);
  return round_wide<T>(y.value, y.exponent, rounding);
}

}  // namespace vernier
