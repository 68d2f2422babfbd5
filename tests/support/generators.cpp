#include "support/generators.hpp"

#include <cmath>
#include <limits>
#include <map>

namespace vernier::test {
namespace {

struct Shape {
  std::int64_t m, n, k;
};

template <class T>
using Maker = Operands<T> (*)(Shape, Random&);

template <class T, class ElementA, class ElementB>
Operands<T> operands(Shape s, ElementA a, ElementB b) {
  Operands<T> made;
  made.a = Matrix<T>::of(s.m, s.k, a);
  made.b = Matrix<T>::of(s.k, s.n, b);
  return made;
}

// Both operands from one rule that looks at no index.
template <class T, class Element>
Operands<T> alike(Shape s, Element element) {
  const auto any = [&](auto, auto) { return element(); };
  return operands<T>(s, any, any);
}

template <class T, int Percent>
Operands<T> random_phi(Shape s, Random& r) {
  return alike<T>(s, [&] { return r.scattered(Percent / 100.0); });
}

template <class T, int LeastA, int MostA, int LeastB, int MostB>
Operands<T> exp_rand(Shape s, Random& r) {
  return operands<T>(
      s, [&](auto, auto) { return r.exp_rand(LeastA, MostA); }, [&](auto, auto) { return r.exp_rand(LeastB, MostB); });
}

template <class T>
Operands<T> positive(Shape s, Random& r) {
  return alike<T>(s, [&] { return 1 + r.uniform(); });
}

template <class T>
Operands<T> integers(Shape s, Random& r) {
  return alike<T>(s, [&] { return static_cast<double>(r.integer(-1000, 1000)); });
}

// Rows of A and columns of B of very different size, each flat in itself.
template <class T>
Operands<T> graded_rows_and_columns(Shape s, Random& r) {
  const int reach = std::numeric_limits<T>::max_exponent / 4;
  const auto grade = [&](std::int64_t index) { return static_cast<int>(index * 7919 % (2 * reach + 1)) - reach; };
  return operands<T>(
      s, [&](auto i, auto) { return std::ldexp(r.scattered(0.5), grade(i)); },
      [&](auto, auto j) { return std::ldexp(r.scattered(0.5), grade(j + 1)); });
}

// x y - x y + small z: sums of 2^-40 of their terms.
template <class T>
Operands<T> cancelling(Shape s, Random& r) {
  Operands<T> made = alike<T>(s, [&] { return r.scattered(0.5); });
  for (std::int64_t l = 0; l < s.k; ++l) {
    if (l % 3 == 1) {
      for (std::int64_t i = 0; i < s.m; ++i) made.a(i, l) = made.a(i, l - 1);
      for (std::int64_t j = 0; j < s.n; ++j) made.b(l, j) = -made.b(l - 1, j);
    } else if (l % 3 == 2 || l == s.k - 1) {
      for (std::int64_t i = 0; i < s.m; ++i) made.a(i, l) = std::ldexp(made.a(i, l), -20);
      for (std::int64_t j = 0; j < s.n; ++j) made.b(l, j) = std::ldexp(made.b(l, j), -20);
    }
  }
  return made;
}

// As cancelling, at the top of the exponent range: partial sums overflow, the result does not.
template <class T>
Operands<T> cancelling_past_overflow(Shape s, Random& r) {
  Operands<T> made = cancelling<T>(s, r);
  const int up = std::numeric_limits<T>::max_exponent / 2 + 4;
  for (std::int64_t l = 0; l < s.k; ++l) {
    for (std::int64_t i = 0; i < s.m; ++i) made.a(i, l) = std::ldexp(made.a(i, l), up);
    for (std::int64_t j = 0; j < s.n; ++j) made.b(l, j) = std::ldexp(made.b(l, j), up);
  }
  return made;
}

template <class T>
Operands<T> subnormal_entries(Shape s, Random& r) {
  const int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  return operands<T>(
      s, [&](auto, auto) { return std::ldexp(static_cast<double>(r.integer(-999, 999)), least); },
      [&](auto, auto) { return std::ldexp(r.scattered(0.5), 40); });
}

template <class T>
Operands<T> subnormal_products(Shape s, Random& r) {
  const int half = std::numeric_limits<T>::min_exponent / 2;
  return alike<T>(s, [&] { return std::ldexp(r.scattered(0.5), half - 6); });
}

template <class T>
Operands<T> products_below_subnormal(Shape s, Random& r) {
  const int half = std::numeric_limits<T>::min_exponent / 2;
  return alike<T>(s, [&] { return std::ldexp(r.scattered(0.5), half - std::numeric_limits<T>::digits); });
}

// Some sums overflow, some do not.
template <class T>
Operands<T> near_overflow(Shape s, Random& r) {
  const int half = std::numeric_limits<T>::max_exponent / 2;
  return alike<T>(s, [&] { return std::ldexp(r.scattered(0.5), half + 1); });
}

template <class T>
Operands<T> largest_numbers(Shape s, Random& r) {
  return operands<T>(
      s, [&](auto, auto) { return r.sign() * std::numeric_limits<T>::max(); },
      [&](auto, auto) { return std::ldexp(r.scattered(0.5), -20); });
}

template <class T>
Operands<T> sparse(Shape s, Random& r) {
  return alike<T>(s, [&] { return r.uniform() < 0.06 ? r.scattered(1) : 0.0; });
}

template <class T>
Operands<T> banded(Shape s, Random& r) {
  const auto element = [&](std::int64_t i, std::int64_t j) { return std::abs(i - j) < 3 ? r.scattered(0.5) : 0.0; };
  return operands<T>(s, element, element);
}

template <class T>
Operands<T> triangular(Shape s, Random& r) {
  return operands<T>(
      s, [&](auto i, auto l) { return l <= i ? r.scattered(0.5) : 0.0; },
      [&](auto l, auto j) { return l <= j ? r.scattered(0.5) : 0.0; });
}

template <class T>
Operands<T> identity(Shape s, Random& r) {
  return operands<T>(
      s, [](auto i, auto l) { return i == l ? 1.0 : 0.0; }, [&](auto, auto) { return r.scattered(2); });
}

template <class T>
Operands<T> permutation(Shape s, Random& r) {
  const auto order = r.permutation(std::max(s.k, s.n));
  return operands<T>(
      s, [&](auto, auto) { return r.scattered(1); },
      [&](auto l, auto j) { return order[static_cast<std::size_t>(j)] == l ? 1.0 : 0.0; });
}

template <class T>
Operands<T> wide_row(Shape s, Random& r) {
  return operands<T>(
      s, [&](auto i, auto) { return i == s.m / 2 ? r.exp_rand(-30, 30) : r.scattered(0.5); },
      [&](auto, auto) { return r.scattered(0.5); });
}

template <class T>
Operands<T> wide_column(Shape s, Random& r) {
  return operands<T>(
      s, [&](auto, auto) { return r.scattered(0.5); },
      [&](auto, auto j) { return j == s.n / 2 ? r.exp_rand(-30, 30) : r.scattered(0.5); });
}

// A wide row whose large entries meet the small ones of a wide column.
template <class T>
Operands<T> wide_row_against_wide_column(Shape s, Random& r) {
  const auto grade = [&](std::int64_t l) { return static_cast<int>(l % 61) - 30; };
  return operands<T>(
      s, [&](auto i, auto l) { return std::ldexp(r.scattered(0.5), i == s.m / 2 ? grade(l) : 0); },
      [&](auto l, auto j) { return std::ldexp(r.scattered(0.5), j == s.n / 2 ? -grade(l) : 0); });
}

// One large entry in every row of A, which meets nothing in B, or nearly nothing.
template <class T, bool Zero>
Operands<T> masked_peak(Shape s, Random& r) {
  const std::int64_t peak = s.k / 2;
  return operands<T>(
      s, [&](auto, auto l) { return std::ldexp(r.scattered(0.5), l == peak ? 50 : 0); },
      [&](auto l, auto) { return l != peak ? r.scattered(0.5)
                                 : Zero    ? 0.0
                                           : std::ldexp(r.scattered(0.5), -50); });
}

// Whole rows, columns and values of the inner index that are zero.
template <class T>
Operands<T> zero_lines(Shape s, Random& r) {
  return operands<T>(
      s, [&](auto i, auto l) { return i % 3 == 0 || l % 4 == 1 ? 0.0 : r.scattered(0.5); },
      [&](auto l, auto j) { return j % 5 == 2 || l % 4 == 2 ? 0.0 : r.scattered(0.5); });
}

template <class T>
Operands<T> zeros(Shape s, Random&) {
  return alike<T>(s, [] { return 0.0; });
}

template <class T>
Operands<T> powers_of_two(Shape s, Random& r) {
  return alike<T>(s, [&] { return r.sign() * std::ldexp(1.0, static_cast<int>(r.integer(-12, 12))); });
}

// Every significand full, so that every product has all of its bits, and every row all of the same size.
template <class T>
Operands<T> full_significands(Shape s, Random& r) {
  return alike<T>(s, [&] { return r.sign() * (2 - static_cast<double>(std::numeric_limits<T>::epsilon())); });
}

template <class T>
Operands<T> graded_inner(Shape s, Random& r) {
  return graded_inner_index<T>(s.m, s.n, s.k, 30, static_cast<std::uint64_t>(r.integer(1, 1 << 30)));
}

template <class T>
const std::map<std::string, Maker<T>>& makers() {
  static const std::map<std::string, Maker<T>> table = {
      {"random_phi_0_1", random_phi<T, 10>},
      {"random_phi_0_5", random_phi<T, 50>},
      {"random_phi_1", random_phi<T, 100>},
      {"random_phi_2", random_phi<T, 200>},
      {"random_phi_4", random_phi<T, 400>},
      {"positive", positive<T>},
      {"exponents_15_by_15", exp_rand<T, -15, 15, -15, 15>},
      {"exponents_15_by_small", exp_rand<T, -15, 15, -35, -15>},
      {"exponents_15_by_smaller", exp_rand<T, -15, 15, -45, -35>},
      {"exponents_25_by_25", exp_rand<T, -25, 25, -25, 25>},
      {"integers", integers<T>},
      {"graded_rows_and_columns", graded_rows_and_columns<T>},
      {"graded_inner_index", graded_inner<T>},
      {"cancelling", cancelling<T>},
      {"cancelling_past_overflow", cancelling_past_overflow<T>},
      {"subnormal_entries", subnormal_entries<T>},
      {"subnormal_products", subnormal_products<T>},
      {"products_below_subnormal", products_below_subnormal<T>},
      {"near_overflow", near_overflow<T>},
      {"largest_numbers", largest_numbers<T>},
      {"sparse", sparse<T>},
      {"banded", banded<T>},
      {"triangular", triangular<T>},
      {"identity", identity<T>},
      {"permutation", permutation<T>},
      {"wide_row", wide_row<T>},
      {"wide_column", wide_column<T>},
      {"wide_row_against_wide_column", wide_row_against_wide_column<T>},
      {"masked_peak_against_zero", masked_peak<T, true>},
      {"masked_peak_against_small", masked_peak<T, false>},
      {"zero_lines", zero_lines<T>},
      {"zeros", zeros<T>},
      {"powers_of_two", powers_of_two<T>},
      {"full_significands", full_significands<T>},
  };
  return table;
}

}  // namespace

const std::vector<std::string>& operand_families() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& [name, maker] : makers<double>()) list.push_back(name);
    return list;
  }();
  return names;
}

template <class T>
Operands<T> make_operands(const std::string& family, std::int64_t m, std::int64_t n, std::int64_t k,
                          std::uint64_t seed) {
  Random random(seed);
  return makers<T>().at(family)({m, n, k}, random);
}

template <class T>
Operands<T> graded_inner_index(std::int64_t m, std::int64_t n, std::int64_t k, int half_span, std::uint64_t seed) {
  Random r(seed);
  // Both ends are there from the second inner index on.
  const auto grade = [&](std::int64_t l) {
    return l % 2 == 0 ? half_span - static_cast<int>(l / 2 % (half_span + 1))
                      : static_cast<int>(l / 2 % (half_span + 1)) - half_span;
  };
  return operands<T>(
      {m, n, k}, [&](auto, auto l) { return std::ldexp(r.scattered(0.5), grade(l)); },
      [&](auto l, auto) { return std::ldexp(r.scattered(0.5), -grade(l)); });
}

template Operands<float> make_operands<float>(const std::string&, std::int64_t, std::int64_t, std::int64_t,
                                              std::uint64_t);
template Operands<double> make_operands<double>(const std::string&, std::int64_t, std::int64_t, std::int64_t,
                                                std::uint64_t);
template Operands<float> graded_inner_index<float>(std::int64_t, std::int64_t, std::int64_t, int, std::uint64_t);
template Operands<double> graded_inner_index<double>(std::int64_t, std::int64_t, std::int64_t, int, std::uint64_t);

}  // namespace vernier::test
