#include "known_systems.hpp"

#include <stdexcept>

#include "vernier/vernier.hpp"

namespace vernier::test {

using bench::KnownRule;

KnownSystem::KnownSystem(const KnownRule& rule)
    : a(static_cast<std::size_t>(rule.n * rule.n)), b(static_cast<std::size_t>(rule.n)), x(b.size()) {
  fill(rule);
  multiply(rule);
  grade(rule);
}

void KnownSystem::fill(const KnownRule& rule) {
  const std::int64_t n = rule.n;
  const auto fill_with = [n](std::vector<double>& out, auto element) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) out[static_cast<std::size_t>(i + j * n)] = element(i, j);
  };
  if (rule.decades > 0) {
    std::vector<double> left(a.size()), right(a.size());
    fill_with(left, [&](auto i, auto j) { return factor_element(rule, true, i, j); });
    fill_with(right, [&](auto i, auto j) { return factor_element(rule, false, i, j); });
    gemm<double>(Op::none, Op::none, n, n, n, 1, left.data(), n, right.data(), n, 0, a.data(), n,
                 {.contract = Contract::fp64(), .threads = 1});
  } else {
    fill_with(a, [&](auto i, auto j) { return formula_element(rule, i, j); });
  }
  for (double& e : a) e = on_grid(rule, e);
  for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = solution_element(rule, i);
}

void KnownSystem::multiply(const KnownRule& rule) {
  bool rounded = false;
  for (std::int64_t j = 0; j < rule.n; ++j) {
    const double* column = a.data() + j * rule.n;
    if (x[static_cast<std::size_t>(j)] == 0) continue;
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = bench::add_exactly(b[i], column[i], x[static_cast<std::size_t>(j)], rounded);
  }
  if (rounded) throw std::runtime_error("b was rounded");
}

void KnownSystem::grade(const KnownRule& rule) {
  if (rule.grades == 0) return;
  for (std::int64_t j = 0; j < rule.n; ++j)
    for (std::int64_t i = 0; i < rule.n; ++i) {
      double& e = a[static_cast<std::size_t>(i + j * rule.n)];
      e = std::ldexp(e, grade_of(rule, 5, i) + grade_of(rule, 6, j));
    }
  for (std::int64_t i = 0; i < rule.n; ++i) {
    double &right = b[static_cast<std::size_t>(i)], &known = x[static_cast<std::size_t>(i)];
    right = std::ldexp(right, grade_of(rule, 5, i)), known = std::ldexp(known, -grade_of(rule, 6, i));
  }
}

}  // namespace vernier::test
