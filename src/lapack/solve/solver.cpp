#include "lapack/solve/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "lapack/arguments.hpp"

namespace vernier {
namespace {

constexpr std::int64_t small_system = 200;  // below, fp64 factors are as fast as any

template <class T>
double tolerance_of(std::int64_t n, const SolveOptions& options) {
  if (options.tolerance > 0) return options.tolerance;
  return std::max(4.0, std::sqrt(static_cast<double>(n))) * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
}

}  // namespace

void check_solve(Op op, std::int64_t n, std::int64_t nrhs, const void* A, std::int64_t lda, const void* B,
                 std::int64_t ldb, const void* X, std::int64_t ldx, const SolveOptions& options) {
  check_op("solve", op);
  check_dimension("solve", "n", n);
  check_dimension("solve", "nrhs", nrhs);
  check_area("solve", n, std::max(n, nrhs));
  const bool works = n > 0 && nrhs > 0;
  check_pointer("solve", "A", works, A);
  check_leading("solve", "lda", lda, n);
  check_pointer("solve", "B", works, B);
  check_leading("solve", "ldb", ldb, n);
  check_pointer("solve", "X", works, X);
  check_leading("solve", "ldx", ldx, n);
  require(options.factors >= Factors::automatic && options.factors <= Factors::fp64, "solve: factors: unknown value {}",
          static_cast<int>(options.factors));
  require(options.refinement >= Refinement::automatic && options.refinement <= Refinement::gmres,
          "solve: refinement: unknown value {}", static_cast<int>(options.refinement));
  require(options.tolerance >= 0 && options.tolerance < 1, "solve: tolerance = {}: expected 0 or more, and less than 1",
          options.tolerance);
  require(options.max_iterations >= 0 && options.max_iterations <= 100000,
          "solve: max_iterations = {}: expected 0 to 100000", options.max_iterations);
}

Factors first_factors(std::int64_t n, const SolveOptions& options) {
  if (options.factors != Factors::automatic) return options.factors;
  return n < small_system ? Factors::fp64 : Factors::fp32;
}

template <class T>
SolveReport begin_report(std::int64_t n, std::int64_t nrhs, const SolveOptions& options) {
  SolveReport report;
  report.type = std::is_same_v<T, float> ? "float" : "double";
  report.n = n;
  report.nrhs = nrhs;
  report.factors = options.factors;
  report.tolerance = tolerance_of<T>(n, options);
  if (n == 0 || nrhs == 0) report.columns.assign(static_cast<std::size_t>(nrhs), SolveColumn{.ok = true});
  return report;
}

template <class T>
RightHandSides read_right_hand_sides(std::int64_t n, std::int64_t nrhs, const T* B, std::int64_t ldb,
                                     std::pmr::memory_resource* memory) {
  RightHandSides rhs{RefinedColumns::Vectors(checked_area<double>(n, nrhs), memory), {}};
  for (std::int64_t c = 0; c < nrhs; ++c) {
    double* b = rhs.b.data() + c * n;
    for (std::int64_t i = 0; i < n; ++i) {
      const T value = B[i + c * ldb];
      require(std::isfinite(value), "solve: B({}, {}) is {}: expected a finite number", i + 1, c + 1,
              std::isnan(value) ? "a NaN" : "an infinity");
      b[i] = static_cast<double>(value);
    }
    const double largest = largest_magnitude(n, b);
    rhs.exponents.push_back(largest == 0 ? 0 : std::ilogb(largest));
    for (std::int64_t i = 0; i < n; ++i) b[i] = times_power(b[i], -rhs.exponents.back());
  }
  return rhs;
}

Solver::Solver(const LinearSystem& system, RightHandSides rhs, Factorise factorise, const SolveOptions& options,
               SolveReport& report)
    : system_(system),
      factorise_(std::move(factorise)),
      options_(options),
      report_(report),
      exponents_(std::move(rhs.exponents)),
      columns_(system.n, report.nrhs, std::move(rhs.b)) {}

bool Solver::find() {
  std::vector<Factors> plan = {first_factors(system_.n, options_)};
  if (options_.fallback && plan.front() != Factors::fp64) plan.push_back(Factors::fp64);
  for (const Factors precision : plan) {
    const bool last = precision == plan.back();
    if (precision != plan.front()) report_.fallback = true;
    if (attempt(precision, last) && columns_.above(report_.tolerance).empty()) break;
    if (report_.verdict == Verdict::singular || report_.verdict == Verdict::indefinite) return false;
  }
  return true;
}

// Factors of roundoff u belong to a matrix u away from A: of conditions beyond 1 / u their inverse knows nothing.
void Solver::estimate_conditioning() {
  const auto estimate = [&] { report_.condition = estimate_condition(system_, *factors_); };
  const auto known = [&] { return report_.condition * factors_->unit_roundoff() <= 1; };
  estimate();
  if (!known() && options_.fallback && report_.factors != Factors::fp64) {
    factors_.reset();
    const Stopwatch factor_time;
    try {
      factors_ = factorise_(Factors::fp64);
    } catch (const Error& error) {  // the solution stands without estimates
      if (error.status() != Status::out_of_memory) throw;
      return;
    }
    report_.seconds_factor += factor_time.seconds();
    if (factors_->info == 0)
      estimate();
    else
      report_.condition = std::numeric_limits<double>::infinity();
  }
  if (!known()) factors_.reset();
}

template <class T>
void Solver::write(T* X, std::int64_t ldx) {
  const std::int64_t n = system_.n;
  report_.condition = columns_.condition;
  if ((options_.condition || options_.forward_error) && factors_ != nullptr) estimate_conditioning();
  std::vector<double> x(static_cast<std::size_t>(n)), r(x);
  report_.columns = columns_.reports();
  for (std::int64_t c = 0; c < report_.nrhs; ++c) {
    const int exponent = exponents_[static_cast<std::size_t>(c)] - system_.exponent;
    bool exact = true;
    for (std::int64_t i = 0; i < n; ++i) {
      const double best = columns_.best(c)[i];
      X[i + c * ldx] = static_cast<T>(times_power(best, exponent));
      x[static_cast<std::size_t>(i)] = times_power(static_cast<double>(X[i + c * ldx]), -exponent);
      exact = exact && x[static_cast<std::size_t>(i)] == best;
    }
    SolveColumn& column = report_.columns[static_cast<std::size_t>(c)];
    column.backward_error = columns_.error(c);
    if (!exact || options_.componentwise_error || options_.forward_error) {
      system_.residuals({0}, x.data(), columns_.b(c), r.data());
      column.backward_error = backward_error(system_, x.data(), columns_.b(c), r.data());
    }
    column.ok = column.backward_error <= report_.tolerance;
    add_requested(column, x.data(), columns_.b(c), r.data());
  }
  const bool all = std::all_of(report_.columns.begin(), report_.columns.end(), [](const auto& c) { return c.ok; });
  report_.verdict = all ? Verdict::ok : Verdict::above_tolerance;
  report_.gmres = columns_.gmres;
}

// Returns whether the factors were of use.
bool Solver::attempt(Factors precision, bool last) {
  factors_.reset();  // its memory is what the next ones need
  const Stopwatch factor_time;
  factors_ = factorise_(precision);
  report_.seconds_factor += factor_time.seconds();
  report_.factors = precision;
  report_.equilibrated = factors_->equilibrated;
  if (factors_->info != 0 || factors_->overflow) {
    refuse_factors(precision, last);
    return false;
  }
  const Stopwatch refinement_time;
  columns_.refine(system_, *factors_, {options_.refinement, report_.tolerance, options_.max_iterations, !last});
  report_.seconds_refine += refinement_time.seconds();
  if (!last && !columns_.above(report_.tolerance).empty())
    report_.reason = fmt::format("refinement with {} factors did not reach the tolerance", to_string(precision));
  return true;
}

void Solver::refuse_factors(Factors precision, bool last) {
  if (factors_->overflow)
    report_.reason = fmt::format("growth left the range of {} factors", to_string(precision));
  else
    report_.reason = fmt::format("a pivot of the {} factors is {}", to_string(precision),
                                 factors_->definite ? "not positive" : "zero");
  if (precision == Factors::fp64 && last) {
    report_.verdict = factors_->definite ? Verdict::indefinite : Verdict::singular;
    report_.info = factors_->info;
  }
  factors_.reset();
}

void Solver::add_requested(SolveColumn& column, const double* x, const double* b, const double* r) {
  const auto size = static_cast<std::size_t>(system_.n);
  if (options_.componentwise_error) {
    std::vector<double> yardstick(b, b + size);
    for (double& y : yardstick) y = std::abs(y);
    system_.add_magnitudes(x, yardstick.data());
    column.componentwise_error = 0;
    for (std::size_t i = 0; i < size; ++i)
      if (r[i] != 0) column.componentwise_error = std::max(column.componentwise_error, std::abs(r[i]) / yardstick[i]);
  }
  if (options_.forward_error)
    column.forward_error = factors_ == nullptr ? std::numeric_limits<double>::infinity()
                                               : estimate_forward_error(system_, *factors_, x, b, r);
}

template SolveReport begin_report<float>(std::int64_t, std::int64_t, const SolveOptions&);
template SolveReport begin_report<double>(std::int64_t, std::int64_t, const SolveOptions&);
template RightHandSides read_right_hand_sides(std::int64_t, std::int64_t, const float*, std::int64_t,
                                              std::pmr::memory_resource*);
template RightHandSides read_right_hand_sides(std::int64_t, std::int64_t, const double*, std::int64_t,
                                              std::pmr::memory_resource*);
template void Solver::write(float*, std::int64_t);
template void Solver::write(double*, std::int64_t);

}  // namespace vernier
