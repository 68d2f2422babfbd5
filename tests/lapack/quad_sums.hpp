// Matrices of dd, and sums of their products as exact integers.
#pragma once

#include <gmpxx.h>

#include <vector>

#include "support/quad_values.hpp"
#include "vernier/quad.hpp"

namespace vernier::test {

using Entries = std::vector<dd>;

inline std::size_t at(std::int64_t i, std::int64_t j, std::int64_t ld) { return static_cast<std::size_t>(i + j * ld); }

inline Entries random_entries(std::int64_t count, std::uint64_t seed, double phi = 0.5) {
  Random r(seed);
  Entries x(static_cast<std::size_t>(count));
  for (dd& e : x) e = random_quad(r, phi, static_cast<const dd*>(nullptr));
  return x;
}

inline const auto unit_shift = static_cast<unsigned long>(-exact_unit);

// sum_l a_l b_l - c in units of 2^(2 exact_unit), as a double relative to the sum of magnitudes.
class Difference {
 public:
  template <class T>
  void add(const T& a, const T& b) {
    const mpz_class term = exact_value_of(a) * exact_value_of(b);
    sum_ += term, size_ += abs(term);
  }
  template <class T>
  void subtract(const T& c) {
    sum_ -= exact_value_of(c) << unit_shift;
  }
  double relative() const {
    if (sum_ == 0) return 0;
    const mpq_class quotient(abs(sum_), size_);
    return quotient.get_d();
  }

 private:
  mpz_class sum_ = 0, size_ = 0;
};

}  // namespace vernier::test
