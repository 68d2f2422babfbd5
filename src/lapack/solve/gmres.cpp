// GMRES for one correction of iterative refinement, and the estimate of a 1-norm.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lapack/solve/refinement.hpp"

namespace vernier {
namespace {

double dot(std::int64_t n, const double* x, const double* y) {
  double lanes[8] = {};
  for (std::int64_t i = 0; i < n; ++i) lanes[i % 8] += x[i] * y[i];
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

void add(std::int64_t n, double factor, const double* x, double* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

struct Rotation {
  double c, s;
  void apply(double& x, double& y) const {
    const double t = c * x + s * y;
    y = c * y - s * x;
    x = t;
  }
};

// The triangle that the rotations leave of the Hessenberg matrix, and the rotated right-hand side.
class LeastSquares {
 public:
  explicit LeastSquares(double beta) : rhs_{beta} {}

  void append(std::vector<double> h) {  // one column, with its subdiagonal entry
    for (std::size_t i = 0; i < rotations_.size(); ++i) rotations_[i].apply(h[i], h[i + 1]);
    const std::size_t k = rotations_.size();
    const double length = std::hypot(h[k], h[k + 1]);
    rotations_.push_back(length == 0 ? Rotation{1, 0} : Rotation{h[k] / length, h[k + 1] / length});
    rotations_.back().apply(h[k], h[k + 1]);
    rhs_.push_back(0);
    rotations_.back().apply(rhs_[k], rhs_[k + 1]);
    columns_.push_back(std::move(h));
  }
  double residual() const { return std::abs(rhs_.back()); }
  std::vector<double> solution() const {
    std::vector<double> y(columns_.size());
    for (std::size_t i = y.size(); i-- > 0;) {
      double sum = rhs_[i];
      for (std::size_t j = i + 1; j < y.size(); ++j) sum -= columns_[j][i] * y[j];
      y[i] = columns_[i][i] == 0 ? 0 : sum / columns_[i][i];
    }
    return y;
  }

 private:
  std::vector<double> rhs_;
  std::vector<Rotation> rotations_;
  std::vector<std::vector<double>> columns_;
};

constexpr int most_rounds = 5;

double norm_one(const std::vector<double>& x) {
  double sum = 0;
  for (const double e : x) sum += std::abs(e);
  return sum;
}

}  // namespace

GmresResult gmres(std::int64_t n, const VectorOperator& g, const double* r, double* x, const GmresLimits& limits) {
  GmresResult result;
  std::fill_n(x, n, 0.0);
  const double beta = std::sqrt(dot(n, r, r));
  result.finite = std::isfinite(beta);
  if (!result.finite || beta == 0) return result;
  std::vector<std::vector<double>> basis;
  const auto push = [&](const double* v, double length) {
    basis.emplace_back(v, v + n);
    for (double& e : basis.back()) e /= length;
  };
  push(r, beta);
  LeastSquares small(beta);
  std::vector<double> w;
  while (result.steps < limits.steps && small.residual() > limits.reduction * beta) {
    w = basis.back();
    g(w.data());
    std::vector<double> h;
    for (const auto& v : basis) {
      h.push_back(dot(n, v.data(), w.data()));
      add(n, -h.back(), v.data(), w.data());
    }
    const double length = std::sqrt(dot(n, w.data(), w.data()));
    if (!std::isfinite(length)) {
      result.finite = false;
      return result;
    }
    ++result.steps;
    h.push_back(length);
    small.append(std::move(h));
    if (length == 0) break;
    push(w.data(), length);
  }
  const std::vector<double> y = small.solution();
  for (std::size_t k = 0; k < y.size(); ++k) add(n, y[k], basis[k].data(), x);
  return result;
}

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
