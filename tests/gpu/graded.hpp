// Data with grades along k, which balancing (residue/bound/balance.hpp) evens out.
#pragma once

#include <cmath>
#include <vector>

#include "support/generators.hpp"

namespace vernier::test {

// Even data with grades along k, 2^grade_a(i, grade) and 2^grade_b(j, grade), grade from -grades / 2 on.
template <class A, class B>
Operands<double> graded(std::int64_t m, std::int64_t n, std::int64_t k, int grades, A grade_a, B grade_b) {
  auto [a, b] = make_operands<double>("random_phi_0_5", m, n, k, 29);
  for (std::int64_t l = 0; l < k; ++l) {
    const int grade = static_cast<int>(l * grades / k) - grades / 2;
    for (std::int64_t i = 0; i < m; ++i) a(i, l) = std::ldexp(a(i, l), grade_a(i, grade));
    for (std::int64_t j = 0; j < n; ++j) b(l, j) = std::ldexp(b(l, j), grade_b(j, grade));
  }
  return {a, b};
}

// exp(-|i k / n - l| rate), [l][i] in memory: i of n, l of k.
inline std::vector<double> decays(std::int64_t n, std::int64_t k, double rate, bool alternating) {
  std::vector<double> x(static_cast<std::size_t>(n * k));
  for (std::int64_t l = 0; l < k; ++l)
    for (std::int64_t i = 0; i < n; ++i) {
      const double distance = std::abs(static_cast<double>(i * k) / static_cast<double>(n) - static_cast<double>(l));
      const double sign = alternating && (i + 3 * l) % 5 < 2 ? -1 : 1;
      x[static_cast<std::size_t>(l * n + i)] = sign * std::exp(-rate * distance);
    }
  return x;
}

}  // namespace vernier::test
