#include "lapack/verified/approximate_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "blas/offload/device.hpp"
#include "blas/plan.hpp"
#include "engine/panel.hpp"
#include "lapack/level3.hpp"
#include "lapack/lu/getrf.hpp"
#include "lapack/verified/determinant.hpp"
#include "lapack/verified/upward.hpp"
#include "product/native/native.hpp"
#include "residue/residues.hpp"
#include "vernier/lapack.hpp"

namespace vernier {
namespace {

// |I - R A| from C, near I - R A: off by its own rounding, and by share |R||A| before that, or share |R_i|_2 |A_j|_2.
struct Remainder {
  std::int64_t n;
  double* c;
  double share;  // 0: C is rounded once, A and R are not read
  const double* a;
  std::int64_t lda;
  const ApproximateInverse& inverse;
  const Options& options;
  double rounding = 0;
  std::vector<double> rows = {}, columns = {};           // norms; none: |R||A|
  std::vector<int> row_scales = {}, column_scales = {};  // at which both were rounded to integers; none: share of norms

  // sqrt(n) halves of a row's unit beside columns, and of a column's beside rounded rows.
  std::vector<double> size_by_scales(const std::vector<double>& v) const {
    std::vector<double> sums(2);
    for (std::size_t j = 0; j < v.size(); ++j)
      sums[0] += columns[j] * v[j], sums[1] += std::ldexp(v[j], -column_scales[j]);
    round_up_products(n, sums);
    const double root = std::sqrt(static_cast<double>(n)) * (1 + 0x1p-50);
    std::vector<double> size(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double half = std::ldexp(root / 2, -row_scales[i]);
      size[i] = (half * sums[0] + (rows[i] + half) * (root / 2) * sums[1]) * (1 + 0x1p-40);
    }
    return size;
  }
  std::vector<double> size_by_norms(const std::vector<double>& v) const {
    std::vector<double> sum(1);
    for (std::size_t j = 0; j < v.size(); ++j) sum[0] += columns[j] * v[j];
    round_up_products(n, sum);
    std::vector<double> size(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) size[i] = vernier::above(rows[i] * sum[0]);
    return size;
  }
  std::vector<double> size_of_product(const std::vector<double>& v) const {
    return inverse.above(1, product_above(n, 1, a, lda, v, options), options);
  }

  // At least |I - R A| v, v > 0.
  std::vector<double> times(const std::vector<double>& v) const {
    std::vector<double> rest;
    if (share != 0)
      rest = !row_scales.empty() ? size_by_scales(v) : rows.empty() ? size_of_product(v) : size_by_norms(v);
    return remainder_sums(v, product_above(n, 1, c, n, v, options), share, rest, rounding);
  }
};

void set_identity(std::int64_t n, double* x, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t j = 0; j < n; ++j) {
    std::fill_n(x + j * n, n, 0.0);
    x[j + j * n] = 1;
  }
}

constexpr Triangle lower{Side::right, Uplo::lower, Op::none, Diag::unit},
    upper{Side::right, Uplo::upper, Op::none, Diag::non_unit};

void solve_by_trsm(const Triangle& t, std::int64_t n, const double* factors, double* x, const Options& options) {
  trsm<double>(t.side, t.uplo, t.op, t.diag, n, n, 1, factors, n, x, n, usual_products(options));
}

// (L U)^-1 by rows, from Y U = I in the upper triangle of x: that makes R A nearer to I than columns would, which make
// A R so. On a CPU a thread takes rows: none waits for another before the end, whoever has the processors. Level3
// leaves products that fail to the BLAS underneath and throws nothing.
constexpr std::int64_t largest_by_strips = 2048;  // beyond it residues gain more than their threads lose by meeting
void inverse_of_factors(std::int64_t n, const double* factors, double* x, const Options& options) {
  const int threads = usable_threads(options.threads);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t j = 0; j < n; ++j) std::fill(x + j * (n + 1) + 1, x + (j + 1) * n, 0.0);
  if (n > largest_by_strips) return solve_by_trsm(lower, n, factors, x, options);
  Options own = usual_products(options);
  own.contract.reproducible = true;  // no triangle of the BLAS underneath, of which nothing is known
  const auto level3 = Level3<double>::of_one_thread(own);
  const NativeThreads one(1);
  constexpr std::int64_t fewest = 64, most = 512, shares = 2;
  const std::int64_t rows = std::clamp(round_up(divide_up(n, shares * threads), std::int64_t{32}), fewest, most);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (std::int64_t i = 0; i < n; i += rows) {
    const FloatingEnvironment environment;
    level3.solve(lower, std::min(rows, n - i), n, factors, n, x + i, n);
  }
}

// R = X P, column by column; false where an entry is not finite.
bool permute_columns(std::int64_t n, const double* x, const std::vector<std::int64_t>& rows, double* r, int threads) {
  bool finite = true;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(&& : finite)
  for (std::int64_t j = 0; j < n; ++j) {
    const double* column = x + j * n;
    double poison = 0;
    for (std::int64_t i = 0; i < n; ++i) poison += column[i] * 0;
    std::copy_n(column, n, r + rows[static_cast<std::size_t>(j)] * n);
    finite = finite && poison == 0;
  }
  return finite;
}

// I - R A in turns of precision, and what it proves.
class Prover {
 public:
  Prover(std::int64_t n, const double* A, std::int64_t lda, double* c, const Options& options,
         ApproximateInverse& result)
      : g_{n, c, 0, A, lda, result, options}, result_(result) {}

  // By as many bits as residues give beside norms, modulo as many primes as hold I - R A of `share`; or as |R||A| asks:
  // that proves most matrices regular and costs little. False: there were too few bits, or the data do not fit into
  // them.
  bool prove_solutions(std::vector<double> rows, std::vector<double> columns, double share) {
    g_.rows = std::move(rows), g_.columns = std::move(columns);
    weights_ = weights_by_norms(g_.rows);
    RemainderBits by_norms = remainder_by_norms(g_.n, largest_beside(g_.size_by_norms(weights_), weights_));
    if (by_norms.enough)
      if (const int moduli = moduli_within(share); moduli != 0) return prove_by_bits(by_norms, moduli, share);
    const RemainderBits by_sizes = remainder_bits(g_.n, largest_beside(g_.size_of_product(weights_), weights_));
    constexpr int may_be_native = 48;
    const int bits = by_sizes.enough ? by_sizes.contract.bits_asked : by_norms.contract.bits_asked;
    if (bits >= may_be_native && by_norms.enough && by_norms.contract.bits_asked <= bits)
      return prove_by_bits(by_norms);
    g_.rows = g_.columns = {};
    return prove_by_bits(by_sizes);
  }
  // moduli: that hold I - R A of share_held; 0: those of the contract hold R A.
  bool prove_by_bits(const RemainderBits& bits, int moduli = 0, double share_held = 0) {
    Options usual = usual_products(g_.options);
    usual.contract = bits.contract;
    bool within = false;
    if (!serves([&] {
          within = moduli != 0 &&
                   gemm_within(product(0), moduli, share_held, {g_.row_scales.data(), g_.column_scales.data()}, usual);
          if (!within) multiply(0, usual);
        }))
      return false;
    if (!within) g_.row_scales = g_.column_scales = {};
    g_.share = within ? 1 : bits.share;
    g_.rounding = bits.contract.kind == Contract::Kind::fp64 ? 0 : 0x1p-51;
    for (std::int64_t i = 0; i < g_.n; ++i) {
      double& e = g_.c[i + i * g_.n];
      e += 1;
      if (!within) continue;
      // R A was rounded with its multiple of modulo off, whose logarithm has 47 bits behind its point.
      const auto at = static_cast<std::size_t>(i);
      const double modulo = std::exp2(log2_product_of_moduli(moduli) - (g_.row_scales[at] + g_.column_scales[at]));
      e = std::remainder(e, modulo);
      g_.rounding = std::max(g_.rounding, (1 + modulo) * 0x1p-41);
    }
    prove(bits.enough ? attempts_by_exact : 1);
    constexpr double by_errors = 1.5;  // errors of R A may have made it of one below 1
    const bool tells = result_.contraction < 1 || result_.contraction >= by_errors;
    return (bits.enough && tells) || result_.contraction < far_from_one;
  }
  void prove_exactly() {
    set_identity(g_.n, g_.c, usable_threads(g_.options.threads));
    multiply(1, exact_products(g_.options, Rounding::nearest));
    g_.share = g_.rounding = 0;
    prove(attempts_by_exact);
  }

 private:
  // As few moduli as hold entries of I - R A of that share at scales whose errors are at most 0.44 beside the weights:
  // contractions near 1/2 cost a part of z at most. 0: not known.
  int moduli_within(double share) {
    constexpr double serves = 0.44;
    constexpr int least = 25 * 32, most = 111 * 32;
    for (int moduli = 1, budget = 0; moduli <= max_moduli && budget <= most; ++moduli) {
      budget = norm_budget_within(moduli, g_.n, share);
      if (budget < least) continue;
      const auto expected = [budget](const std::vector<double>& norms) {
        std::vector<int> scales(norms.size());
        for (std::size_t i = 0; i < norms.size(); ++i)
          scales[i] = static_cast<int>(std::floor(budget / 32.0 - std::log2(norms[i])));
        return scales;
      };
      g_.row_scales = expected(g_.rows), g_.column_scales = expected(g_.columns);
      if (largest_beside(g_.size_by_scales(weights_), weights_) <= serves) return moduli;
    }
    g_.row_scales = g_.column_scales = {};
    return 0;
  }
  GemmCall<double> product(double beta) const {
    return {Op::none, Op::none, g_.n, g_.n, g_.n, -1, result_.r(), g_.n, g_.a, g_.lda, beta, g_.c, g_.n};
  }
  void multiply(double beta, const Options& options) const {
    const GemmCall<double> p = product(beta);
    gemm<double>(p.opa, p.opb, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, options);
  }
  void prove(int attempts) {
    prove_by([&](const std::vector<double>& v) { return g_.times(v); }, weights_, attempts, result_);
  }

  Remainder g_;
  ApproximateInverse& result_;
  std::vector<double> weights_ = unit_weights(g_.n);
};

constexpr std::int64_t smallest_by_factors = 256;  // below it R costs little, and enclosures are narrower by it

// Y X P of the factors takes half of the time of R and no product: theorem 14. False: it does not serve.
bool by_factors(std::int64_t n, const double* factors, double* inverses, const Options& options, Regularity& result) {
  constexpr double serves = 0.5;
  constexpr int attempts = 4;
  FactorProof proof(n, factors, inverses, options);
  if (!(proof.estimate() < FactorProof::worth_it)) return false;
  invert_triangle(Uplo::lower, n, factors, inverses, options);
  proof.prove(attempts, result);
  return result.contraction < serves;
}

}  // namespace

std::vector<double> ApproximateInverse::permuted(std::int64_t columns, const std::vector<double>& x) const {
  std::vector<double> y(x.size());
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t j = 0; j < n; ++j)
      y[static_cast<std::size_t>(j + c * n)] = x[static_cast<std::size_t>(rows[static_cast<std::size_t>(j)] + c * n)];
  return y;
}

std::vector<double> ApproximateInverse::near(std::int64_t columns, const std::vector<double>& x,
                                             const Options& options) const {
  if (!rows.empty()) return Triangles(n, r(), options).near(columns, permuted(columns, x));
  if (columns <= by_loop) return product_near(n, columns, r(), n, x, options);
  std::vector<double> y(x.size());
  gemm<double>(Op::none, Op::none, n, columns, n, 1, r(), n, x.data(), n, 0, y.data(), n, usual_products(options));
  return y;
}

std::vector<double> ApproximateInverse::above(std::int64_t columns, const std::vector<double>& x,
                                              const Options& options) const {
  if (rows.empty()) return product_above(n, columns, r(), n, x, options);
  const Triangles inverses(n, r(), options);
  return inverses.above(Uplo::upper, columns, inverses.above(Uplo::lower, columns, permuted(columns, x)));
}

// Both by one reading of R.
void ApproximateInverse::bounds(std::int64_t columns, std::vector<double>& e, const std::vector<double>& r,
                                std::vector<double>& error, const Options& options) const {
  const auto half = static_cast<std::ptrdiff_t>(e.size());
  e.resize(2 * e.size());
  std::transform(r.begin(), r.end(), e.begin() + half, [](double x) { return std::fabs(x); });
  if (rows.empty()) {
    e = above(2 * columns, e, options);
  } else {
    const Triangles inverses(n, this->r(), options);
    e = inverses.above(Uplo::lower, 2 * columns, permuted(2 * columns, e));
    std::transform(e.begin() + half, e.end(), e.begin() + half, [&](double size) { return inverses.error(size); });
    e = inverses.above(Uplo::upper, 2 * columns, e);
  }
  error.assign(e.begin() + half, e.end());
  e.resize(error.size());
  if (rows.empty()) error = product_error(n, std::move(error));
}

ApproximateInverse approximate_inverse(std::int64_t n, const double* A, std::int64_t lda, Proves what,
                                       const Options& options) {
  ApproximateInverse result;
  result.n = n;
  auto factors = std::make_unique<SquareMemory>(n), inverse = std::make_unique<SquareMemory>(n);
  if (n == 0) {
    result.memory = std::move(factors);
    return result;
  }
  const int threads = usable_threads(options.threads);
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  double* f = factors->data();
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(A + j * lda, n, f + j * n);
  const bool on_host = !asks_for_a_gpu(options);  // whose LU is by substitution alone
  const Options products = usual_products(options);
  const bool ahead = threads > 1 && n <= largest_by_strips;
  const std::int64_t info = !on_host ? getrf<double>(n, n, f, n, pivots.data(), products)
                            : ahead  ? factor_lu_ahead(products, n, f, n, pivots.data())
                                     : factor_lu(Level3<double>(products), n, n, f, n, pivots.data());
  if (info != 0) {
    result.contraction = infinity;
    result.failure = fmt::format("U({0}, {0}) of the LU factorisation is zero", info);
    return result;
  }
  std::vector<std::int64_t> rows = pivoted_rows(pivots).from;
  double *x = inverse->data(), share = infinity;  // of entries of I - R A beside norms
  std::vector<double> columns, norms;
  if (on_host) {
    invert_triangle(Uplo::upper, n, f, x, options);
    if (what == Proves::solutions && n >= smallest_by_factors && by_factors(n, f, x, options, result)) {
      result.rows = std::move(rows);
      result.memory = std::move(inverse);
      return result;
    }
    std::optional<RemainderRange> range;
    if (what == Proves::solutions) columns = column_norms(n, A, lda, options);
    if (what == Proves::solutions && n <= largest_by_strips) range.emplace(n, f, x, columns, options);
    inverse_of_factors(n, f, x, options);
    if (range) share = range->share(x, norms = row_norms(n, x, options));
  } else {
    if (what == Proves::solutions) columns = column_norms(n, A, lda, options);
    set_identity(n, x, threads);
    solve_by_trsm(upper, n, f, x, options);
    solve_by_trsm(lower, n, f, x, options);
  }
  // R lies where the factors were, C where X was.
  const bool finite = permute_columns(n, x, rows, f, threads);
  result.memory = std::move(factors);
  if (!finite) {
    result.failure = "the approximate inverse overflows";
    return result;
  }
  Prover prover(n, A, lda, x, options, result);
  const bool proved = what == Proves::solutions
                          ? prover.prove_solutions(norms.empty() ? row_norms(n, f, options) : std::move(norms),
                                                   std::move(columns), share)
                          : prover.prove_by_bits(remainder_bits(n, infinity));
  if (!proved) prover.prove_exactly();
  if (!(result.contraction < 1)) result.failure = too_ill_conditioned(result.contraction);
  return result;
}

}  // namespace vernier
