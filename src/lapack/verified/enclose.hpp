// Enclosures of solutions, wherever the matrices lie (docs/accuracy.md, theorem 14; Rump, Acta Numerica 19, 2010,
// section 10).
#pragma once

#include "lapack/verified/approximate_inverse.hpp"

namespace vernier {

// A X = B and R; vectors are n x nrhs in host memory.
class ProvedSystem {
 public:
  using Vectors = std::vector<double>;

  ProvedSystem(std::int64_t rows, std::int64_t columns) : n(rows), nrhs(columns) {}
  virtual ~ProvedSystem() = default;

  virtual Vectors right_hand_sides() const = 0;
  virtual Vectors residual(const Vectors& x) const = 0;  // RN(B - A X)
  // The same, or right to some 100 bits of |A||X| alone where that takes less time.
  virtual Vectors near_residual(const Vectors& x) const { return residual(x); }
  virtual bool near_is_rounded_once() const { return true; }
  // At least |R - (B - A X)| of R, the last near_residual(X); empty where no bound is known.
  virtual Vectors near_error(const Vectors& x, const Vectors& r) const;
  // R - A Z for a further part Z of X, and at least its error. Empty: there is none, but RN(R r).
  virtual Vectors further_residual(const Vectors&, const Vectors&) const { return {}; }
  virtual Vectors further_error(const Vectors&, const Vectors&, const Vectors&) const { return {}; }
  virtual Vectors times_rounded_once(const Vectors&) const { return {}; }
  virtual Vectors times(const Vectors& r) const = 0;        // R r, under `fp64`
  virtual Vectors times_above(const Vectors& r) const = 0;  // at least |R| r, r >= 0
  // times_above(e), in place, and at least |times(r) - R r|.
  virtual void times_bounds(Vectors& e, const Vectors& r, Vectors& error) const;

  std::size_t entries() const { return static_cast<std::size_t>(n * nrhs); }

  const std::int64_t n, nrhs;
};

// The solution lies within spread of X + Z. finite: else it is no enclosure.
struct Enclosure {
  std::vector<double> x, z, spread;
  bool finite = false;
};
Enclosure enclose(const ProvedSystem& system, const Regularity& proof);
// At least |A^-1|_inf.
double norm_of_inverse(const ProvedSystem& system, const Regularity& proof);

bool all_finite(const std::vector<double>& x);

// X + Z +- spread, column by column.
void write_intervals(const Enclosure& e, std::int64_t n, std::int64_t columns, double* low, double* high,
                     std::int64_t ld);

VerifiedReport verified_report(const char* routine, std::int64_t n, std::int64_t nrhs);

// A system and the ends of its solution; norm: of A's inverse, at least; null: not wanted.
struct ProofCall {
  std::int64_t n, nrhs;
  const double *A, *B;
  std::int64_t lda, ldb;
  double *Xlow, *Xhigh;
  std::int64_t ldx;
  double* norm = nullptr;
};
VerifiedReport prove_solution(const ProofCall& call, const Options& options);
namespace cuda {
VerifiedReport prove_solution(const ProofCall& call, const Options& options);
}

}  // namespace vernier
