// R near A^-1, and a proof that A is regular: |I - R A| v <= gamma v with gamma < 1 and v > 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vernier/verified.hpp"

namespace vernier {

struct ApproximateInverse {
  std::int64_t n = 0;
  std::vector<double> r;       // n x n
  std::vector<double> weight;  // v
  std::vector<double> sums;    // at least |I - R A| v
  double contraction = 0;      // gamma; proved where it is below 1
  std::string failure;         // empty: proved

  // At least |I - R A| e for every e >= 0 with e <= |I - R A| e + d: sums max(d / v) / (1 - gamma).
  double error_factor(const double* d) const;  // max(d / v) / (1 - gamma), rounded up
};

// Products under `fp64`; and under `exact` in a direction.
Options usual_products(Options options);
Options exact_products(Options options, Rounding rounding);

// At least M X of nonnegative n x n and n x columns.
std::vector<double> product_above(std::int64_t n, std::int64_t columns, const std::vector<double>& m,
                                  const std::vector<double>& x, const Options& options);

void check_system(const char* routine, std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda,
                  const double* B, std::int64_t ldb);

ApproximateInverse approximate_inverse(std::int64_t n, const double* A, std::int64_t lda, const Options& options);

}  // namespace vernier
