// The exact product of two finite matrices, its one rounding, and the error of a result: all in integers, nothing
// rounded.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <vector>

#include "support/matrix.hpp"
#include "vernier/rounding.hpp"

namespace vernier::test {

// Sums of products of doubles are integer multiples of 2^-2148, the square of the smallest subnormal number.
inline constexpr int exact_unit = -2148;

// x in units of 2^-2148; x must be finite.
mpz_class exact_value(double x);

// value * 2^unit, rounded once, with gradual underflow and overflow to infinity, or to the largest number where the
// direction keeps below. Zero is +0.
template <class T>
T rounded(const mpz_class& value, int unit = exact_unit, Rounding rounding = Rounding::nearest);

// AB and |A||B| in units of 2^-2148.
template <class T>
class ExactProduct {
 public:
  ExactProduct(const Matrix<T>& a, const Matrix<T>& b);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t inner() const { return inner_; }
  const mpz_class& sum(std::int64_t i, std::int64_t j) const { return sums_[index(i, j)]; }
  const mpz_class& magnitude(std::int64_t i, std::int64_t j) const { return magnitudes_[index(i, j)]; }
  Matrix<T> rounded() const;  // every entry rounded once

 private:
  std::size_t index(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(i + j * rows_); }

  std::int64_t rows_, columns_, inner_;
  std::vector<mpz_class> sums_, magnitudes_;
};

// sum_l x_l^2 in units of 2^-2148: of every row, of every column.
template <class T>
std::vector<mpz_class> squared_row_norms(const Matrix<T>& x);
template <class T>
std::vector<mpz_class> squared_column_norms(const Matrix<T>& x);

// The largest |T - AB| / |A||B|, for a person to read; infinite where a nonzero T stands on nothing but zeros.
template <class T>
double largest_error(const ExactProduct<T>& exact, const Matrix<T>& result);

}  // namespace vernier::test
