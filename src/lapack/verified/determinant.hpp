// What proofs of determinants and of definiteness do wherever the matrices lie (docs/accuracy.md, theorem 14).
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "lapack/verified/upward.hpp"
#include "vernier/verified.hpp"

namespace vernier {

// A positive interval times 2^exponent.
class Factors2 {
 public:
  void multiply(double low, double high) {
    low_ = low_ == 1 ? low : below(low_ * low);
    high_ = high_ == 1 ? high : above(high_ * high);
    normalise();
  }
  void divide(double x) {  // by its exponent without rounding: quotients stay in range
    int exponent = 0;
    const double significand = std::frexp(x, &exponent);
    low_ = below(low_ / significand);
    high_ = above(high_ / significand);
    exponent_ -= exponent;
    normalise();
  }
  double low() const { return low_; }
  double high() const { return high_; }
  std::int64_t exponent() const { return exponent_; }

 private:
  void normalise() {  // powers of two: nothing is rounded
    int shift = 0;
    std::frexp(high_, &shift);
    low_ = std::ldexp(low_, -shift), high_ = std::ldexp(high_, -shift);
    exponent_ += shift;
  }

  double low_ = 1, high_ = 1;
  std::int64_t exponent_ = 0;
};

// A matrix B within radii, near the identity: its diagonal, and beside(v): at least the sums of rows of |B| v without
// it.
struct NearIdentity {
  std::vector<double> mid, rad;
  std::function<std::vector<double>(const std::vector<double>& v)> beside;
};
// The determinant of every such matrix; false where no v is found for which rows are dominant.
bool enclose_near_identity(const NearIdentity& b, Factors2& product);

// Of det A = +-det B / prod y_ii. Why not; empty on success.
std::string divide_by_diagonal(const std::vector<double>& y, bool negative, Factors2& product,
                               DeterminantInterval& result);

// The report of verified_determinant; enclose(interval) says why not. Of no rows the determinant is 1.
VerifiedReport report_determinant(std::int64_t n, const std::function<std::string(DeterminantInterval&)>& enclose,
                                  DeterminantInterval& determinant);

// Rows of P A as a factorisation's pivots place them: row i is row from[i] of A.
struct PivotedRows {
  std::vector<std::int64_t> from;
  bool odd = false;
};
PivotedRows pivoted_rows(const std::vector<std::int64_t>& pivots);

// A symmetric matrix S, and its factor at some shift.
class DefiniteProof {
 public:
  virtual ~DefiniteProof() = default;
  virtual bool factor(double shift) = 0;  // S - shift I = L L^T in floating point; false: there is no L
  virtual std::vector<double> solve(std::vector<double> x) const = 0;  // of L L^T
  virtual double bound(double shift) const = 0;  // the least eigenvalue of S by S = L L^T + F, at least
};
// The report of verified_definite, and a positive bound or 0.
VerifiedReport report_definite(std::int64_t n, DefiniteProof& proof, double& bound);

}  // namespace vernier
