// Enclosures of solutions and inverses of matrices in host memory.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/duration.hpp"
#include "base/environment.hpp"
#include "lapack/solve/system.hpp"
#include "lapack/verified/enclose.hpp"
#include "lapack/verified/upward.hpp"
#include "number/long_accumulator.hpp"
#include "product/arguments.hpp"

namespace vernier {
namespace {

// A column takes 5 ns a product by long sums, residues of M some 200 for all columns.
constexpr std::int64_t few = 8;

// Rows first .. first + count - 1 of a column; eight rows share the cache lines of M.
void sum_rows(std::int64_t n, double sign, const double* m, std::int64_t ld, const double* x, std::int64_t first,
              std::int64_t count, double* y) {
  LongAccumulator sums[few];
  for (std::int64_t i = 0; i < count; ++i) sums[i].add_product(y[first + i], 1);
  for (std::int64_t l = 0; l < n; ++l)
    for (std::int64_t i = 0; i < count; ++i) sums[i].add_product(m[first + i + l * ld], sign * x[l]);
  for (std::int64_t i = 0; i < count; ++i) y[first + i] = sums[i].rounded<double>();
}

// RN(sign M X + Y), entry by entry: M n x n, X and Y n x columns, finite. sign: 1 or -1; options: engine and threads.
std::vector<double> exact_columns(std::int64_t n, std::int64_t columns, double sign, const double* m, std::int64_t ld,
                                  const std::vector<double>& x, std::vector<double> y, const Options& options) {
  if (columns > few) {
    gemm<double>(Op::none, Op::none, n, columns, n, sign, m, ld, x.data(), n, 1, y.data(), n,
                 exact_products(options, Rounding::nearest));
    return y;
  }
#pragma omp parallel num_threads(usable_threads(options.threads))
  {
    const FloatingEnvironment environment;
#pragma omp for collapse(2) schedule(dynamic, 4)
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t first = 0; first < n; first += few)
        sum_rows(n, sign, m, ld, x.data() + j * n, first, std::min(few, n - first), y.data() + j * n);
  }
  return y;
}

}  // namespace

using Vectors = ProvedSystem::Vectors;

Vectors HostSystem::right_hand_sides() const {
  Vectors b(entries());
  for (std::int64_t j = 0; j < nrhs; ++j) std::copy_n(b_ + j * ldb_, n, b.data() + j * n);
  return b;
}

Vectors HostSystem::residual(const Vectors& x) const {
  return exact_columns(n, nrhs, -1, a_, lda_, x, right_hand_sides(), options_);
}

Vectors HostSystem::near_residual(const Vectors& x) const {
  System<double> system;
  system.n = n, system.a = a_, system.lda = lda_, system.threads = usable_threads(options_.threads);
  Columns columns(static_cast<std::size_t>(nrhs));
  std::iota(columns.begin(), columns.end(), std::int64_t{0});
  Vectors r(entries());
  system.residuals(columns, x.data(), right_hand_sides().data(), r.data());
  return all_finite(r) ? r : residual(x);
}

// By sums of two doubles a residual is off by its own rounding and by n + 2 roundings, squared, of |B| + |A||X|.
Vectors HostSystem::near_error(const Vectors& x, const Vectors& r) const {
  if (nrhs > by_loop) return {};
  Vectors size(entries());
  std::transform(x.begin(), x.end(), size.begin(), [](double e) { return std::fabs(e); });
  Vectors error = product_above(n, nrhs, a_, lda_, size, options_);
  const double count = static_cast<double>(n + 2), share = count * count * 0x1p-106 * (1 + 0x1p-30),
               tiny = static_cast<double>(n + 4) * 0x1p-1074;
  for (std::int64_t j = 0; j < nrhs; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      double& e = error[static_cast<std::size_t>(i + j * n)];
      e = sum_up(above(share * sum_up(e, std::fabs(b_[i + j * ldb_]))), tiny);
      e = sum_up(e, half_unit(r[static_cast<std::size_t>(i + j * n)]));
    }
  return error;
}

Vectors HostSystem::times_rounded_once(const Vectors& r) const {
  return exact_columns(n, nrhs, 1, inverse_.r(), n, r, Vectors(r.size()), options_);
}

Options for_order(std::int64_t n, Options options) {
  constexpr std::int64_t of_a_thread = 256;
  options.threads = static_cast<int>(std::clamp<std::int64_t>(n / of_a_thread, 1, usable_threads(options.threads)));
  return options;
}

VerifiedReport verified_solve(std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda, const double* B,
                              std::int64_t ldb, double* Xlow, double* Xhigh, std::int64_t ldx, const Options& asked) {
  const Clock clock;
  check_options("verified_solve", usual_products(asked));
  const Options options = for_order(std::max(n, nrhs), asked), of_inverse = for_order(n, asked);
  check_system("verified_solve", n, nrhs, A, lda, B, ldb, options);
  check_leading("verified_solve", "ldx", ldx, n);
  check_pointer("verified_solve", "Xlow", n > 0 && nrhs > 0, Xlow);
  check_pointer("verified_solve", "Xhigh", n > 0 && nrhs > 0, Xhigh);
  const FloatingEnvironment environment;
  VerifiedReport report = verified_report("verified_solve", n, nrhs);
  const ApproximateInverse inverse = approximate_inverse(n, A, lda, Proves::solutions, of_inverse);
  report.contraction = inverse.contraction;
  report.reason = inverse.failure;
  if (report.reason.empty()) {
    const bool any = n > 0 && nrhs > 0;
    const Enclosure e =
        any ? enclose(HostSystem(n, nrhs, A, lda, B, ldb, inverse, options), inverse) : Enclosure{{}, {}, {}, true};
    report.verified = e.finite;
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
  check_options("verified_inverse", usual_products(asked));
  const Options options = for_order(n, asked);
  check_system("verified_inverse", n, 0, A, lda, A, lda, options);
  check_leading("verified_inverse", "ldx", ldx, n);
  check_pointer("verified_inverse", "low", n > 0, low);
  check_pointer("verified_inverse", "high", n > 0, high);
  const FloatingEnvironment environment;
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
