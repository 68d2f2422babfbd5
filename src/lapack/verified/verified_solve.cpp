// Enclosures of solutions and inverses (docs/accuracy.md, theorem 14; Rump, Acta Numerica 19, 2010, section 10).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/status.hpp"
#include "lapack/verified/approximate_inverse.hpp"
#include "lapack/verified/exact_columns.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"

namespace vernier {
namespace {

constexpr int corrections = 3;      // of X; each gains as many digits as R has
constexpr double unseen = 0x1p-57;  // beside an entry of X

VerifiedReport report_of(const char* routine, std::int64_t n, std::int64_t nrhs) {
  VerifiedReport report;
  report.routine = routine, report.n = n, report.nrhs = nrhs;
  return report;
}

struct System {
  std::int64_t n, nrhs;
  const double *A, *B;
  std::int64_t lda, ldb;
  const Options& options;

  std::size_t entries() const { return static_cast<std::size_t>(n * nrhs); }
  // RN(B - A X)
  std::vector<double> residual(const std::vector<double>& x) const {
    std::vector<double> b(entries());
    for (std::int64_t j = 0; j < nrhs; ++j) std::copy_n(B + j * ldb, n, b.data() + j * n);
    return exact_columns(n, nrhs, -1, A, lda, x, std::move(b), options);
  }
};

// X, corrected until another correction would not change it, and RN(B - A X).
struct Approximation {
  std::vector<double> x, residual;
};

Approximation approximate(const System& system, const ApproximateInverse& inverse) {
  Approximation a;
  a.x.resize(system.entries());
  for (int step = 0;; ++step) {
    a.residual = system.residual(a.x);
    std::vector<double> z(system.entries());
    gemm<double>(Op::none, Op::none, system.n, system.nrhs, system.n, 1, inverse.r.data(), system.n, a.residual.data(),
                 system.n, 0, z.data(), system.n, usual_products(system.options));
    double most = 0, least = infinity;
    for (const double e : z) most = std::max(most, std::fabs(e));
    for (const double e : a.x) least = std::min(least, std::fabs(e));
    // What a correction leaves of an error is some `contraction` of it: enclosures are no wider by that.
    const bool settled = step == corrections || (step > 0 && most * inverse.contraction <= least * unseen);
    if (settled) return a;
    for (std::size_t e = 0; e < z.size(); ++e) a.x[e] += z[e];
  }
}

bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double e) { return std::isfinite(e); });
}

std::vector<double> magnitudes(const std::vector<double>& x) {
  std::vector<double> size(x.size());
  std::transform(x.begin(), x.end(), size.begin(), [](double e) { return std::fabs(e); });
  return size;
}

// Z near R r, and at least |Z - R r|: by a product under fp64 where that error is not seen beside X, else rounded once.
struct Corrections {
  std::vector<double> z, error;
};

Corrections times_inverse(const System& system, const ApproximateInverse& inverse, const std::vector<double>& r,
                          const std::vector<double>& x) {
  const std::int64_t n = system.n;
  Corrections c{std::vector<double>(r.size()),
                product_above(n, system.nrhs, magnitudes(inverse.r), magnitudes(r), system.options)};
  gemm<double>(Op::none, Op::none, n, system.nrhs, n, 1, inverse.r.data(), n, r.data(), n, 0, c.z.data(), n,
               usual_products(system.options));
  const double share = static_cast<double>(n + 2) * 0x1p-53, tiny = static_cast<double>(n + 4) * 0x1p-1074;
  bool serves = true;
  for (std::size_t e = 0; e < r.size(); ++e) {
    c.error[e] = sum_up(above(c.error[e] * share), tiny);
    serves = serves && c.error[e] <= std::fabs(x[e]) * unseen;
  }
  if (serves) return c;
  c.z = exact_columns(n, system.nrhs, 1, inverse.r.data(), n, r, std::vector<double>(r.size()), system.options);
  for (std::size_t e = 0; e < r.size(); ++e) c.error[e] = half_unit(c.z[e]);
  return c;
}

// X + Z +- spread, column by column.
void write_intervals(const std::vector<double>& x, const std::vector<double>& z, const std::vector<double>& spread,
                     std::int64_t n, std::int64_t columns, double* low, double* high, std::int64_t ld) {
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto e = static_cast<std::size_t>(i + j * n);
      low[i + j * ld] = sum_down(x[e], sum_down(z[e], -spread[e]));
      high[i + j * ld] = sum_up(x[e], sum_up(z[e], spread[e]));
    }
}

}  // namespace

VerifiedReport verified_solve(std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda, const double* B,
                              std::int64_t ldb, double* Xlow, double* Xhigh, std::int64_t ldx, const Options& options) {
  const Clock clock;
  check_system("verified_solve", n, nrhs, A, lda, B, ldb);
  check_leading("verified_solve", "ldx", ldx, n);
  check_pointer("verified_solve", "Xlow", n > 0 && nrhs > 0, Xlow);
  check_pointer("verified_solve", "Xhigh", n > 0 && nrhs > 0, Xhigh);
  const FloatingEnvironment environment;
  VerifiedReport report = report_of("verified_solve", n, nrhs);
  const ApproximateInverse inverse = approximate_inverse(n, A, lda, options);
  report.contraction = inverse.contraction;
  report.reason = inverse.failure;
  if (report.reason.empty()) {
    const System system{n, nrhs, A, B, lda, ldb, options};
    const auto [x, residual] = approximate(system, inverse);
    const auto [z, own_error] = times_inverse(system, inverse, residual, x);
    // R (B - A X) lies within s of Z: its own error, and the rounding of the residual.
    std::vector<double> rounding(residual.size());
    for (std::size_t e = 0; e < rounding.size(); ++e) rounding[e] = half_unit(residual[e]);
    std::vector<double> s = product_above(n, nrhs, magnitudes(inverse.r), rounding, options), d(s.size());
    for (std::size_t e = 0; e < s.size(); ++e) s[e] = sum_up(s[e], own_error[e]), d[e] = sum_up(std::fabs(z[e]), s[e]);
    for (std::int64_t j = 0; j < nrhs; ++j) {
      const double factor = inverse.error_factor(d.data() + j * n);
      for (std::int64_t i = 0; i < n; ++i) {
        double& spread = s[static_cast<std::size_t>(i + j * n)];
        spread = sum_up(spread, above(inverse.sums[static_cast<std::size_t>(i)] * factor));
      }
    }
    report.verified = all_finite(x) && all_finite(z) && all_finite(s);
    if (report.verified)
      write_intervals(x, z, s, n, nrhs, Xlow, Xhigh, ldx);
    else
      report.reason = "the solution, or its error, overflows";
  }
  report.seconds = clock.seconds();
  return report;
}

VerifiedReport verified_inverse(std::int64_t n, const double* A, std::int64_t lda, double* low, double* high,
                                std::int64_t ldx, const Options& options) {
  const Clock clock;
  check_system("verified_inverse", n, 0, A, lda, A, lda);
  check_leading("verified_inverse", "ldx", ldx, n);
  check_pointer("verified_inverse", "low", n > 0, low);
  check_pointer("verified_inverse", "high", n > 0, high);
  const FloatingEnvironment environment;
  VerifiedReport report = report_of("verified_inverse", n, n);
  const ApproximateInverse inverse = approximate_inverse(n, A, lda, options);
  report.contraction = inverse.contraction;
  report.reason = inverse.failure;
  if (report.reason.empty()) {
    // A^-1 = R + G A^-1: with e = |A^-1 - R|, e <= |G| |R| + |G| e, where |G||R| <= sums max(|R| / v), column by
    // column.
    const std::vector<double> size = magnitudes(inverse.r);
    std::vector<double> spread(size.size()), d(static_cast<std::size_t>(n)), zero(size.size());
    for (std::int64_t j = 0; j < n; ++j) {
      double most = 0;
      for (std::int64_t i = 0; i < n; ++i)
        most = std::max(most,
                        above(size[static_cast<std::size_t>(i + j * n)] / inverse.weight[static_cast<std::size_t>(i)]));
      for (std::size_t i = 0; i < d.size(); ++i) d[i] = above(inverse.sums[i] * most);
      const double factor = inverse.error_factor(d.data());
      for (std::size_t i = 0; i < d.size(); ++i)
        spread[i + static_cast<std::size_t>(j * n)] = sum_up(d[i], above(inverse.sums[i] * factor));
    }
    report.verified = all_finite(spread);
    if (report.verified)
      write_intervals(inverse.r, zero, spread, n, n, low, high, ldx);
    else
      report.reason = "the inverse, or its error, overflows";
  }
  report.seconds = clock.seconds();
  return report;
}

std::string VerifiedReport::text() const {
  std::string out = fmt::format("{} n = {}, nrhs = {}: {}\n", routine, n, nrhs, verified ? "verified" : "NOT verified");
  if (!verified) out += fmt::format("  because    {}\n", reason);
  return out + fmt::format("  contraction {:.2g}, {:.3g} s\n", contraction, seconds);
}

std::string VerifiedReport::json() const {
  nlohmann::ordered_json j = {{"routine", routine}, {"verified", verified},       {"reason", reason},  {"n", n},
                              {"nrhs", nrhs},       {"contraction", contraction}, {"seconds", seconds}};
  if (!std::isfinite(contraction)) j["contraction"] = nullptr;
  return j.dump();
}

}  // namespace vernier
