#include "lapack/verified/approximate_inverse.hpp"

#include <algorithm>
#include <cmath>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "lapack/verified/upward.hpp"
#include "product/arguments.hpp"
#include "vernier/lapack.hpp"

namespace vernier {
namespace {

// |I - R A| from C, near I - R A: off by its own rounding, and by share |R||A| before that.
struct Remainder {
  std::int64_t n;
  const std::vector<double>& c;
  double share;  // 0: C is rounded once, A and R are not read
  const double* a;
  std::int64_t lda;
  const double* r;
  const Options& options;

  std::vector<double> size_of_product(const std::vector<double>& v) const {
    return product_above(n, 1, r, n, product_above(n, 1, a, lda, v, options), options);
  }

  // At least |I - R A| v, v > 0.
  std::vector<double> times(const std::vector<double>& v) const {
    std::vector<double> rest;
    if (share != 0) rest = size_of_product(v);
    return remainder_sums(v, product_above(n, 1, c.data(), n, v, options), share, rest);
  }
};

std::vector<double>& identity(std::int64_t n, std::vector<double>& x) {
  x.assign(static_cast<std::size_t>(n * n), 0);
  for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i + i * n)] = 1;
  return x;
}

// (L U)^-1 P: L^-1 column block by column block, each from its diagonal on, a third of a full triangular solve.
std::vector<double> inverse_of_factors(std::int64_t n, const std::vector<double>& factors,
                                       const std::vector<std::int64_t>& pivots, const Options& options) {
  const std::int64_t width = std::max<std::int64_t>(128, (n + 7) / 8);
  std::vector<double> r;
  identity(n, r);
  for (std::int64_t j = 0; j < n; j += width)
    trsm<double>(Side::left, Uplo::lower, Op::none, Diag::unit, n - j, std::min(width, n - j), 1,
                 factors.data() + j + j * n, n, r.data() + j + j * n, n, usual_products(options));
  trsm<double>(Side::left, Uplo::upper, Op::none, Diag::non_unit, n, n, 1, factors.data(), n, r.data(), n,
               usual_products(options));
  for (std::int64_t j = n - 1; j >= 0; --j)
    if (const std::int64_t p = pivots[static_cast<std::size_t>(j)] - 1; p != j)
      std::swap_ranges(r.begin() + j * n, r.begin() + (j + 1) * n, r.begin() + p * n);
  return r;
}

// C near I - R A.
void remainder(std::int64_t n, const double* A, std::int64_t lda, const ApproximateInverse& inverse,
               const Options& options, std::vector<double>& c) {
  gemm<double>(Op::none, Op::none, n, n, n, -1, inverse.r.data(), n, A, lda, 0, c.data(), n, options);
  for (std::int64_t i = 0; i < n; ++i) c[static_cast<std::size_t>(i + i * n)] += 1;
}

// |I - R A| by a product of as many bits as its size asks, which proves most matrices regular and costs little; else by
// an exact one. c: memory for C.
void prove_regular(std::int64_t n, const double* A, std::int64_t lda, Proves what, const Options& options,
                   std::vector<double>& c, ApproximateInverse& result) {
  Remainder g{n, c, 0, A, lda, result.r.data(), options};
  double size = infinity;
  if (what == Proves::solutions) {
    const std::vector<double> sizes = g.size_of_product(std::vector<double>(static_cast<std::size_t>(n), 1.0));
    size = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  }
  const RemainderBits bits = remainder_bits(n, size);
  const auto times = [&](const std::vector<double>& v) { return g.times(v); };
  Options usual = usual_products(options);
  usual.contract = bits.contract;
  g.share = bits.share;
  remainder(n, A, lda, result, usual, c);
  prove_by(times, n, 1, result);
  if (result.contraction < far_from_one) return;
  g.share = 0;
  gemm<double>(Op::none, Op::none, n, n, n, -1, result.r.data(), n, A, lda, 1, identity(n, c).data(), n,
               exact_products(options, Rounding::nearest));
  prove_by(times, n, attempts_by_exact, result);
}

}  // namespace

double Regularity::error_factor(const double* d) const {
  double most = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) most = std::max(most, above(d[i] / weight[i]));
  return above(most / sum_down(1, -contraction));
}

// The weights that prove most are near the eigenvector of the largest eigenvalue.
void prove_by(const std::function<std::vector<double>(const std::vector<double>&)>& times, std::int64_t n, int attempts,
              Regularity& result) {
  constexpr double enough = 0.5;
  std::vector<double> v(static_cast<std::size_t>(n), 1.0);
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
                                   const std::vector<double>& rest) {
  double tiny = 0;  // of results that are subnormal
  for (const double x : v) tiny = sum_up(tiny, x);
  tiny = above(tiny * (static_cast<double>(v.size() + 4) * 0x1p-1074));
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = sum_up(sum_up(sums[i] * (1 + 0x1p-50), rest.empty() ? 0 : above(share * rest[i])), tiny);
  return sums;
}

RemainderBits remainder_bits(std::int64_t n, double size) {
  constexpr int spare = 12;  // share size is some 2^-12 then: one correction of X more at most
  const double count = static_cast<double>(n);
  const double asked = std::ceil(std::log2(count) + std::log2(size)) + spare;
  if (!(asked < 48)) return {Contract::fp64(), (count + 2) * 0x1p-53};
  const int bits = std::max(static_cast<int>(asked), 24);
  return {Contract::bits(bits), above(std::ldexp(count, -bits) + 0x1p-52)};
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

std::vector<double> product_above(std::int64_t n, std::int64_t columns, const double* m, std::int64_t ld,
                                  const std::vector<double>& x, const Options& options) {
  std::vector<double> y(static_cast<std::size_t>(n * columns));
  constexpr std::int64_t rows = 512, few = 8;
  const int threads = usable_threads(options.threads);
  if (columns > few) {
    std::vector<double> size(static_cast<std::size_t>(n * n));
    for (std::int64_t j = 0; j < n; ++j)
      std::transform(m + j * ld, m + j * ld + n, size.data() + j * n, [](double e) { return std::fabs(e); });
    gemm<double>(Op::none, Op::none, n, columns, n, 1, size.data(), n, x.data(), n, 0, y.data(), n,
                 usual_products(options));
  } else {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t first = 0; first < n; first += rows)
      for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t l = 0; l < n; ++l)
          for (std::int64_t i = first; i < std::min(n, first + rows); ++i)
            y[static_cast<std::size_t>(i + c * n)] += std::fabs(m[i + l * ld]) * x[static_cast<std::size_t>(l + c * n)];
  }
  // |T - M X| <= (n + 1) u M X, added in any order, and what products below the normal numbers lose.
  const double more = 1 + static_cast<double>(n + 4) * 0x1p-52, tiny = static_cast<double>(n + 4) * 0x1p-1074;
  for (double& e : y) e = e * more + tiny;
  return y;
}

Options exact_products(Options options, Rounding rounding) {
  options.contract = Contract::exact(rounding);
  options.progress = {};
  return options;
}

void check_system(const char* routine, std::int64_t n, std::int64_t nrhs, const double* A, std::int64_t lda,
                  const double* B, std::int64_t ldb) {
  const auto check = [&](const char* name, const double* x, std::int64_t columns, std::int64_t ld) {
    check_leading(routine, name[0] == 'A' ? "lda" : "ldb", ld, n);
    check_pointer(routine, name, n > 0 && columns > 0, x);
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        require(std::isfinite(x[i + j * ld]), "{}: {}({}, {}) = {}: expected finite numbers", routine, name, i, j,
                x[i + j * ld]);
  };
  require(n >= 0 && nrhs >= 0, "{}: n = {}, nrhs = {}: expected 0 or more", routine, n, nrhs);
  check_area(routine, n, std::max(n, nrhs));
  check("A", A, n, lda);
  check("B", B, nrhs, ldb);
}

ApproximateInverse approximate_inverse(std::int64_t n, const double* A, std::int64_t lda, Proves what,
                                       const Options& options) {
  ApproximateInverse result;
  result.n = n;
  const auto count = static_cast<std::size_t>(n * n);
  std::vector<double> factors(count);
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(A + j * lda, n, factors.data() + j * n);
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  if (const std::int64_t info = getrf<double>(n, n, factors.data(), n, pivots.data(), usual_products(options));
      info != 0) {
    result.contraction = infinity;
    result.failure = fmt::format("U({0}, {0}) of the LU factorisation is zero", info);
    return result;
  }
  result.r = inverse_of_factors(n, factors, pivots, options);
  const bool finite = std::all_of(result.r.begin(), result.r.end(), [](double x) { return std::isfinite(x); });
  if (finite) prove_regular(n, A, lda, what, options, factors, result);
  if (!finite || !(result.contraction < 1))
    result.failure = finite ? too_ill_conditioned(result.contraction) : "the approximate inverse overflows";
  return result;
}

}  // namespace vernier
