#include "families.hpp"

#include <cmath>

#include "support/conditioned.hpp"
#include "support/generators.hpp"

namespace vernier::test {
namespace {

double log_uniform(Random& random, double least_exponent, double most_exponent) {
  return std::pow(10.0, least_exponent + (most_exponent - least_exponent) * random.uniform());
}

std::uint64_t seed_of(Random& random) { return static_cast<std::uint64_t>(random.integer(1, 1 << 30)); }

Matrix<double> uniform(std::int64_t n, Random& random) {
  return Matrix<double>::of(n, n, [&](auto, auto) { return 2 * random.uniform() - 1; });
}

Matrix<double> conditioned(std::int64_t n, Random& random, double most_exponent) {
  const auto spectrum = static_cast<Spectrum>(random.integer(0, 3));
  return conditioned_matrix(n, log_uniform(random, 0, most_exponent), spectrum, seed_of(random), 2);
}

Matrix<double> graded(std::int64_t n, Random& random, int reach) {
  auto a = uniform(n, random);
  std::vector<int> rows, columns;
  for (std::int64_t i = 0; i < n; ++i) {
    rows.push_back(static_cast<int>(random.integer(-reach, reach)));
    columns.push_back(static_cast<int>(random.integer(-reach, reach)));
  }
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      a(i, j) = std::ldexp(a(i, j), rows[static_cast<std::size_t>(i)] + columns[static_cast<std::size_t>(j)]);
  return a;
}

// Unimodular up to a permutation: L U with ones on both diagonals; a zero on one of them makes it singular.
Matrix<double> small_integers(std::int64_t n, Random& random, bool singular) {
  const std::int64_t zero = random.integer(0, n - 1);
  auto u = Matrix<double>::of(n, n, [&](auto i, auto j) {
    return i > j ? 0 : i < j ? static_cast<double>(random.integer(-1, 1)) : singular && i == zero ? 0 : 2;
  });
  return rows_in_order(u, random.permutation(n));
}

}  // namespace

std::vector<Family> families() {
  return {
      {"uniform", infinite, false, false, uniform},
      {"scattered", infinite, false, false,
       [](auto n, Random& r) { return scattered_matrix<double>(n, n, 3 * r.uniform(), seed_of(r)); }},
      {"condition to 1e4", 1e4, false, false, [](auto n, Random& r) { return conditioned(n, r, 4); }},
      {"condition to 1e8", 1e8, false, false, [](auto n, Random& r) { return conditioned(n, r, 8); }},
      {"condition to 1e13", 1e13, false, false, [](auto n, Random& r) { return conditioned(n, r, 13); }},
      {"condition to 1e18", infinite, false, false, [](auto n, Random& r) { return conditioned(n, r, 18); }},
      {"graded rows and columns", infinite, false, false, [](auto n, Random& r) { return graded(n, r, 12); }},
      {"wildly graded", infinite, false, false, [](auto n, Random& r) { return graded(n, r, 200); }},
      {"tiny", infinite, false, false,
       [](auto n, Random& r) {
         const int e = static_cast<int>(r.integer(-1060, -300));
         const auto a = uniform(n, r);
         return Matrix<double>::of(n, n, [&](auto i, auto j) { return std::ldexp(a(i, j), e); });
       }},
      {"huge", infinite, false, false,
       [](auto n, Random& r) {
         const int e = static_cast<int>(r.integer(300, 1020));
         const auto a = uniform(n, r);
         return Matrix<double>::of(n, n, [&](auto i, auto j) { return std::ldexp(a(i, j), e); });
       }},
      {"growth", infinite, false, false,  // Wilkinson's
       [](auto n, Random&) {
         return Matrix<double>::of(n, n, [&](auto i, auto j) { return j == n - 1 || i == j ? 1 : i > j ? -1 : 0; });
       }},
      {"Hilbert", infinite, false, false,
       [](auto n, Random&) {
         return Matrix<double>::of(n, n, [](auto i, auto j) { return 1.0 / static_cast<double>(i + j + 1); });
       }},
      {"sparse", infinite, false, false,
       [](auto n, Random& r) {
         return Matrix<double>::of(n, n, [&](auto i, auto j) { return i == j || r.uniform() < 0.05 ? r.normal() : 0; });
       }},
      {"triangular integers", infinite, false, false, [](auto n, Random& r) { return small_integers(n, r, false); }},
      {"singular integers", infinite, true, false, [](auto n, Random& r) { return small_integers(n, r, true); }},
      {"zero column", infinite, true, false,
       [](auto n, Random& r) {
         auto a = uniform(n, r);
         const std::int64_t column = r.integer(0, n - 1);
         for (std::int64_t i = 0; i < n; ++i) a(i, column) = 0;
         return a;
       }},
      {"rank deficient", infinite, false, false,  // up to rounding: LU may or may not meet an exact zero
       [](auto n, Random& r) {
         auto a = uniform(n, r);
         const std::int64_t copy = r.integer(0, n - 1);
         for (std::int64_t j = 0; j < n; ++j) a(copy, j) = 3 * a(n - 1 - copy, j);
         return a;
       }},
      {"not finite", infinite, false, true,
       [](auto n, Random& r) {
         auto a = uniform(n, r);
         a(r.integer(0, n - 1), r.integer(0, n - 1)) = r.uniform() < 0.5 ? std::nan("") : -infinite;
         return a;
       }},
  };
}

}  // namespace vernier::test
