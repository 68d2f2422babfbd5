// Linear systems in dd: fp64 factors, exact residuals, corrections.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "base/status.hpp"
#include "lapack/quad/quad_refinement.hpp"
#include "lapack/quad/solve_arguments.hpp"
#include "lapack/verified/enclose.hpp"
#include "lapack/verified/upward.hpp"
#include "product/native/native.hpp"
#include "residue/quad/dd_arithmetic.hpp"
#include "vernier/lapack.hpp"

namespace vernier {
namespace {

constexpr double largest_finite = std::numeric_limits<double>::max();

// Solves with the factors at hand, right-hand sides in fp64 or dd.
class QuadFactors {
 public:
  template <class TA>
  std::int64_t factor(bool in_dd, std::int64_t n, const TA* A, std::int64_t lda, const QuadOptions& options) {
    in_dd_ = in_dd, n_ = n, options_ = options;
    options_.contract = {};
    fp64_.threads = options.threads;
    pivots_.resize(static_cast<std::size_t>(n));
    in_dd ? wide_.reserve(static_cast<std::size_t>(n * n)) : lu_.reserve(static_cast<std::size_t>(n * n));
    for (std::int64_t j = 0; j < n; ++j)
      for (const TA *x = A + j * lda, *end = x + n; x < end; ++x)
        in_dd ? wide_.push_back(dd(*x)) : lu_.push_back(leading(*x));
    return in_dd ? quad_getrf(n, n, wide_.data(), n, pivots_.data(), options_)
                 : getrf<double>(n, n, lu_.data(), n, pivots_.data(), fp64_);
  }

  // R near A^-1 of factors in dd, by rows, which makes R A nearer to I than columns would.
  std::vector<dd> inverse() const {
    std::vector<dd> r(wide_.size());
    for (std::int64_t i = 0; i < n_; ++i) r[static_cast<std::size_t>(i * n_ + i)] = dd(1);
    quad_trsm(Side::right, Uplo::upper, Op::none, Diag::non_unit, n_, n_, 1, wide_.data(), n_, r.data(), n_, options_);
    quad_trsm(Side::right, Uplo::lower, Op::none, Diag::unit, n_, n_, 1, wide_.data(), n_, r.data(), n_, options_);
    for (std::int64_t i = n_ - 1; i >= 0; --i) {
      const std::int64_t other = pivots_[static_cast<std::size_t>(i)] - 1;
      if (other != i) std::swap_ranges(r.data() + i * n_, r.data() + (i + 1) * n_, r.data() + other * n_);
    }
    return r;
  }

  // r becomes the correction.
  void solve(std::int64_t columns, std::vector<dd>& r) const {
    if (!in_dd_) return solve_fp64(columns, r);
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t i = 0; i < n_; ++i)
        std::swap(r[static_cast<std::size_t>(i + c * n_)],
                  r[static_cast<std::size_t>(pivots_[static_cast<std::size_t>(i)] - 1 + c * n_)]);
    quad_trsm(Side::left, Uplo::lower, Op::none, Diag::unit, n_, columns, 1, wide_.data(), n_, r.data(), n_, options_);
    quad_trsm(Side::left, Uplo::upper, Op::none, Diag::non_unit, n_, columns, 1, wide_.data(), n_, r.data(), n_,
              options_);
  }

 private:
  // Each column is brought near 1 by a power of two: residuals far below 1 keep their digits.
  void solve_fp64(std::int64_t columns, std::vector<dd>& r) const {
    std::vector<double> x(r.size());
    std::vector<int> shift;
    for (std::int64_t c = 0; c < columns; ++c) {
      double most = 0;
      for (std::int64_t i = 0; i < n_; ++i)
        most = std::max(most, std::fabs(r[static_cast<std::size_t>(i + c * n_)].hi));
      shift.push_back(most > 0 ? std::ilogb(most) : 0);
    }
    const auto shift_of = [&](std::size_t e) { return shift[e / static_cast<std::size_t>(n_)]; };
    for (std::size_t e = 0; e < x.size(); ++e) x[e] = std::ldexp(r[e].hi, -shift_of(e));
    getrs<double>(Op::none, n_, columns, lu_.data(), n_, pivots_.data(), x.data(), n_, fp64_);
    for (std::size_t e = 0; e < x.size(); ++e) r[e] = dd(std::ldexp(x[e], shift_of(e)));
  }

  bool in_dd_ = false;
  std::int64_t n_ = 0;
  QuadOptions options_;
  Options fp64_;
  std::vector<double> lu_;
  std::vector<dd> wide_;
  std::vector<std::int64_t> pivots_;
};

template <class TA, class TB>
class QuadSolver final : public RefinedOnHost {
 public:
  QuadSolver(std::int64_t order, std::int64_t columns, const TA* A, std::int64_t lda, const TB* B, std::int64_t ldb,
             const QuadOptions& options, QuadSolveReport& report)
      : a_(A), lda_(lda), b_(B), ldb_(ldb), options_(options), report_(report) {
    n = order, nrhs = columns;
    norm_a = norm_of_a();
    for (std::int64_t c = 0; c < nrhs; ++c) {
      double most = 0;
      for (std::int64_t i = 0; i < n; ++i) most = std::max(most, std::fabs(leading(b_[i + c * ldb_])));
      size_b.push_back(most);
    }
    report.n = n, report.nrhs = nrhs;
    report.tolerance = quad_tolerance(n);
  }

  // X, n x nrhs; empty where A is singular.
  std::vector<dd> run() {
    for (const bool in_dd : {false, true}) {
      restart();
      report_.factors = in_dd ? "dd" : "fp64";
      report_.info = factors_.factor(in_dd, n, a_, lda_, options_);
      if (report_.info != 0) continue;
      refine(*this, report_);
      if (report_.ok && options_.verified) in_dd ? prove_in_dd() : prove();
      if (report_.ok && report_.verified == options_.verified) break;
    }
    // What fp64 factors solved, and dd ones do not prove, stays.
    if (report_.ok && report_.info != 0) report_.info = 0, report_.factors = "fp64";
    if (report_.info != 0)
      report_.reason = fmt::format("U({0}, {0}) of the factorisation in dd is zero", report_.info);
    else if (!report_.ok)
      report_.reason = "corrections do not converge: the condition is beyond factors in dd";
    return report_.info != 0 ? std::vector<dd>() : best();
  }

 private:
  // By an inverse of A's leading parts.
  void prove() {
    std::vector<double> leads, sums(static_cast<std::size_t>(n), 0);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        const dd e(a_[i + j * lda_]);
        leads.push_back(leading(e));
        sums[static_cast<std::size_t>(i)] += std::fabs(sum_error(e.hi, e.lo, leads.back()));
      }
    const double rest = *std::max_element(sums.begin(), sums.end()) * (1 + static_cast<double>(n) * 0x1p-50);
    const Options products{
        .engine = options_.engine, .threads = options_.threads, .workspace_limit = options_.workspace_limit};
    prove_forward_error(
        *this, best(), residual_of(best()), rest,
        [&](const auto& b, auto& low, auto& high, double& norm) {
          return prove_solution({n, 2 * nrhs, leads.data(), b.data(), n, n, low.data(), high.data(), n, &norm},
                                products);
        },
        report_);
  }
  // By theorem 14: R of factors in dd, R A and R r within what quad_gemm promises.
  void prove_in_dd() {
    const NearestProducts nearest;
    const std::vector<dd> inverse = factors_.inverse(), r = residual_of(best());
    std::vector<dd> a, t(inverse.size()), d(r.size());
    for (std::int64_t j = 0; j < n; ++j) a.insert(a.end(), a_ + j * lda_, a_ + j * lda_ + n);
    const std::vector<double> size_r = sizes_above(inverse), size_a = sizes_above(a);
    const auto above_product = [&](const std::vector<double>& m, const std::vector<double>& v) {
      return product_above(n, static_cast<std::int64_t>(v.size()) / n, m.data(), n, v, {.threads = options_.threads});
    };
    const auto size_of_product = [&](const auto& v) { return above_product(size_r, above_product(size_a, v)); };
    const std::vector<double> v = weights_by_norms(above_product(size_r, unit_weights(n)));
    constexpr double fewest = 60, most = 226;
    const double count = static_cast<double>(n), asked = std::log2(count * largest_beside(size_of_product(v), v));
    QuadOptions quad = options_;
    quad.contract = {.kind = QuadContract::Kind::bits,
                     .bits_asked = static_cast<int>(std::clamp(asked + spare_bits, fewest, most))};
    const double share = above(std::ldexp(count, -quad.contract.bits_asked) + 0x1p-105);
    quad_gemm(Op::none, Op::none, n, n, n, 1, inverse.data(), n, a_, lda_, 0, t.data(), n, quad);
    for (std::size_t i = 0; i < t.size(); i += static_cast<std::size_t>(n + 1)) t[i] = t[i] - dd(1);
    const std::vector<double> size_t = sizes_above(t);
    Regularity proof;
    prove_by([&](const auto& w) { return remainder_sums(w, above_product(size_t, w), share, size_of_product(w)); }, v,
             attempts_by_exact, proof);
    if (!(proof.contraction < 1)) return;
    quad_gemm(Op::none, Op::none, n, nrhs, n, 1, inverse.data(), n, r.data(), n, 0, d.data(), n, quad);
    std::vector<double> error = sizes_above(d), lost = sizes_above(r);
    for (double& e : lost) e = e * (share + 0x1p-104) + 0x1p-1070;  // of the product, and of r's own rounding
    lost = above_product(size_r, lost);
    double worst = 0;
    for (std::size_t c = 0; c < size_b.size(); ++c) {
      const std::size_t first = c * proof.sums.size();
      double size = 0, own = 0;
      for (std::size_t i = first; i < first + proof.sums.size(); ++i) {
        error[i] = sum_up(error[i], sum_up(lost[i], 0x1p-1070));
        size = std::max(size, std::fabs(best()[i].hi) * (1 - 0x1p-50));
      }
      const double factor = proof.error_factor(error.data() + first);
      for (std::size_t i = 0; i < proof.sums.size(); ++i) {
        double& e = error[first + i];
        e = sum_up(e, above(proof.sums[i] * factor)), own = std::max(own, e);
      }
      worst = std::max(worst, size == 0 && size_b[c] == 0 ? 0 : above(own / size));
    }
    if (report_.verified = all_finite(error) && std::isfinite(worst); report_.verified) report_.forward_error = worst;
  }
  static std::vector<double> sizes_above(const std::vector<dd>& x) {
    std::vector<double> sizes;
    for (const dd& e : x) sizes.push_back(sum_up(std::fabs(e.hi), std::fabs(e.lo)));
    return sizes;
  }
  // B - A X, rounded once.
  std::vector<dd> residual_of(const std::vector<dd>& x) const override {
    std::vector<dd> r(static_cast<std::size_t>(n * nrhs));
    for (std::int64_t c = 0; c < nrhs; ++c)
      for (std::int64_t i = 0; i < n; ++i) r[static_cast<std::size_t>(i + c * n)] = dd(b_[i + c * ldb_]);
    QuadOptions exact = options_;
    exact.contract = {.kind = QuadContract::Kind::exact};
    quad_gemm(Op::none, Op::none, n, nrhs, n, -1, a_, lda_, x.data(), n, 1, r.data(), n, exact);
    return r;
  }
  void solve(std::vector<dd>& r) const override { factors_.solve(nrhs, r); }
  double norm_of_a() const {
    std::vector<double> sums(static_cast<std::size_t>(n), 0);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) sums[static_cast<std::size_t>(i)] += std::fabs(leading(a_[i + j * lda_]));
    const double norm = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
    return std::min(norm, largest_finite) * (1 - static_cast<double>(n) * 0x1p-52);
  }

  const TA* a_;
  const std::int64_t lda_;
  const TB* b_;
  const std::int64_t ldb_;
  const QuadOptions& options_;
  QuadSolveReport& report_;
  QuadFactors factors_;
};

double raised_by(double x, int exponent) { return std::ldexp(x, exponent); }
dd raised_by(const dd& x, int exponent) { return dd(std::ldexp(x.hi, exponent), std::ldexp(x.lo, exponent)); }

// Each `group` of columns whose largest element is so small that dd loses bits of sums with it becomes a copy, times
// the power of two that brings it near 1: exactly. The exponent of each column, or 0.
template <class T>
std::vector<int> raise(std::int64_t rows, std::int64_t columns, std::int64_t group, const T*& x, std::int64_t& ld,
                       std::vector<T>& copy) {
  constexpr int least = -400;
  std::vector<int> raised;
  bool any = false;
  for (std::int64_t j = 0; j < columns; j += group) {
    double largest = 0;
    for (std::int64_t l = j; l < j + group; ++l)
      for (std::int64_t i = 0; i < rows; ++i) largest = std::max(largest, std::fabs(dd(x[i + l * ld]).hi));
    const bool small = largest != 0 && std::ilogb(largest) < least;
    raised.insert(raised.end(), static_cast<std::size_t>(group), small ? -std::ilogb(largest) : 0);
    any |= small;
  }
  for (std::int64_t j = 0; any && j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      copy.push_back(raised_by(x[i + j * ld], raised[static_cast<std::size_t>(j)]));
  if (any) x = copy.data(), ld = rows;
  return raised;
}

// Columns of X times powers of two; what they lose, below the least numbers or beyond the largest, counts in its
// errors.
void bring_back(std::vector<dd>& x, const std::vector<int>& exponents, QuadSolveReport& report) {
  double share = 0;  // of the largest in a column
  for (std::size_t c = 0, rows = static_cast<std::size_t>(report.n); c * rows < x.size(); ++c) {
    double lost = 0, size = 0;
    for (std::size_t e = c * rows; e < (c + 1) * rows; ++e) {
      const dd before = x[e], after = raised_by(x[e] = raised_by(before, exponents[c]), -exponents[c]);
      lost = std::max(lost, std::fabs(before.hi - after.hi) + std::fabs(before.lo - after.lo));
      size = std::max(size, std::fabs(before.hi));
    }
    if (lost > 0) share = std::max(share, lost / size * (1 + 0x1p-45));
  }
  for (double* error : {&report.backward_error, &report.forward_error})
    if (share > 0) *error = share < 1 ? (*error + share) / (1 - share) * (1 + 0x1p-45) : infinity;
  if (!report.ok || report.backward_error <= report.tolerance) return;
  report.ok = report.verified = false;
  report.reason = "X lies outside the range of double-double";
}

}  // namespace

template <class TA, class TB>
QuadSolveReport quad_solve(std::int64_t n, std::int64_t nrhs, const TA* A, std::int64_t lda, const TB* B,
                           std::int64_t ldb, dd* X, std::int64_t ldx, const QuadOptions& options) {
  const Clock clock;
  check_quad_solve({n, nrhs, A, lda, B, ldb, X, ldx});
  check_finite("A", n, n, A, lda);
  check_finite("B", n, nrhs, B, ldb);
  const FloatingEnvironment environment;
  QuadSolveReport report;
  if (n == 0 || nrhs == 0) {
    report.ok = true;
    return report;
  }
  std::vector<TA> copy_a;
  std::vector<TB> copy_b;
  std::vector<int> raised = raise(n, nrhs, 1, B, ldb, copy_b);
  const int of_a = raise(n, n, n, A, lda, copy_a)[0];
  for (int& e : raised) e = of_a - e;
  std::vector<dd> x = QuadSolver<TA, TB>(n, nrhs, A, lda, B, ldb, options, report).run();
  bring_back(x, raised, report);
  for (std::int64_t c = 0; !x.empty() && c < nrhs; ++c) std::copy_n(x.data() + c * n, n, X + c * ldx);
  report.seconds = clock.seconds();
  return report;
}

template struct Instances<quad_solve<double, double>, quad_solve<double, dd>, quad_solve<dd, dd>>;

}  // namespace vernier
