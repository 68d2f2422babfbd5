// A system op(A) X = B as the solver sees it: measured, and free of extreme exponents.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/workspace.hpp"
#include "vernier/lapack.hpp"

namespace vernier {

using Columns = std::vector<std::int64_t>;  // numbers of right-hand sides

template <class T>
struct System {
  Op op = Op::none;
  std::int64_t n = 0;
  const T* a = nullptr;
  std::int64_t lda = 0;
  int threads = 1;
  std::vector<double> row_largest, column_largest;  // of |A|
  double largest = 0;
  double norm = 0;  // infinity norm of op(A), rounded up

  // 2^-exponent A is in `copy`, and is what a and all figures above mean; 0: A itself.
  int exponent = 0;
  std::vector<T> copy;

  std::unique_ptr<Workspace> floats;  // A, n x n, rounded to float while it was read; null if nobody asked
};

// Reads A once, or thrice where its largest entry is so large or small that products would leave the range of double.
// Throws Error(invalid_argument) where an entry is not finite.
template <class T>
System<T> measure_system(Op op, std::int64_t n, const T* a, std::int64_t lda, int threads, bool with_floats);

// r = b - op(A) x for the columns named, which lie n apart; every entry is right to about a unit roundoff of its own
// size plus n 2^-104 (|A||x|)_i.
template <class T>
void residuals(const System<T>& system, const Columns& columns, const double* x, const double* b, double* r);

// y += |op(A)| |x| of one column.
template <class T>
void add_magnitudes(const System<T>& system, const double* x, double* y);

double largest_magnitude(std::int64_t n, const double* x);  // NaN if one is there

// An upper bound of the normwise backward error of x, whose measured residual is r.
template <class T>
double backward_error(const System<T>& system, const double* x, const double* b, const double* r);

}  // namespace vernier
