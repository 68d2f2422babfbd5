// What products of interval matrices have in common: point products rounded in a direction, and radii.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "vernier/verified.hpp"

namespace vernier {

// An operand as a matrix with its own rows and columns, without gaps.
struct IntervalOperand {
  Op op;
  std::int64_t rows, columns;
  std::vector<double> mid, rad = {};  // rad: empty if all are zero

  std::int64_t ld() const { return rows > 1 ? rows : 1; }
};

struct IntervalShape {
  std::int64_t m, n, k;
  const Options& options;
};

inline std::int64_t stored_rows(Op op, std::int64_t rows, std::int64_t columns) {
  return op == Op::none ? rows : columns;
}

// Sizes, leading dimensions and pointers {A, B, C, C's other matrix}, which Ahigh and Bhigh may follow.
void check_interval_arguments(const char* routine, Op opa, Op opb, const IntervalShape& p,
                              std::initializer_list<const void*> pointers, std::int64_t lda, std::int64_t ldb,
                              std::int64_t ldc);

void check_finite_entry(const char* routine, const char* name, double x, std::int64_t i, std::int64_t j);
void check_radius(const char* routine, const char* which, double x, std::int64_t i, std::int64_t j);

// At least max(high - mid, mid - low); [low, high] are checked to be ends.
struct MidRad {
  double mid, rad;
};
MidRad by_ends(const char* routine, const char* which, double low, double high, std::int64_t i, std::int64_t j);

// op(X) op(Y) of m x n, X stored as a is and Y as b is, every entry rounded once.
std::vector<double> interval_product(const IntervalShape& p, const IntervalOperand& a, const double* x,
                                     const IntervalOperand& b, const double* y, Rounding rounding);

// |A| Brad + Arad (|B| + Brad), rounded up twice, from the magnitudes of A and B; empty where all radii are zero.
std::vector<double> interval_radii(const IntervalShape& p, const IntervalOperand& a, const IntervalOperand& b,
                                   const std::vector<double>& size_a, const std::vector<double>& size_b);

// The product of operands without gaps, by ends: C of m x n with ldc.
void product_by_ends(const IntervalShape& p, const IntervalOperand& a, const IntervalOperand& b, double* low,
                     double* high, std::int64_t ldc);

}  // namespace vernier

// Both products on a GPU, with CUDA and without.
#define VERNIER_INTERVAL_PRODUCTS(T)                                                                                   \
  template void interval_gemm(Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const double*, std::int64_t, \
                              const T*, const double*, std::int64_t, T*, double*, std::int64_t, const Options&);       \
  template void interval_gemm_ends(Op, Op, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, std::int64_t, \
                                   const T*, const T*, std::int64_t, T*, T*, std::int64_t, const Options&);
