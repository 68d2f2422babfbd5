// The solver on a CPU.
#include "base/environment.hpp"
#include "lapack/solve/solver.hpp"

namespace vernier {
namespace {

Options products_of(const SolveOptions& options, const Contract& usual) {
  Options products = options.products;
  products.contract = options.contract.value_or(usual);
  return products;
}

}  // namespace

template <class T>
SolveReport solve(Op op, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, const T* B, std::int64_t ldb,
                  T* X, std::int64_t ldx, const SolveOptions& options) {
  const Stopwatch total;
  check_solve(op, n, nrhs, A, lda, B, ldb, X, ldx, options);
  explain<T>(Op::none, Op::none, 0, 0, 0, products_of(options, Contract::fp64()));  // throws on what gemm does not take
  const FloatingEnvironment environment;
  SolveReport report = begin_report<T>(n, nrhs, options);
  if (n == 0 || nrhs == 0) return report;
  RightHandSides rhs = read_right_hand_sides(n, nrhs, B, ldb, std::pmr::get_default_resource());
  const bool with_floats = first_factors(n, options) == Factors::fp32;
  System<T> system = measure_system(op, n, A, lda, usable_threads(options.products.threads), with_floats);
  const auto factorise_in = [&](Factors precision) {
    const Contract usual = precision == Factors::fp64 ? Contract::fp64() : Contract::fp32();
    return factorise(system, precision, products_of(options, usual));
  };
  Solver solver(system, std::move(rhs), factorise_in, options, report);
  if (solver.find()) solver.write(X, ldx);
  report.seconds = total.seconds();
  return report;
}

template SolveReport solve(Op, std::int64_t, std::int64_t, const float*, std::int64_t, const float*, std::int64_t,
                           float*, std::int64_t, const SolveOptions&);
template SolveReport solve(Op, std::int64_t, std::int64_t, const double*, std::int64_t, const double*, std::int64_t,
                           double*, std::int64_t, const SolveOptions&);

}  // namespace vernier
