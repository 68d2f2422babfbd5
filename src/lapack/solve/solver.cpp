#include "lapack/solve/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/instantiate.hpp"
#include "number/complex.hpp"

namespace vernier {
namespace {

constexpr std::int64_t small_system = 200;  // below, fp64 factors are as fast as any

template <class T>
double tolerance_of(std::int64_t n, const SolveOptions& options) {
  if (options.tolerance > 0) return options.tolerance;
  return std::max(4.0, std::sqrt(static_cast<double>(n))) *
         static_cast<double>(std::numeric_limits<RealType<T>>::epsilon()) / 2;
}

}  // namespace

void check_solve_options(const SolveOptions& options) {
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
  report.type =
      std::string(is_complex<T> ? "complex " : "") + (std::is_same_v<RealType<T>, float> ? "float" : "double");
  report.n = n;
  report.nrhs = nrhs;
  report.factors = options.factors;
  report.tolerance = tolerance_of<T>(n, options);
  if (n == 0 || nrhs == 0) report.columns.assign(static_cast<std::size_t>(nrhs), SolveColumn{.ok = true});
  return report;
}

template <class T>
RightHandSides read_right_hand_sides(std::int64_t n, std::int64_t nrhs, const T* B, std::int64_t ldb,
                                     std::pmr::memory_resource* memory, int parts) {
  RightHandSides rhs{RefinedColumns::Vectors(checked_area<double>(n, nrhs), memory), {}};
  for (std::int64_t c = 0; c < nrhs; ++c) {
    double* b = rhs.b.data() + c * n;
    for (std::int64_t i = 0; i < n; ++i) {
      const T value = B[i + c * ldb];
      require(std::isfinite(value), "solve: B({}, {}) is {}: expected a finite number", i / parts + 1, c + 1,
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
  std::vector<Factors> plan = {first_factors(report_.n, options_)};
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
  const auto estimate = [&] {
    report_.condition = estimate_condition(system_, *factors_);
    pivot_ratio_ = factors_->pivot_ratio();
  };
  const auto known = [&] { return report_.condition * factors_->unit_roundoff() <= 1; };
  estimate();
  if (!known() && options_.fallback && report_.factors != Factors::fp64) {
    factors_.reset();
    const Clock factor_time;
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
      report_.condition = std::numeric_limits<double>::infinity(), pivot_ratio_ = 0;
  }
  if (!known()) factors_.reset();
}

// Always, of fp64 factors. Of coarser ones where a pivot is as small as their rounding, and the condition, as far as
// they know it, beyond what they know: then a right-hand side without a pattern is solved as those of the caller were,
// and its growth is a bound of the condition from below.
bool Solver::may_be_singular() {
  const double u = factors_->unit_roundoff();
  if (report_.factors == Factors::fp64) return true;
  if (!options_.fallback) return false;
  if (columns_.condition == 0 && factors_->pivot_ratio() < 8 * std::sqrt(static_cast<double>(system_.n)) * u)
    report_.condition = columns_.condition = estimate_condition(system_, *factors_);
  if (columns_.condition * u < 1) return false;
  constexpr double far = 0x1p40;  // growth may be n times less than the condition
  RefinedColumns::Vectors b(static_cast<std::size_t>(system_.n), system_.memory());
  std::uint64_t state = 1;
  for (double& x : b) x = (state = state * 6364136223846793005U + 1442695040888963407U) >> 63 == 0 ? 1 : -1;
  RefinedColumns probe(system_.n, 1, std::move(b));
  probe.refine(system_, *factors_, {options_.refinement, report_.tolerance, options_.max_iterations, false});
  return !(system_.norm * largest_entry(system_, probe.best(0)) < far);
}

template <class T>
void Solver::write(T* X, std::int64_t ldx) {
  const std::int64_t n = system_.n;
  report_.condition = columns_.condition;
  if (factors_ != nullptr && (options_.condition || options_.forward_error || may_be_singular()))
    estimate_conditioning();
  report_.columns = columns_.reports();
  Columns rounded;  // whose certificate is that of other numbers than were refined
  std::vector<double> x(static_cast<std::size_t>(n * report_.nrhs)), r;
  for (std::int64_t c = 0; c < report_.nrhs; ++c) {
    const int exponent = exponents_[static_cast<std::size_t>(c)] - system_.exponent;
    bool exact = true;
    for (std::int64_t i = 0; i < n; ++i) {
      const double best = columns_.best(c)[i];
      double& written = x[static_cast<std::size_t>(i + c * n)];
      written = times_power(static_cast<double>(static_cast<T>(times_power(best, exponent))), -exponent);
      exact = exact && written == best;
    }
    report_.columns[static_cast<std::size_t>(c)].backward_error = columns_.error(c);
    if (!exact || options_.componentwise_error || options_.forward_error) rounded.push_back(c);
  }
  if (!rounded.empty()) {
    r.resize(x.size());
    const bool entries = options_.componentwise_error || options_.forward_error;
    if (entries)
      system_.residuals(rounded, x.data(), columns_.b(0), r.data());
    else
      system_.normwise_residuals(rounded, x.data(), columns_.b(0), r.data());
  }
  for (const std::int64_t c : rounded) {
    SolveColumn& column = report_.columns[static_cast<std::size_t>(c)];
    column.backward_error = backward_error(system_, x.data() + c * n, columns_.b(c), r.data() + c * n);
    add_requested(column, x.data() + c * n, columns_.b(c), r.data() + c * n);
  }
  judge();
  for (std::int64_t c = 0; c < report_.nrhs; ++c) {  // last, since all else may fail
    const int exponent = exponents_[static_cast<std::size_t>(c)] - system_.exponent;
    for (std::int64_t i = 0; i < n; ++i) X[i + c * ldx] = static_cast<T>(times_power(columns_.best(c)[i], exponent));
  }
}

// Of rows and columns of very different size the condition tells no more than that: the pivots are those of the scaled
// matrix.
bool Solver::numerically_singular() const {
  if (report_.condition < 0x1p53) return false;
  return !report_.equilibrated || pivot_ratio_ <= static_cast<double>(report_.n) * 0x1p-53;
}

// Backward errors, and whether an ok may be said of such a matrix.
void Solver::judge() {
  for (SolveColumn& column : report_.columns) column.ok = column.backward_error <= report_.tolerance;
  const bool all = std::all_of(report_.columns.begin(), report_.columns.end(), [](const auto& c) { return c.ok; });
  const bool singular = numerically_singular();
  report_.verdict = !all ? Verdict::above_tolerance : singular ? Verdict::ill_conditioned : Verdict::ok;
  report_.gmres = columns_.gmres;
  if (report_.verdict == Verdict::ill_conditioned)
    for (SolveColumn& column : report_.columns) column.forward_error = std::numeric_limits<double>::infinity();
}

// Returns whether the factors were of use.
bool Solver::attempt(Factors precision, bool last) {
  factors_.reset();  // its memory is what the next ones need
  const Clock factor_time;
  factors_ = factorise_(precision);
  report_.seconds_factor += factor_time.seconds();
  report_.factors = precision;
  report_.equilibrated = factors_->equilibrated;
  if (factors_->info != 0 || factors_->overflow) {
    refuse_factors(precision, last);
    return false;
  }
  const Clock refinement_time;
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
    std::vector<double> yardstick(b, b + size), residual(r, r + size);
    take_moduli(system_, yardstick.data());
    take_moduli(system_, residual.data());
    system_.add_magnitudes(x, yardstick.data());
    column.componentwise_error = 0;
    for (std::size_t i = 0; i < size; ++i)
      if (residual[i] != 0)
        column.componentwise_error = std::max(column.componentwise_error, residual[i] / yardstick[i]);
  }
  if (options_.forward_error)
    column.forward_error = factors_ == nullptr ? std::numeric_limits<double>::infinity()
                                               : estimate_forward_error(system_, *factors_, x, b, r);
}

VERNIER_TYPE_INSTANCES(begin_report)
VERNIER_REAL_INSTANCES(read_right_hand_sides)
template void Solver::write(float*, std::int64_t);
template void Solver::write(double*, std::int64_t);

}  // namespace vernier
