// Enclosures of solutions and inverses of matrices in host memory.
#include "base/duration.hpp"
#include "lapack/verified/host_system.hpp"
#include "product/arguments.hpp"
#include "product/native/native.hpp"

namespace vernier {

VerifiedReport verified_solve(std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda, const double* B,
                              std::int64_t ldb, double* Xlow, double* Xhigh, std::int64_t ldx, const Options& options) {
  return prove_solution({n, nrhs, A, B, lda, ldb, Xlow, Xhigh, ldx}, options);
}

VerifiedReport prove_solution(const ProofCall& call, const Options& asked) {
  const auto [n, nrhs, A, B, lda, ldb, Xlow, Xhigh, ldx, norm] = call;
  const Clock clock;
  check_system("verified_solve", n, nrhs, A, lda, B, ldb, asked);
  const Options options = for_order(std::max(n, nrhs), asked), of_inverse = for_order(n, asked);
  check_leading("verified_solve", "ldx", ldx, n);
  check_pointer("verified_solve", "Xlow", n > 0 && nrhs > 0, Xlow);
  check_pointer("verified_solve", "Xhigh", n > 0 && nrhs > 0, Xhigh);
  const FloatingEnvironment environment;
  const NearestProducts nearest;
  VerifiedReport report = verified_report("verified_solve", n, nrhs);
  const ApproximateInverse inverse = approximate_inverse(n, A, lda, Proves::solutions, of_inverse);
  report.contraction = inverse.contraction;
  report.reason = inverse.failure;
  if (report.reason.empty()) {
    const HostSystem system(n, nrhs, A, lda, B, ldb, inverse, options);
    const Enclosure e = n > 0 && nrhs > 0 ? enclose(system, inverse) : Enclosure{{}, {}, {}, true};
    report.verified = e.finite;
    if (norm != nullptr) *norm = norm_of_inverse(system, inverse);
    if (report.verified)
      write_intervals(e, n, nrhs, Xlow, Xhigh, ldx);
    else
      report.reason = "the solution, or its error, overflows";
  }
  report.seconds = clock.seconds();
  return report;
}

VerifiedReport verified_inverse(std::int64_t n, const double* A, std::int64_t lda, double* low, double* high,
                                std::int64_t ldx, const Options& asked) {
  const Clock clock;
  check_system("verified_inverse", n, 0, A, lda, A, lda, asked);
  const Options options = for_order(n, asked);
  check_leading("verified_inverse", "ldx", ldx, n);
  check_pointer("verified_inverse", "low", n > 0, low);
  check_pointer("verified_inverse", "high", n > 0, high);
  const FloatingEnvironment environment;
  const NearestProducts nearest;
  VerifiedReport report = verified_report("verified_inverse", n, n);
  const ApproximateInverse inverse = approximate_inverse(n, A, lda, Proves::inverse, options);
  report.contraction = inverse.contraction;
  report.reason = inverse.failure;
  if (report.reason.empty()) {
    // A^-1 = R + G A^-1: with e = |A^-1 - R|, e <= |G| |R| + |G| e, where |G||R| <= sums max(|R| / v), column by
    // column.
    const std::vector<double> r(inverse.r(), inverse.r() + n * n);
    std::vector<double> spread(r.size()), d(static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < n; ++j) {
      double most = 0;
      for (std::int64_t i = 0; i < n; ++i)
        most = std::max(most, above(std::fabs(r[static_cast<std::size_t>(i + j * n)]) /
                                    inverse.weight[static_cast<std::size_t>(i)]));
      for (std::size_t i = 0; i < d.size(); ++i) d[i] = above(inverse.sums[i] * most);
      const double factor = inverse.error_factor(d.data());
      for (std::size_t i = 0; i < d.size(); ++i)
        spread[i + static_cast<std::size_t>(j * n)] = sum_up(d[i], above(inverse.sums[i] * factor));
    }
    report.verified = all_finite(spread);
    if (report.verified)
      write_intervals({r, std::vector<double>(spread.size()), spread}, n, n, low, high, ldx);
    else
      report.reason = "the inverse, or its error, overflows";
  }
  report.seconds = clock.seconds();
  return report;
}

}  // namespace vernier
