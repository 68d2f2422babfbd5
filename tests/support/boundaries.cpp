#include "support/boundaries.hpp"

#include <gmpxx.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/exact.hpp"

namespace vernier::test {
namespace {

constexpr std::int64_t tail = 8;  // terms that bring a sum to its boundary, against ones in B

mpz_class power(int exponent) {  // in units of 2^-2148
  mpz_class x = 1;
  x <<= static_cast<unsigned long>(exponent - exact_unit);
  return x;
}

mpz_class product(double x, double y) {  // in units of 2^-2148
  return mpz_class(exact_value(x) * exact_value(y)) >> static_cast<unsigned long>(-exact_unit);
}

// Sums are made at the size of 1 and brought to where they belong by powers of two, so that no element is rounded.
struct Family {
  bool beside = false, on = true;
  int shift = 0;      // of every column
  int scatter = 0;    // and up to so much more or less
  int half_bit = 0;   // boundaries are odd multiples of 2^half_bit; 0: where the type's own are
  int row_shift = 0;  // of A
  int least_step = -1000;
  bool numbers = false;  // boundaries are numbers of the type
  bool largest = false;  // the boundary above the largest number with the exponent 0
};

template <class T>
Family family_of(const std::string& name) {
  using Limits = std::numeric_limits<T>;
  if (name == "near_numbers") return {.beside = true, .scatter = 20, .numbers = true};
  if (name == "subnormal_numbers") {
    Family family = family_of<T>("subnormal_ties");
    family.numbers = true;
    return family;
  }
  if (name == "ties") return {.scatter = 20};
  if (name == "near_ties") return {.beside = true, .on = false, .scatter = 20};
  if (name == "subnormal_ties") {
    const int shift = Limits::min_exponent - 4;
    return {.beside = true,
            .shift = shift / 2,
            .half_bit = Limits::min_exponent - 1 - Limits::digits - shift,
            .row_shift = shift - shift / 2,
            .least_step = sizeof(T) == 4 ? -80 : -300};
  }
  if (name == "overflow_ties") {
    const int shift = Limits::max_exponent - 1;
    return {.beside = true, .shift = shift / 2, .row_shift = shift - shift / 2, .largest = true};
  }
  throw std::out_of_range("no boundary family " + name);
}

// An odd multiple of half a unit in the last place.
template <class T>
mpz_class boundary(const Family& f, Random& r) {
  constexpr int digits = std::numeric_limits<T>::digits;
  const auto below = [&](int bits) { return static_cast<unsigned long>(r.integer(0, (std::int64_t{1} << bits) - 1)); };
  if (f.largest) return (power(1) - power(-digits)) * (r.sign() < 0 ? -1 : 1);
  const unsigned long half = f.numbers ? 0 : 1;
  if (f.half_bit != 0) return (2 * below(digits - 1) + half) * power(f.half_bit) * (r.sign() < 0 ? -1 : 1);
  const unsigned long odd = 2 * (below(digits - 1) + (1ul << (digits - 1))) + half;
  return odd * power(static_cast<int>(r.integer(-3, 6)) - digits) * (r.sign() < 0 ? -1 : 1);
}

}  // namespace

const std::vector<std::string>& boundary_families() {
  static const std::vector<std::string> names = {"ties", "near_ties", "subnormal_ties", "overflow_ties"};
  return names;
}

const std::vector<std::string>& directed_boundary_families() {
  static const std::vector<std::string> names = {"near_numbers", "subnormal_numbers", "overflow_ties"};
  return names;
}

template <class T>
Operands<T> make_boundary_operands(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k,
                                   std::uint64_t seed) {
  if (k < 2 * tail) throw std::invalid_argument("boundaries take 16 terms at least");
  const Family f = family_of<T>(name);
  Random r(seed);
  // The smallest difference that a tail of T can make, and the largest that still is "beside".
  const int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits + 1, most = -70;
  std::vector<T> column(static_cast<std::size_t>(k), T{1});
  for (std::int64_t l = 0; l < k - tail; ++l) column[static_cast<std::size_t>(l)] = static_cast<T>(r.scattered(0.5));
  Operands<T> made{Matrix<T>(m, k), Matrix<T>(k, n)};
  for (std::int64_t i = 0; i < m; ++i) {
    mpz_class missing = boundary<T>(f, r);
    if (f.beside && !(f.on && r.uniform() < 0.3)) {
      const mpz_class step = power(static_cast<int>(r.integer(std::max(least, f.least_step), most)));
      missing += r.sign() < 0 ? mpz_class(-step) : step;
    }
    for (std::int64_t l = 0; l < k - tail; ++l) {
      made.a(i, l) = static_cast<T>(std::ldexp(std::round(std::ldexp(r.scattered(0.5), 20)), -20));
      missing -= product(static_cast<double>(made.a(i, l)), static_cast<double>(column[static_cast<std::size_t>(l)]));
    }
    for (std::int64_t l = k - tail; l < k; ++l) {
      made.a(i, l) = rounded<T>(missing);
      missing -= exact_value(static_cast<double>(made.a(i, l)));
    }
    for (std::int64_t l = 0; l < k; ++l) made.a(i, l) = std::ldexp(made.a(i, l), f.row_shift);
    if (missing != 0) throw std::logic_error("the tail is too short for the boundary");
  }
  for (std::int64_t j = 0; j < n; ++j) {
    const int shift = f.shift + (f.scatter == 0 ? 0 : static_cast<int>(r.integer(-f.scatter, f.scatter)));
    const double sign = r.sign();
    for (std::int64_t l = 0; l < k; ++l)
      made.b(l, j) = static_cast<T>(std::ldexp(sign * static_cast<double>(column[static_cast<std::size_t>(l)]), shift));
  }
  return made;
}

template Operands<float> make_boundary_operands<float>(const std::string&, std::int64_t, std::int64_t, std::int64_t,
                                                       std::uint64_t);
template Operands<double> make_boundary_operands<double>(const std::string&, std::int64_t, std::int64_t, std::int64_t,
                                                         std::uint64_t);

}  // namespace vernier::test
