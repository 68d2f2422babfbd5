// The solver of lapack.hpp on any system and any factors: from coarse factors to fine, refinement with each, and the
// certificate of what is written.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "lapack/arguments.hpp"
#include "lapack/solve/factors.hpp"
#include "lapack/solve/refinement.hpp"

namespace vernier {

// Of sizes, leading dimensions, pointers and all options but those of the products.
void check_solve_options(const SolveOptions& options);
template <class T>
void check_solve(const SystemCall<T>& system, const SolveOptions& options) {
  check_op("solve", system.op);
  check_system("solve", system, !system.empty());
  check_pointer("solve", "X", !system.empty(), system.x);
  check_leading("solve", "ldx", system.ldx, system.n);
  check_solve_options(options);
}

// The factors to begin with.
Factors first_factors(std::int64_t n, const SolveOptions& options);

// type, n, nrhs and tolerance; with all columns ok if there is nothing to solve.
template <class T>
SolveReport begin_report(std::int64_t n, std::int64_t nrhs, const SolveOptions& options);

// Right-hand sides as vectors of double whose largest entries lie near 1, and the powers of two that this took.
struct RightHandSides {
  RefinedColumns::Vectors b;
  std::vector<int> exponents;
};

// Throws Error(invalid_argument) where an entry is not finite. An entry has so many parts: n and ldb count these.
template <class T>
RightHandSides read_right_hand_sides(std::int64_t n, std::int64_t nrhs, const T* B, std::int64_t ldb,
                                     std::pmr::memory_resource* memory, int parts = 1);

class Solver {
 public:
  // In the precision that is named, which is not automatic.
  using Factorise = std::function<std::unique_ptr<LuFactors>(Factors)>;

  Solver(const LinearSystem& system, RightHandSides rhs, Factorise factorise, const SolveOptions& options,
         SolveReport& report);

  bool find();  // false: the matrix is singular or indefinite

  // The certificate belongs to what is written, after its rounding to T and with its exponents restored.
  template <class T>
  void write(T* X, std::int64_t ldx);  // of real numbers: the parts of complex ones

 private:
  bool attempt(Factors precision, bool last);
  void refuse_factors(Factors precision, bool last);
  void estimate_conditioning();
  bool may_be_singular();
  bool numerically_singular() const;
  void judge();
  void add_requested(SolveColumn& column, const double* x, const double* b, const double* r);

  const LinearSystem& system_;
  Factorise factorise_;
  const SolveOptions& options_;
  SolveReport& report_;
  std::vector<int> exponents_;
  RefinedColumns columns_;
  std::unique_ptr<LuFactors> factors_;
  double pivot_ratio_ = 1;  // of the factors that the condition was estimated with
};

}  // namespace vernier
