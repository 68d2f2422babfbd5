#include "lapack/verified/regularity_proof.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "engine/panel.hpp"
#include "lapack/arguments.hpp"
#include "lapack/kernels.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"

namespace vernier {

double Regularity::error_factor(const double* d) const {
  double most = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) most = std::max(most, above(d[i] / weight[i]));
  return above(most / sum_down(1, -contraction));
}

std::vector<double> weights_by_norms(std::vector<double> rows) {
  const double most = *std::max_element(rows.begin(), rows.end());
  if (!std::isfinite(most)) return unit_weights(static_cast<std::int64_t>(rows.size()));
  for (double& e : rows) e = e / most + 0x1p-30;
  return rows;
}

double largest_beside(const std::vector<double>& sums, const std::vector<double>& v) {
  double most = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (std::isnan(sums[i])) return infinity;
    most = std::max(most, sums[i] / v[i]);
  }
  return most;
}

// The weights that prove most are near the eigenvector of the largest eigenvalue.
void prove_by(const std::function<std::vector<double>(const std::vector<double>&)>& times, std::vector<double> v,
              int attempts, Regularity& result, double enough) {
  result.contraction = infinity;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::vector<double> sums = times(v);
    double contraction = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) contraction = std::max(contraction, above(sums[i] / v[i]));
    if (std::any_of(sums.begin(), sums.end(), [](double x) { return std::isnan(x); })) contraction = infinity;
    if (contraction < result.contraction) result.contraction = contraction, result.weight = v, result.sums = sums;
    if (result.contraction < enough || !std::isfinite(contraction)) return;
    const double largest = *std::max_element(sums.begin(), sums.end());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = sums[i] / largest + 0x1p-30;
  }
}

std::vector<double> remainder_sums(const std::vector<double>& v, std::vector<double> sums, double share,
                                   const std::vector<double>& rest, double rounding) {
  double tiny = 0;  // of results that are subnormal
  for (const double x : v) tiny = sum_up(tiny, x);
  tiny = above(tiny * (static_cast<double>(v.size() + 4) * 0x1p-1074));
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = sum_up(sum_up(sums[i] * (1 + 0x1p-50), rest.empty() ? 0 : above(share * rest[i])),
                     sum_up(v[i] * rounding, tiny));
  return sums;
}

RemainderBits remainder_bits(std::int64_t n, double size) {
  const double count = static_cast<double>(n);
  const double asked = std::ceil(std::log2(count) + std::log2(size)) + spare_bits;
  constexpr double fewest = 24, below_fp64 = 48, beyond_fp64 = 59, most = 110;
  if (asked < below_fp64 || (asked >= beyond_fp64 && asked <= most)) {
    const int bits = static_cast<int>(std::max(asked, fewest));
    const double rounding = asked < below_fp64 ? 0x1p-52 : 0;  // of a native product, which may serve few bits
    return {Contract::bits(bits), above(std::ldexp(count, -bits) + rounding), true};
  }
  return {Contract::fp64(), (count + 2) * 0x1p-53, false};
}

RemainderBits remainder_by_norms(std::int64_t n, double size) {
  constexpr double spare = 3, fewest = 24, most = 110, longest = 900000;
  const double root = std::sqrt(static_cast<double>(n)) * (1 + 0x1p-50),
               asked = std::max(std::ceil(std::log2(root) + std::log2(size)) + spare, fewest);
  const bool enough = asked <= most && static_cast<double>(n) <= longest;
  Contract contract = Contract::normwise();
  contract.reproducible = true;  // by residues
  if (enough) contract.bits_asked = static_cast<int>(asked);
  return {contract, std::ldexp(root, -contract.bits_asked), enough};
}

bool serves(const std::function<void()>& product) {
  try {
    product();
  } catch (const Error& error) {
    if (error.status() != Status::bound_not_met) throw;
    return false;
  }
  return true;
}

std::string too_ill_conditioned(double contraction) {
  return fmt::format(
      "no norm of I - R A below 1 was found, the least is {:.2g}: the matrix is too ill-conditioned for an inverse in "
      "double",
      contraction);
}

Options usual_products(Options options) {
  options.contract = Contract::fp64();
  options.progress = {};
  return options;
}

Options for_order(std::int64_t n, Options options) {
  constexpr std::int64_t of_a_thread = 256;
  options.threads = static_cast<int>(std::clamp<std::int64_t>(n / of_a_thread, 1, usable_threads(options.threads)));
  return options;
}

namespace {

void by_rows(std::int64_t n, std::int64_t columns, const double* m, std::int64_t ld, const double* x, double* y,
             int threads, VectorKernel<double> kernel) {
  constexpr std::int64_t most_rows = 512;
  const std::int64_t rows = std::clamp(round_up(divide_up(n, threads), 64), std::int64_t{64}, most_rows);
#pragma omp parallel num_threads(threads)
  {
    const FloatingEnvironment environment;
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t first = 0; first < n; first += rows)
      for (std::int64_t c = 0; c < columns; ++c)
        kernel(std::min(rows, n - first), n, m + first, ld, x + c * n, y + first + c * n);
  }
}

std::vector<double> roots_above(std::int64_t n, std::vector<double> squares) {
  round_up_products(n, squares);
  for (double& e : squares) e = above(std::sqrt(e));
  return squares;
}

}  // namespace

std::vector<double> product_near(std::int64_t n, std::int64_t columns, const double* m, std::int64_t ld,
                                 const std::vector<double>& x, const Options& options) {
  std::vector<double> y(static_cast<std::size_t>(n * columns));
  by_rows(n, columns, m, ld, x.data(), y.data(), usable_threads(options.threads), vector_kernels<double>().subtract);
  for (double& e : y) e = 0 - e;
  return y;
}

std::vector<double> product_above(std::int64_t n, std::int64_t columns, const double* m, std::int64_t ld,
                                  const std::vector<double>& x, const Options& options) {
  std::vector<double> y(static_cast<std::size_t>(n * columns));
  if (columns > 2 * by_loop) {
    std::vector<double> size(static_cast<std::size_t>(n * n));
    for (std::int64_t j = 0; j < n; ++j)
      std::transform(m + j * ld, m + j * ld + n, size.data() + j * n, [](double e) { return std::fabs(e); });
    gemm<double>(Op::none, Op::none, n, columns, n, 1, size.data(), n, x.data(), n, 0, y.data(), n,
                 usual_products(options));
  } else {
    by_rows(n, columns, m, ld, x.data(), y.data(), usable_threads(options.threads),
            vector_kernels<double>().magnitudes);
  }
  round_up_products(n, y);
  return y;
}

void round_up_products(std::int64_t n, std::vector<double>& y) {
  // |T - M X| <= (n + 1) u M X, added in any order, and what products below the normal numbers lose.
  const double more = 1 + static_cast<double>(n + 4) * 0x1p-52, tiny = static_cast<double>(n + 4) * 0x1p-1074;
  for (double& e : y) e = e * more + tiny;
}

std::vector<double> product_error(std::int64_t n, std::vector<double> size) {
  const double share = static_cast<double>(n + 2) * 0x1p-53, tiny = static_cast<double>(n + 4) * 0x1p-1074;
  for (double& e : size) e = sum_up(above(e * share), tiny);
  return size;
}

std::vector<double> magnitudes_of(const std::vector<double>& x) {
  std::vector<double> size(x.size());
  std::transform(x.begin(), x.end(), size.begin(), [](double e) { return std::fabs(e); });
  return size;
}

std::vector<double> row_norms(std::int64_t n, const double* r, const Options& options) {
  std::vector<double> squares(static_cast<std::size_t>(n));
  constexpr std::int64_t strip = 64;
#pragma omp parallel for schedule(static) num_threads(usable_threads(options.threads))
  for (std::int64_t first = 0; first < n; first += strip) {
    const FloatingEnvironment environment;
    const std::int64_t count = std::min(n - first, strip);
    double sums[strip] = {};
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < count; ++i) sums[i] += r[first + i + j * n] * r[first + i + j * n];
    std::copy_n(sums, count, squares.data() + first);
  }
  return roots_above(n, std::move(squares));
}

std::vector<double> column_norms(std::int64_t n, const double* a, std::int64_t lda, const Options& options) {
  std::vector<double> squares(static_cast<std::size_t>(n));
#pragma omp parallel for schedule(static) num_threads(usable_threads(options.threads))
  for (std::int64_t j = 0; j < n; ++j) {
    const FloatingEnvironment environment;
    constexpr int lanes = 8;
    double sums[lanes] = {};
    for (std::int64_t i = 0; i < n; ++i) sums[i % lanes] += a[i + j * lda] * a[i + j * lda];
    for (const double sum : sums) squares[static_cast<std::size_t>(j)] += sum;
  }
  return roots_above(n, std::move(squares));
}

Options exact_products(Options options, Rounding rounding) {
  options.contract = Contract::exact(rounding);
  options.progress = {};
  return options;
}

void check_system(const char* routine, std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda,
                  const double* B, std::int64_t ldb, const Options& options) {
  check_options(routine, usual_products(options));
  check_system<double>(routine, {Op::none, n, nrhs, A, lda, B, ldb}, n > 0);
  const int threads = for_order(std::max(n, nrhs), options).threads;
  const auto check = [&](const char* name, const double* x, std::int64_t columns, std::int64_t ld) {
    if (n == 0) return;
    bool finite = true;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(&& : finite)
    for (std::int64_t j = 0; j < columns; ++j) {
      double poison = 0;
      for (std::int64_t i = 0; i < n; ++i) poison += x[i + j * ld] * 0;
      finite = finite && poison == 0;
    }
    for (std::int64_t j = 0; !finite && j < columns; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        require(std::isfinite(x[i + j * ld]), "{}: {}({}, {}) = {}: expected finite numbers", routine, name, i, j,
                x[i + j * ld]);
  };
  check("A", A, n, lda);
  check("B", B, nrhs, ldb);
}

}  // namespace vernier
