// Corrections of solutions in dd, wherever the matrix, its factors and the vectors lie: sizes decide.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "vernier/quad.hpp"
#include "vernier/verified.hpp"

namespace vernier {

// A X = B, n x nrhs, and its vectors: x, zero at first, its residual or correction d, and the best x. Sizes are largest
// magnitudes of each column; NaN where there is one.
class RefinedSystem {
 public:
  using Sizes = std::vector<double>;
  struct Step {
    Sizes correction, solution;
  };

  virtual ~RefinedSystem() = default;
  virtual Sizes residual() = 0;  // d = B - A x
  virtual Step correct() = 0;    // d becomes the correction by the factors, next = x + d
  virtual void advance() = 0;    // x = next
  virtual void keep() = 0;       // the best x is this one

  std::int64_t n = 0, nrhs = 0;
  double norm_a = 0;          // at most |A|_inf
  Sizes size_b;               // of B
  double residual_error = 0;  // of a residual beyond its rounding, as a share of norm_a max |x| + max |b|
};

// Until corrections stop shrinking. Sets ok, corrections and errors of the report, whose tolerance is set.
void refine(RefinedSystem& system, QuadSolveReport& report);

double quad_tolerance(std::int64_t n);

// forward_error from r, the residual of x: x^ - x solves A e = r. solve: prove_solution of twice as many right-hand
// sides. rest: at least |A - B|_inf, B the matrix that it has.
using SolveVerified = std::function<VerifiedReport(const std::vector<double>& b, std::vector<double>& low,
                                                   std::vector<double>& high, double& norm)>;
void prove_forward_error(const RefinedSystem& system, const std::vector<dd>& x, const std::vector<dd>& r, double rest,
                         const SolveVerified& solve, QuadSolveReport& report);

// Vectors in host memory, without gaps.
class RefinedOnHost : public RefinedSystem {
 public:
  Sizes residual() final;
  Step correct() final;
  void advance() final { x_.swap(next_); }
  void keep() final { best_ = x_; }
  const std::vector<dd>& best() const { return best_; }
  void restart() { x_.assign(static_cast<std::size_t>(n * nrhs), {}); }

 private:
  virtual std::vector<dd> residual_of(const std::vector<dd>& x) const = 0;
  virtual void solve(std::vector<dd>& r) const = 0;  // r becomes the correction

  std::vector<dd> x_, d_, next_, best_;
};

}  // namespace vernier
