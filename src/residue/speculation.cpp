#include "residue/speculation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "number/ieee754.hpp"
#include "residue/scale/operand_factor.hpp"

namespace vernier {
namespace {

// The first vectors of an operand.
struct Sample {
  VectorStatistics statistics[factor_sample];
  VectorProof scales[factor_sample];
  std::size_t count;

  Sample(const Operand<double>& x, const SchemeBackend<double>& backend)
      : count(static_cast<std::size_t>(std::min<std::int64_t>(factor_sample, x.vectors))) {
    backend.statistics(x, 0, static_cast<std::int64_t>(count), statistics);
  }

  std::span<const VectorStatistics> vectors() const { return {statistics, count}; }

  // From the largest power of two in a vector to the lowest bit of an element of it, at most; or some number above
  // `most` if it is more than that.
  int bits(const Operand<double>& x, int most) const {
    int bits = 0;
    for (std::size_t v = 0; v < count && bits <= most; ++v)
      for (std::int64_t l = 0; l < x.k && bits <= most; ++l) {
        const DoubleParts p = parts_of(*x.at(static_cast<std::int64_t>(v), l));
        if (p.significand != 0)
          bits = std::max(bits, statistics[v].exponent - (p.exponent + std::countr_zero(p.significand)) + 1);
      }
    return bits;
  }

  void multiply(int factor) {
    for (VectorStatistics& v : statistics) v = multiplied(v, factor);
  }
};

// Of the angles between the first and last two rows of A and columns of B; NaN if one is not a number.
double largest_cosine(const Operand<double>& a, const Operand<double>& b) {
  constexpr int sample = 4;
  const double *rows[sample], *columns[sample];
  const auto nth = [](const Operand<double>& x, std::int64_t i) {
    return x.at(i < sample / 2 ? std::min(i, x.vectors - 1) : std::max<std::int64_t>(x.vectors - sample + i, 0), 0);
  };
  for (int i = 0; i < sample; ++i) rows[i] = nth(a, i), columns[i] = nth(b, i);
  const std::int64_t row_stride = a.k_stride(), column_stride = b.k_stride();
  double dot[sample][sample] = {}, row_squares[sample] = {}, column_squares[sample] = {};
  for (std::int64_t l = 0; l < a.k; ++l) {
    double x[sample], y[sample];
    for (int i = 0; i < sample; ++i) x[i] = rows[i][l * row_stride], y[i] = columns[i][l * column_stride];
    for (int i = 0; i < sample; ++i) row_squares[i] += x[i] * x[i], column_squares[i] += y[i] * y[i];
    for (int j = 0; j < sample; ++j)
      for (int i = 0; i < sample; ++i) dot[j][i] += x[i] * y[j];
  }
  double largest = 0;
  for (int j = 0; j < sample; ++j)
    for (int i = 0; i < sample; ++i) {
      if (row_squares[i] == 0 || column_squares[j] == 0) continue;
      const double cosine = std::abs(dot[j][i]) / (std::sqrt(row_squares[i]) * std::sqrt(column_squares[j]));
      if (std::isnan(cosine)) return cosine;
      largest = std::max(largest, cosine);
    }
  return largest;
}

}  // namespace

std::optional<SpeculativeScales> choose_speculation(const SpeculativeProduct& speculative, const Operand<double>& a,
                                                    const Operand<double>& b, const SchemeBackend<double>& backend) {
  Sample rows(a, backend), columns(b, backend);
  if (!far_from_the_ends(rows.vectors()) || !far_from_the_ends(columns.vectors())) return {};
  SpeculativeScales scales{speculative.rule, {no_factor, no_factor}, speculative.certain};
  // Where elements are so short that a double holds every entry, a factor would take that away.
  constexpr int precision = Ieee754<double>::precision;
  const int row_bits = rows.bits(a, precision);
  if (row_bits + columns.bits(b, precision - row_bits) > precision) {
    for (const auto& [sample, factor] : {std::pair{&rows, &scales.factor.a}, {&columns, &scales.factor.b}}) {
      *factor = choose_factor(speculative.rule, a.k, sample->vectors());
      sample->multiply(*factor);
    }
  }
  const Scaling scaling = choose_scales(speculative.rule, a.k, rows.vectors(), columns.vectors(),
                                        {rows.scales, rows.count}, {columns.scales, columns.count});
  if (scaling.any_wide || !(largest_cosine(a, b) <= speculative.largest_cosine)) return {};
  return scales;
}

}  // namespace vernier
