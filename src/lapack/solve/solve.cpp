// The solver on a CPU.
#include <utility>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "lapack/offloaded.hpp"
#include "lapack/solve/solver.hpp"
#include "lapack/solve/system.hpp"
#include "number/complex.hpp"

namespace vernier {
namespace {

// Right-hand sides from which on residuals are products of matrices, and the order n / many_columns of fp64 factors:
// fp32 ones take a residual more, of all columns.
constexpr std::int64_t columns_for_block_residuals = 32, many_columns = 32;

// Of what the measurement of errors adds, the part of the tolerance that it may take.
constexpr double measurement_share = 0.125;

Options products_of(const SolveOptions& options, const Contract& usual) {
  Options products = options.products;
  products.contract = options.contract.value_or(usual);
  products.progress = {};
  return products;
}

// What the solver is to do: the factors to begin with are named.
template <class T>
SolveOptions resolved(std::int64_t n, std::int64_t nrhs, SolveOptions options) {
  if constexpr (is_complex<T>)
    require(options.factors == Factors::automatic || options.factors >= Factors::fp32,
            "solve: factors = {}: expected auto, fp32 or fp64 for a complex system", to_string(options.factors));
  const bool many = nrhs > n / many_columns && options.factors == Factors::automatic;
  options.factors = many ? Factors::fp64 : first_factors(n, options);
  return options;
}

// Operations of the factorisation, and of two solutions and residuals of all columns.
template <class T>
double expected_operations(std::int64_t n, std::int64_t nrhs) {
  const auto order = static_cast<double>(n), columns = static_cast<double>(nrhs);
  return (is_complex<T> ? 4 : 1) * (order * order * (2.0 / 3 * order + 2 * (2 + 6) * columns));
}

// Complex numbers as the real ones that they lie in memory as.
template <class T>
auto* parts_of(T* x) {
  if constexpr (std::is_const_v<T>)
    return reinterpret_cast<const RealType<std::remove_const_t<T>>*>(x);
  else
    return reinterpret_cast<RealType<T>*>(x);
}

// Of vectors of n pairs of numbers.
template <class R>
void conjugate_all(std::int64_t n, std::int64_t columns, R* x, std::int64_t ldx) {
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t i = 0; i < n; ++i) x[2 * i + 1 + c * ldx] = -x[2 * i + 1 + c * ldx];
}

}  // namespace

template <class T>
SolveReport solve(Op op, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, const T* B, std::int64_t ldb,
                  T* X, std::int64_t ldx, const SolveOptions& asked) {
  const Clock total;
  constexpr int parts = is_complex<T> ? 2 : 1;
  const SystemCall<T> call{op, n, nrhs, A, lda, B, ldb, X, ldx};
  check_solve(call, asked);
  const SolveOptions options = resolved<T>(n, nrhs, asked);
  explain<T>(Op::none, Op::none, 0, 0, 0, products_of(options, Contract::fp64()));  // throws on what gemm does not take
  const FloatingEnvironment environment;
  SolveReport report = begin_report<T>(n, nrhs, options);
  WorkMeter meter(options.products.progress, expected_operations<T>(n, nrhs));
  if (n == 0 || nrhs == 0) return report;
  if (auto offloaded = offloaded_solve(call, asked)) return *std::move(offloaded);
  const bool conjugated = is_complex<T> && op == Op::transpose;  // A^T X = B is A^H conj(X) = conj(B)
  RightHandSides rhs =
      read_right_hand_sides(parts * n, nrhs, parts_of(B), parts * ldb, std::pmr::get_default_resource(), parts);
  if (conjugated) conjugate_all(n, nrhs, rhs.b.data(), parts * n);
  System<T> system = measure_system(conjugated ? Op::conjugate_transpose : op, n, A, lda,
                                    usable_threads(options.products.threads), options.factors == Factors::fp32);
  system.meter = &meter;
  if (nrhs >= columns_for_block_residuals && !products_of(options, {}).contract.reproducible) {
    const double error = block_residual_error(system);
    if (error <= measurement_share * report.tolerance) system.measurement = error;
  }
  const auto factorise_in = [&](Factors precision) {
    const Contract usual = precision == Factors::fp64 ? Contract::fp64() : Contract::fp32();
    return factorise(system, precision, products_of(options, usual));
  };
  Solver solver(system, std::move(rhs), factorise_in, options, report);
  if (solver.find()) {
    solver.write(parts_of(X), parts * ldx);
    if (conjugated) conjugate_all(n, nrhs, parts_of(X), parts * ldx);
  }
  report.seconds = total.seconds();
  meter.finish();
  return report;
}

VERNIER_TYPE_INSTANCES(solve)

}  // namespace vernier
