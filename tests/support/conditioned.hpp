// Dense matrices of a known condition number in the 2-norm.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/matrix.hpp"
#include "support/random.hpp"

namespace vernier::test {

enum class Spectrum {
  geometric,  // singular values kappa^(-i / (n - 1))
  one_small,  // 1, ..., 1, 1 / kappa
  one_large,  // 1, 1 / kappa, ..., 1 / kappa
  linear,     // from 1 to 1 / kappa in equal steps
};

namespace detail {

// x := (I - 2 v v^T / v^T v) x for the columns of x, or for its rows.
inline void reflect(Matrix<double>& x, const std::vector<double>& v, bool rows) {
  const std::int64_t n = x.rows();
  double square = 0;
  for (const double e : v) square += e * e;
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& { return rows ? x(j, i) : x(i, j); };
  for (std::int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += v[static_cast<std::size_t>(i)] * at(i, j);
    for (std::int64_t i = 0; i < n; ++i) at(i, j) -= 2 * sum / square * v[static_cast<std::size_t>(i)];
  }
}

}  // namespace detail

// Random orthogonal matrices to the left and right of the singular values: products of `reflections` Householder
// matrices with normal vectors each. Rounding makes the condition number inexact near 1 / u.
inline Matrix<double> conditioned_matrix(std::int64_t n, double kappa, Spectrum spectrum, std::uint64_t seed,
                                         std::int64_t reflections = 8) {
  Random random(seed);
  const auto value = [&](std::int64_t i) {
    if (n == 1) return 1.0;
    const double t = static_cast<double>(i) / static_cast<double>(n - 1);
    switch (spectrum) {
      case Spectrum::one_small:
        return i == n - 1 ? 1 / kappa : 1.0;
      case Spectrum::one_large:
        return i == 0 ? 1.0 : 1 / kappa;
      case Spectrum::linear:
        return 1 - t * (1 - 1 / kappa);
      default:
        return std::pow(kappa, -t);
    }
  };
  auto a = Matrix<double>::of(n, n, [&](auto i, auto j) { return i == j ? value(i) : 0; });
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::int64_t r = 0; r < 2 * reflections; ++r) {
    for (double& e : v) e = random.normal();
    detail::reflect(a, v, r % 2 != 0);
  }
  return a;
}

}  // namespace vernier::test
