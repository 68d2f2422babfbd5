// A system op(A) X = B as the solver sees it: measured, and free of extreme exponents.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

#include "base/workspace.hpp"
#include "lapack/level3.hpp"
#include "number/ieee754.hpp"
#include "vernier/lapack.hpp"

namespace vernier {

using Columns = std::vector<std::int64_t>;  // numbers of right-hand sides

// Largest entries beyond them are scaled first: products and their errors come near the ends of the range of double.
inline constexpr int least_system_exponent = -400, most_system_exponent = 400;

inline constexpr int exponent_limit = 1000;  // of scales: a power of two that double holds

inline constexpr std::int64_t residual_columns = 16;  // of A, after which residuals are two doubles that do not overlap
// Their error before the last rounding, beside |b| + |op(A)||x| (docs/accuracy.md, theorem 14).
constexpr double residual_share(std::int64_t n) {
  constexpr double width = residual_columns + 5;
  return (static_cast<double>(n) + width) * width * 0x1p-106 * (1 + 0x1p-30);
}

// What refinement asks of a system; its vectors are the host's, wherever A lies. Right-hand sides lie n apart.
class LinearSystem {
 public:
  LinearSystem() = default;
  LinearSystem(LinearSystem&&) = default;
  virtual ~LinearSystem() = default;

  // Residuals of many right-hand sides at once, by products of the BLAS underneath.

  // r = b - op(A) x for the columns named; every entry is right to about a unit roundoff of its own size plus
  // residual_share(n) (|b| + |op(A)||x|)_i.
  virtual void residuals(const Columns& columns, const double* x, const double* b, double* r) const = 0;
  // The same for normwise errors alone: right to measurement |op(A)| max |x| beside, as backward_error() knows.
  virtual void normwise_residuals(const Columns& columns, const double* x, const double* b, double* r) const {
    residuals(columns, x, b, r);
  }
  // y += |op(A)| |x| of one column, by moduli.
  virtual void add_magnitudes(const double* x, double* y) const = 0;
  // The largest 2^exponents[i] |a_ij| of every column j.
  virtual std::vector<double> largest_of_scaled_columns(const std::vector<int>& exponents) const = 0;

  // For vectors that come by here often.
  virtual std::pmr::memory_resource* memory() const { return std::pmr::get_default_resource(); }

  std::int64_t order() const { return n / parts; }

  Op op = Op::none;                                 // of complex systems none or conjugate_transpose
  int parts = 1;                                    // 2: vectors hold the real and the imaginary part of each entry
  std::int64_t n = 0;                               // of numbers in a vector: parts times the order
  std::vector<double> row_largest, column_largest;  // of the parts of A
  double largest = 0;
  double norm = 0;          // infinity norm of op(A), rounded up
  double measurement = 0;   // of normwise_residuals
  double* sizes = nullptr;  // where residuals() of a real A itself leave |A||x|, of products added in some order
  int exponent = 0;         // 2^-exponent A is what all figures and products above mean; 0: A itself
  WorkMeter* meter = nullptr;
};

template <class T>
class System final : public LinearSystem {
 public:
  void residuals(const Columns& columns, const double* x, const double* b, double* r) const override;
  void normwise_residuals(const Columns& columns, const double* x, const double* b, double* r) const override;
  void add_magnitudes(const double* x, double* y) const override;
  std::vector<double> largest_of_scaled_columns(const std::vector<int>& exponents) const override;

  const T* a = nullptr;  // the caller's, or copy
  std::int64_t lda = 0;
  int threads = 1;
  std::vector<T> copy;  // 2^-exponent A

  std::unique_ptr<Workspace> floats;  // A, n x n, rounded to float while it was read; null if nobody asked
};

// Reads A once, or thrice where its largest entry is so large or small that products would leave the range of double.
// Throws Error(invalid_argument) where an entry is not finite.
template <class T>
System<T> measure_system(Op op, std::int64_t n, const T* a, std::int64_t lda, int threads, bool with_floats);

double largest_magnitude(std::int64_t n, const double* x);          // NaN if one is there
double largest_entry(const LinearSystem& system, const double* x);  // of entries, complex ones too

// Each number becomes the modulus of its entry.
void take_moduli(const LinearSystem& system, double* x);

// x 2^exponent, rounded once, for any exponent: std::ldexp takes 10 ns a number.
inline double times_power(double x, int exponent) {
  return exponent >= -1022 && exponent <= 1023 ? x * power_of_two(exponent) : std::ldexp(x, exponent);
}
// Of exponents up to exponent_limit.
std::vector<double> powers_of_two(const std::vector<int>& exponents);

// An upper bound of the normwise backward error of x, whose measured residual is r.
double backward_error(const LinearSystem& system, const double* x, const double* b, const double* r);

// What System<std::complex<R>> does in its own way: vectors are pairs of doubles.
template <class R>
double largest_finite_part(const System<std::complex<R>>& system);  // throws Error where an entry is not finite
// Largest parts of rows and columns, and the norm by moduli; squares of parts have to stay within the range of double.
template <class R>
void take_figures(System<std::complex<R>>& system);
template <class R>
void complex_residuals(const System<std::complex<R>>& system, const Columns& columns, const double* x, const double* b,
                       double* r);
template <class R>
void add_complex_magnitudes(const System<std::complex<R>>& system, const double* x, double* y);

// r = b - op(A) x for the columns named, right to system.measurement |op(A)| max |x| and a unit roundoff of r itself.
// Returns false, with r of no meaning, where entries of x are too large or too small for that, or no numbers.
template <class T>
bool block_residuals(const System<T>& system, const Columns& columns, const double* x, const double* b, double* r);

// The bound of what block_residuals() leaves out, for system.measurement.
template <class T>
double block_residual_error(const System<T>& system);

}  // namespace vernier
