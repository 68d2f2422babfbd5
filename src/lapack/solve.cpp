// The solver: factors from coarse to fine, refinement with each, and the certificate of what is written.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "base/environment.hpp"
#include "lapack/arguments.hpp"
#include "lapack/lu_factors.hpp"
#include "lapack/refinement.hpp"

namespace vernier {
namespace {

constexpr std::int64_t small_system = 200;  // below, fp64 factors are as fast as any

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

template <class T>
double tolerance_of(std::int64_t n, const SolveOptions& options) {
  if (options.tolerance > 0) return options.tolerance;
  return std::max(4.0, std::sqrt(static_cast<double>(n))) * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
}

template <class T>
void check(Op op, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, const T* B, std::int64_t ldb,
           const T* X, std::int64_t ldx, const SolveOptions& options) {
  check_op("solve", op);
  check_dimension("solve", "n", n);
  check_dimension("solve", "nrhs", nrhs);
  const bool works = n > 0 && nrhs > 0;
  check_pointer("solve", "A", A, works);
  check_leading("solve", "lda", lda, n);
  check_pointer("solve", "B", B, works);
  check_leading("solve", "ldb", ldb, n);
  check_pointer("solve", "X", X, works);
  check_leading("solve", "ldx", ldx, n);
  require(options.factors >= Factors::automatic && options.factors <= Factors::fp64, "solve: factors: unknown value {}",
          static_cast<int>(options.factors));
  require(options.refinement >= Refinement::automatic && options.refinement <= Refinement::gmres,
          "solve: refinement: unknown value {}", static_cast<int>(options.refinement));
  require(options.tolerance >= 0 && options.tolerance < 1, "solve: tolerance = {}: expected 0 to 1", options.tolerance);
  require(options.max_iterations >= 0 && options.max_iterations <= 100000,
          "solve: max_iterations = {}: expected 0 to 100000", options.max_iterations);
  Options products = options.products;
  products.contract = options.contract.value_or(Contract::fp64());
  explain<T>(Op::none, Op::none, 0, 0, 0, products);  // throws on options that gemm would not take
}

Factors first_factors(std::int64_t n, const SolveOptions& options) {
  if (options.factors != Factors::automatic) return options.factors;
  return n < small_system ? Factors::fp64 : Factors::fp32;
}

// Right-hand sides as vectors of double whose largest entries lie near 1, and the powers of two that this took.
struct RightHandSides {
  std::vector<double> b;
  std::vector<int> exponents;
};

template <class T>
RightHandSides read_right_hand_sides(std::int64_t n, std::int64_t nrhs, const T* B, std::int64_t ldb) {
  RightHandSides rhs{std::vector<double>(static_cast<std::size_t>(n * nrhs)), {}};
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
    for (std::int64_t i = 0; i < n; ++i) b[i] = std::ldexp(b[i], -rhs.exponents.back());
  }
  return rhs;
}

template <class T>
class Solver {
 public:
  Solver(System<T>& system, RightHandSides rhs, const SolveOptions& options, SolveReport& report)
      : system_(system),
        options_(options),
        report_(report),
        exponents_(std::move(rhs.exponents)),
        columns_(system.n, report.nrhs, std::move(rhs.b)) {}

  // Returns false if the matrix is singular.
  bool find() {
    std::vector<Factors> plan = {first_factors(system_.n, options_)};
    if (options_.fallback && plan.front() != Factors::fp64) plan.push_back(Factors::fp64);
    for (const Factors precision : plan) {
      const bool last = precision == plan.back();
      if (precision != plan.front()) report_.fallback = true;
      if (attempt(precision, last) && columns_.above(report_.tolerance).empty()) break;
      if (report_.verdict == Verdict::singular) return false;
    }
    return true;
  }

  // The certificate belongs to what is written, after its rounding to T and with its exponents restored.
  void write(T* X, std::int64_t ldx) {
    const std::int64_t n = system_.n;
    std::vector<double> x(static_cast<std::size_t>(n)), r(x);
    report_.columns = columns_.reports();
    for (std::int64_t c = 0; c < report_.nrhs; ++c) {
      const int exponent = exponents_[static_cast<std::size_t>(c)] - system_.exponent;
      bool exact = true;
      for (std::int64_t i = 0; i < n; ++i) {
        const double best = columns_.best(c)[i];
        X[i + c * ldx] = static_cast<T>(std::ldexp(best, exponent));
        x[static_cast<std::size_t>(i)] = std::ldexp(static_cast<double>(X[i + c * ldx]), -exponent);
        exact = exact && x[static_cast<std::size_t>(i)] == best;
      }
      SolveColumn& column = report_.columns[static_cast<std::size_t>(c)];
      column.backward_error = columns_.error(c);
      if (!exact || options_.componentwise_error || options_.forward_error) {
        residuals(system_, {0}, x.data(), columns_.b(c), r.data());
        column.backward_error = backward_error(system_, x.data(), columns_.b(c), r.data());
      }
      column.ok = column.backward_error <= report_.tolerance;
      add_requested(column, x.data(), columns_.b(c), r.data());
    }
    const bool all = std::all_of(report_.columns.begin(), report_.columns.end(), [](const auto& c) { return c.ok; });
    report_.verdict = all ? Verdict::ok : Verdict::above_tolerance;
    report_.gmres = columns_.gmres;
    report_.condition = columns_.condition;
    if (options_.condition && factors_ != nullptr) report_.condition = estimate_condition(system_, *factors_);
  }

 private:
  // Returns whether the factors were of use.
  bool attempt(Factors precision, bool last) {
    Options products = options_.products;
    products.contract = options_.contract.value_or(precision == Factors::fp64 ? Contract::fp64() : Contract::fp32());
    factors_.reset();  // its memory is what the next ones need
    const Stopwatch factor_time;
    factors_ = factorise(system_, precision, products);
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

  void refuse_factors(Factors precision, bool last) {
    if (factors_->overflow)
      report_.reason = fmt::format("growth left the range of {} factors", to_string(precision));
    else
      report_.reason = fmt::format("a pivot of the {} factors is zero", to_string(precision));
    if (precision == Factors::fp64 && last) {
      report_.verdict = Verdict::singular;
      report_.info = factors_->info;
    }
    factors_.reset();
  }

  void add_requested(SolveColumn& column, const double* x, const double* b, const double* r) {
    const auto size = static_cast<std::size_t>(system_.n);
    if (options_.componentwise_error) {
      std::vector<double> yardstick(b, b + size);
      for (double& y : yardstick) y = std::abs(y);
      add_magnitudes(system_, x, yardstick.data());
      column.componentwise_error = 0;
      for (std::size_t i = 0; i < size; ++i)
        if (r[i] != 0) column.componentwise_error = std::max(column.componentwise_error, std::abs(r[i]) / yardstick[i]);
    }
    if (options_.forward_error)
      column.forward_error = factors_ == nullptr ? std::numeric_limits<double>::infinity()
                                                 : estimate_forward_error(system_, *factors_, x, b, r);
  }

  System<T>& system_;
  const SolveOptions& options_;
  SolveReport& report_;
  std::vector<int> exponents_;
  RefinedColumns columns_;
  std::unique_ptr<LuFactors> factors_;
};

}  // namespace

template <class T>
SolveReport solve(Op op, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, const T* B, std::int64_t ldb,
                  T* X, std::int64_t ldx, const SolveOptions& options) {
  const Stopwatch total;
  check(op, n, nrhs, A, lda, B, ldb, X, ldx, options);
  const FloatingEnvironment environment;
  SolveReport report;
  report.type = std::is_same_v<T, float> ? "float" : "double";
  report.n = n;
  report.nrhs = nrhs;
  report.factors = options.factors;
  report.tolerance = tolerance_of<T>(n, options);
  if (n == 0 || nrhs == 0) {
    report.columns.assign(static_cast<std::size_t>(nrhs), SolveColumn{.ok = true});
    return report;
  }
  RightHandSides rhs = read_right_hand_sides(n, nrhs, B, ldb);
  const bool with_floats = first_factors(n, options) == Factors::fp32;
  System<T> system = measure_system(op, n, A, lda, usable_threads(options.products.threads), with_floats);
  Solver<T> solver(system, std::move(rhs), options, report);
  if (solver.find()) solver.write(X, ldx);
  report.seconds = total.seconds();
  return report;
}

template SolveReport solve(Op, std::int64_t, std::int64_t, const float*, std::int64_t, const float*, std::int64_t,
                           float*, std::int64_t, const SolveOptions&);
template SolveReport solve(Op, std::int64_t, std::int64_t, const double*, std::int64_t, const double*, std::int64_t,
                           double*, std::int64_t, const SolveOptions&);

}  // namespace vernier
