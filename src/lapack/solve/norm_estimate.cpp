#include "lapack/solve/norm_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace vernier {
namespace {

constexpr int most_rounds = 5;

double norm_one(const std::vector<double>& x) {
  double sum = 0;
  for (const double e : x) sum += std::abs(e);
  return sum;
}

}  // namespace

double estimate_norm_one(std::int64_t n, const VectorOperator& apply, const VectorOperator& apply_transposed) {
  if (n == 0) return 0;
  const auto size = static_cast<std::size_t>(n);
  const auto order = static_cast<double>(n);
  std::vector<double> x(size, 1 / order), signs(size);
  double estimate = 0;
  std::size_t last = size;
  for (int round = 0; round < most_rounds; ++round) {
    apply(x.data());
    const double norm = norm_one(x);
    if (!std::isfinite(norm)) return std::numeric_limits<double>::infinity();
    if (round > 0 && norm <= estimate) break;
    estimate = norm;
    bool same = round > 0;
    for (std::size_t i = 0; i < size; ++i) {
      const double sign = x[i] < 0 ? -1 : 1;
      same = same && sign == signs[i];
      signs[i] = sign;
    }
    if (same) break;
    std::vector<double> z = signs;
    apply_transposed(z.data());
    const auto best =
        std::max_element(z.begin(), z.end(), [](double p, double q) { return std::abs(p) < std::abs(q); });
    const auto column = static_cast<std::size_t>(best - z.begin());
    if (column == last) break;
    last = column;
    std::fill(x.begin(), x.end(), 0.0);
    x[column] = 1;
  }
  // A vector of alternating signs, against matrices that deceive the search.
  for (std::size_t i = 0; i < size; ++i)
    x[i] = (i % 2 == 0 ? 1 : -1) * (1 + (n > 1 ? static_cast<double>(i) / (order - 1) : 0));
  apply(x.data());
  const double other = 2 * norm_one(x) / (3 * order);
  return std::isfinite(other) ? std::max(estimate, other) : std::numeric_limits<double>::infinity();
}

}  // namespace vernier
