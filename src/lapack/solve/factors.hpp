// LU factors of a scaled matrix in some precision, and solves with them on vectors of double.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lapack/solve/system.hpp"

namespace vernier {

// ---- the steps of classical refinement, by whoever has the matrix and its factors

// The host's, columns n apart.
struct RefinementVectors {
  const double* b;
  double *x, *r;
};

// Vectors may be anywhere on the way: x and r are there after wait().
class Corrections {
 public:
  virtual ~Corrections() = default;
  // x = F^-1 b, r = b - op(A) x
  virtual void first(const Columns& columns) = 0;
  // r will hardly do: F^-1 r may begin, before anybody has seen r.
  virtual void expect_another(const Columns&) {}
  virtual void wait() {}
  // x += length F^-1 r, r = b - op(A) x
  virtual void add(const Columns& columns, const std::vector<double>& lengths) = 0;
};

class LuFactors;

// All of it on the host's vectors, at once.
std::unique_ptr<Corrections> host_corrections(const LinearSystem& system, const LuFactors& factors,
                                              const RefinementVectors& vectors);

// 2^rows[i] a_ij 2^columns[j] is what is factorised: largest entries of rows and columns near 1, and room above.
struct Equilibration {
  std::vector<int> rows, columns;
  bool wanted = false;  // false: one power of two for all, in rows
};

// `headroom`: the largest entries become about 2^-headroom.
Equilibration equilibrate(const LinearSystem& system, int headroom);

// So that 2^exponent x lies in [1/2, 1).
int normalising_exponent(double x);

// 2^rows[i] 2^columns[j] is one for all: nothing to do.
inline bool is_trivial(const Equilibration& e) { return !e.wanted && (e.rows.empty() || e.rows[0] == 0); }

// Of fp16 factors: growth by 2^12, then 2^24.
inline constexpr int half_headroom = -4, half_headroom_step = 12;

class LuFactors {
 public:
  virtual ~LuFactors() = default;
  virtual double unit_roundoff() const = 0;
  virtual double pivot_ratio() const { return 1; }  // of the smallest to the largest, where it is known
  // op(A) x = b, approximately; b and x in the columns named, which lie n apart.
  virtual void solve(Op op, const Columns& columns, double* x) const = 0;
  // Of these columns, or some of them.
  virtual std::unique_ptr<Corrections> corrections(const LinearSystem& system, const Columns&,
                                                   const RefinementVectors& vectors) const {
    return host_corrections(system, *this, vectors);
  }

  std::int64_t info = 0;  // as of getrf
  bool overflow = false;  // growth left the range; the factors are of no use
  bool equilibrated = false;
  bool definite = false;  // of a symmetric matrix that has to be positive definite: info as of potrf
};

// `precision` is not automatic. Options are those of the products. fp32 factors take system.floats for their own where
// it holds what they need.
template <class T>
std::unique_ptr<LuFactors> factorise(System<T>& system, Factors precision, const Options& options);

}  // namespace vernier
