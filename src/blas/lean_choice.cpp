#include "blas/lean_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "scheme/lean_factor.hpp"

namespace vernier {
namespace {

constexpr int cosine_sample = 4;

// The first vectors of an operand.
struct Sample {
  VectorStatistics statistics[factor_sample];
  VectorScales scales[factor_sample];
  std::size_t count;
  int factor;

  template <class T>
  Sample(const LeanProduct& lean, const Operand<T>& x, const SchemeBackend<T>& backend)
      : count(static_cast<std::size_t>(std::min<std::int64_t>(factor_sample, x.vectors))) {
    backend.statistics(x, 0, static_cast<std::int64_t>(count), statistics);
    factor = choose_factor(lean.rule, x.k, {statistics, count});
    for (VectorStatistics& v : statistics) v = multiplied(v, factor);
  }

  std::span<const VectorStatistics> vectors() const { return {statistics, count}; }
};

// Of the angles between the first rows of A and columns of B; NaN where sums overflow or an element is not finite.
template <class T>
double largest_cosine(const Operand<T>& a, const Operand<T>& b) {
  const std::int64_t rows = std::min<std::int64_t>(cosine_sample, a.vectors),
                     columns = std::min<std::int64_t>(cosine_sample, b.vectors);
  double dot[cosine_sample][cosine_sample] = {}, row_squares[cosine_sample] = {}, column_squares[cosine_sample] = {};
  for (std::int64_t l = 0; l < a.k; ++l) {
    for (std::int64_t i = 0; i < rows; ++i) row_squares[i] += *a.at(i, l) * *a.at(i, l);
    for (std::int64_t j = 0; j < columns; ++j) {
      const double y = *b.at(j, l);
      column_squares[j] += y * y;
      for (std::int64_t i = 0; i < rows; ++i) dot[j][i] += *a.at(i, l) * y;
    }
  }
  double largest = 0;
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      if (row_squares[i] == 0 || column_squares[j] == 0) continue;
      const double cosine = std::abs(dot[j][i]) / std::sqrt(row_squares[i] * column_squares[j]);
      if (std::isnan(cosine)) return cosine;
      largest = std::max(largest, cosine);
    }
  return largest;
}

}  // namespace

bool far_from_the_ends(std::span<const VectorStatistics> statistics) {
  constexpr int far = 400;
  return std::ranges::all_of(statistics, [](const VectorStatistics& v) { return std::abs(v.exponent) <= far; });
}

template <class T>
std::optional<LeanScales> choose_lean(const LeanProduct& lean, const ResidueProblem<T>& problem,
                                      const SchemeBackend<T>& backend) {
  Sample a(lean, problem.a, backend), b(lean, problem.b, backend);
  const Scaling scaling =
      choose_scales(lean.rule, problem.a.k, a.vectors(), b.vectors(), {a.scales, a.count}, {b.scales, b.count});
  // An entry is open from `certain` on; half of that leaves room for entries that were not looked at.
  const bool small = largest_cosine(problem.a, problem.b) <= lean.certain / (2 * lean.bound);
  if (scaling.any_wide || !small) return {};
  return LeanScales{lean.rule, a.factor, b.factor, lean.certain};
}

template std::optional<LeanScales> choose_lean(const LeanProduct&, const ResidueProblem<double>&,
                                               const SchemeBackend<double>&);
template std::optional<LeanScales> choose_lean(const LeanProduct&, const ResidueProblem<float>&,
                                               const SchemeBackend<float>&);

}  // namespace vernier
