// Corrections of solutions in dd, wherever the matrix and its factors lie: vectors are looked at by the host.
#pragma once

#include <cstdint>
#include <vector>

#include "vernier/quad.hpp"

namespace vernier {

// A X = B, n x nrhs. Vectors are stored without gaps.
class RefinedSystem {
 public:
  virtual ~RefinedSystem() = default;
  virtual std::vector<dd> residual(const std::vector<dd>& x) const = 0;  // B - A X
  virtual void solve(std::vector<dd>& r) const = 0;                      // r becomes the correction, by factors

  std::int64_t n = 0, nrhs = 0;
  double norm_a = 0;           // at most |A|_inf
  std::vector<double> size_b;  // max |b| of each column
  double residual_error = 0;   // of a residual beyond its rounding, as a share of norm_a max |x| + max |b|
};

// Until corrections stop shrinking. Sets ok, corrections and errors of the report, whose tolerance is set.
std::vector<dd> refine(const RefinedSystem& system, QuadSolveReport& report);

double quad_tolerance(std::int64_t n);

// r = 2^shift x, column by column, with max |x| in [1, 2): residuals far below 1 keep their digits.
struct ScaledColumns {
  std::vector<double> x;
  std::vector<int> shift;

  ScaledColumns(std::int64_t n, std::int64_t columns, const std::vector<dd>& r);
  std::vector<dd> unscaled(std::int64_t n) const;
};

}  // namespace vernier
