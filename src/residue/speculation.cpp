// Do a product's data seem to be of those that a speculative product serves?
#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "base/environment.hpp"
#include "number/ieee754.hpp"
#include "residue/scale/scale_search.hpp"

namespace vernier {
namespace {

// The first vectors of an operand.
struct Sample {
  VectorStatistics statistics[factor_sample];
  VectorProof scales[factor_sample];
  std::size_t count;

  explicit Sample(const Operand<double>& x)
      : count(static_cast<std::size_t>(std::min<std::int64_t>(factor_sample, x.vectors))) {}

  // Of one of `pairs` parts; vectors that lie side by side take as long together as one of them.
  void measure(const Operand<double>& x, const SchemeBackend<double>& backend, int part) {
    const std::int64_t most = x.k_contiguous ? 2 : factor_sample, first = most * part;
    const std::int64_t vectors = std::min(most, static_cast<std::int64_t>(count) - first);
    if (vectors > 0) backend.statistics(x, first, vectors, statistics + first);
  }
  static constexpr int pairs = factor_sample / 2;

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

// The angles between the first and last two rows of A and columns of B, by dot products of parts of k.
class Angles {
 public:
  static constexpr int parts = 4;

  Angles(const Operand<double>& a, const Operand<double>& b) : k_(a.k), strides_{a.k_stride(), b.k_stride()} {
    const auto nth = [](const Operand<double>& x, std::int64_t i) {
      return x.at(i < sample / 2 ? std::min(i, x.vectors - 1) : std::max<std::int64_t>(x.vectors - sample + i, 0), 0);
    };
    for (int i = 0; i < sample; ++i) rows_[i] = nth(a, i), columns_[i] = nth(b, i);
  }

  void add_up(int part) {
    Sums sums;
    const double *rows[sample], *columns[sample];
    std::copy_n(rows_, sample, rows), std::copy_n(columns_, sample, columns);
    for (std::int64_t l = k_ * part / parts; l < k_ * (part + 1) / parts; ++l) {
      double x[sample], y[sample];
      for (int i = 0; i < sample; ++i) x[i] = rows[i][l * strides_.a], y[i] = columns[i][l * strides_.b];
      for (int i = 0; i < sample; ++i) sums.row_squares[i] += x[i] * x[i], sums.column_squares[i] += y[i] * y[i];
      for (int j = 0; j < sample; ++j)
        for (int i = 0; i < sample; ++i) sums.dot[j][i] += x[i] * y[j];
    }
    sums_[part] = sums;
  }

  // NaN if one is not a number.
  double largest_cosine() const {
    double largest = 0;
    for (int j = 0; j < sample; ++j)
      for (int i = 0; i < sample; ++i) {
        double dot = 0, row = 0, column = 0;
        for (const Sums& s : sums_) dot += s.dot[j][i], row += s.row_squares[i], column += s.column_squares[j];
        if (row == 0 || column == 0) continue;
        const double cosine = std::abs(dot) / (std::sqrt(row) * std::sqrt(column));
        if (std::isnan(cosine)) return cosine;
        largest = std::max(largest, cosine);
      }
    return largest;
  }

 private:
  static constexpr int sample = 4;
  struct Sums {
    double dot[sample][sample] = {}, row_squares[sample] = {}, column_squares[sample] = {};
  };

  std::int64_t k_;
  Sides<std::int64_t> strides_;
  const double *rows_[sample], *columns_[sample];
  Sums sums_[parts];
};

}  // namespace

std::optional<SpeculativeScales> choose_speculation(const SpeculativeProduct& speculative, const Operand<double>& a,
                                                    const Operand<double>& b, const SchemeBackend<double>& backend,
                                                    int threads) {
  Sample rows(a), columns(b);
  Angles angles(a, b);
#pragma omp parallel num_threads(threads)
  {
    const FloatingEnvironment environment;
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < Angles::parts + 2 * Sample::pairs; ++i) {
      const int pair = i - Angles::parts;
      if (pair < 0)
        angles.add_up(i);
      else if (pair < Sample::pairs)
        rows.measure(a, backend, pair);
      else
        columns.measure(b, backend, pair - Sample::pairs);
    }
  }
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
  if (scaling.any_wide || !(angles.largest_cosine() <= speculative.largest_cosine)) return {};
  return scales;
}

}  // namespace vernier
