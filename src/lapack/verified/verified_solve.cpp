// Enclosures of solutions and inverses (docs/accuracy.md, theorem 14; Rump, Acta Numerica 19, 2010, section 10).
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "lapack/verified/approximate_inverse.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"

namespace vernier {
namespace {

constexpr int corrections = 3;  // of X; each gains as many digits as R has

class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

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
  std::vector<double> product(const std::vector<double>& r, const std::vector<double>& x, Rounding rounding) const {
    std::vector<double> c(entries());
    gemm<double>(Op::none, Op::none, n, nrhs, n, 1, r.data(), n, x.data(), n, 0, c.data(), n,
                 exact_products(options, rounding));
    return c;
  }
  // RN(B - A X)
  std::vector<double> residual(const std::vector<double>& x) const {
    std::vector<double> c(entries());
    for (std::int64_t j = 0; j < nrhs; ++j) std::copy_n(B + j * ldb, n, c.data() + j * n);
    gemm<double>(Op::none, Op::none, n, nrhs, n, -1, A, lda, x.data(), n, 1, c.data(), n,
                 exact_products(options, Rounding::nearest));
    return c;
  }
};

bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double e) { return std::isfinite(e); });
}

std::vector<double> magnitudes(const std::vector<double>& x) {
  std::vector<double> size(x.size());
  std::transform(x.begin(), x.end(), size.begin(), [](double e) { return std::fabs(e); });
  return size;
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
    std::vector<double> x(system.entries()), residual, z;
    for (int step = 0; step <= corrections; ++step) {
      residual = system.residual(x);
      z = system.product(inverse.r, residual, Rounding::nearest);
      if (step < corrections)
        for (std::size_t e = 0; e < x.size(); ++e) x[e] += z[e];
    }
    // R (B - A X) lies within s of Z: its own rounding, and that of the residual.
    std::vector<double> rounding(residual.size());
    for (std::size_t e = 0; e < rounding.size(); ++e) rounding[e] = half_unit(residual[e]);
    std::vector<double> s = system.product(magnitudes(inverse.r), rounding, Rounding::up), d(s.size());
    for (std::size_t e = 0; e < s.size(); ++e)
      s[e] = sum_up(s[e], half_unit(z[e])), d[e] = sum_up(std::fabs(z[e]), s[e]);
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
