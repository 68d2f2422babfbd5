#include "lapack/verified/approximate_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/environment.hpp"
#include "base/status.hpp"
#include "blas/offload/device.hpp"
#include "engine/panel.hpp"
#include "lapack/level3.hpp"
#include "lapack/verified/upward.hpp"
#include "product/native/native.hpp"
#include "vernier/lapack.hpp"

namespace vernier {
namespace {

// |I - R A| from C, near I - R A: off by its own rounding, and by share |R||A| before that.
struct Remainder {
  std::int64_t n;
  double* c;
  double share;  // 0: C is rounded once, A and R are not read
  const double* a;
  std::int64_t lda;
  const ApproximateInverse& inverse;
  const Options& options;

  std::vector<double> size_of_product(const std::vector<double>& v) const {
    return inverse.above(1, product_above(n, 1, a, lda, v, options), options);
  }

  // At least |I - R A| v, v > 0.
  std::vector<double> times(const std::vector<double>& v) const {
    std::vector<double> rest;
    if (share != 0) rest = size_of_product(v);
    return remainder_sums(v, product_above(n, 1, c, n, v, options), share, rest);
  }
};

template <class T>
void set_identity(std::int64_t n, T* x, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t j = 0; j < n; ++j) {
    std::fill_n(x + j * n, n, T(0));
    x[j + j * n] = 1;
  }
}

template <class T>
Options products_in(const Options& options) {
  Options usual = usual_products(options);
  if (std::is_same_v<T, float>) usual.contract = Contract::fp32();
  return usual;
}

// (L U)^-1 to x. On a CPU a thread takes columns through both triangles, from their diagonal on: none waits for another
// before the end, whoever has the processors. Level3 leaves products that fail to the BLAS underneath and throws
// nothing.
template <class T>
void inverse_of_factors(std::int64_t n, const T* factors, T* x, const Options& options) {
  constexpr Triangle lower{Side::left, Uplo::lower, Op::none, Diag::unit},
      upper{Side::left, Uplo::upper, Op::none, Diag::non_unit};
  const int threads = usable_threads(options.threads);
  const Options products = products_in<T>(options);
  set_identity(n, x, threads);
  constexpr std::int64_t largest_in_double = 1024;  // residues are faster than the BLAS underneath from here on
  if (asks_for_a_gpu(options) || (std::is_same_v<T, double> && n > largest_in_double)) {
    const std::int64_t width = std::max<std::int64_t>(128, (n + 7) / 8);
    for (std::int64_t j = 0; j < n; j += width)
      trsm<T>(lower.side, lower.uplo, lower.op, lower.diag, n - j, std::min(width, n - j), 1, factors + j + j * n, n,
              x + j + j * n, n, products);
    trsm<T>(upper.side, upper.uplo, upper.op, upper.diag, n, n, 1, factors, n, x, n, products);
    return;
  }
  const auto level3 = Level3<T>::of_one_thread(products);
  const NativeThreads one(1);
  constexpr std::int64_t fewest = 64, most = 512, shares = 2;
  const std::int64_t width = std::clamp(round_up(divide_up(n, shares * threads), std::int64_t{32}), fewest, most);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (std::int64_t j = 0; j < n; j += width) {
    const FloatingEnvironment environment;
    const std::int64_t count = std::min(width, n - j);
    level3.solve(lower, n - j, count, factors + j + j * n, n, x + j + j * n, n);
    level3.solve(upper, n, count, factors, n, x + j * n, n);
  }
}

// R = X P, column by column, in double; false where an entry is not finite. Column j is column from[j] of X.
template <class T>
bool permute_columns(std::int64_t n, const T* x, const std::vector<std::int64_t>& pivots, double* r, int threads,
                     std::vector<std::int64_t>& from) {
  from.resize(pivots.size());
  std::iota(from.begin(), from.end(), std::int64_t{0});
  for (std::size_t j = pivots.size(); j-- > 0;) std::swap(from[j], from[static_cast<std::size_t>(pivots[j] - 1)]);
  bool finite = true;
#pragma omp parallel num_threads(threads) reduction(&& : finite)
  {
    const FloatingEnvironment environment;
#pragma omp for schedule(static)
    for (std::int64_t j = 0; j < n; ++j) {
      const T* column = x + from[static_cast<std::size_t>(j)] * n;
      double poison = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        r[i + j * n] = static_cast<double>(column[i]);
        poison += r[i + j * n] * 0;
      }
      finite = finite && poison == 0;
    }
  }
  return finite;
}

// I - R A in turns of precision, and what it proves.
class Prover {
 public:
  Prover(std::int64_t n, const double* A, std::int64_t lda, double* c, const Options& options,
         ApproximateInverse& result)
      : g_{n, c, 0, A, lda, result, options}, result_(result) {}

  // At least the largest sum of a row of |R||A|.
  double size() const {
    const std::vector<double> sizes = g_.size_of_product(std::vector<double>(static_cast<std::size_t>(g_.n), 1.0));
    return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  }
  // By a product of as many bits as its size asks, which proves most matrices regular and costs little.
  void prove_by_bits(double size, int spare, int attempts) {
    const RemainderBits bits = remainder_bits(g_.n, size, spare);
    Options usual = usual_products(g_.options);
    usual.contract = bits.contract;
    multiply(0, usual);
    for (std::int64_t i = 0; i < g_.n; ++i) g_.c[i + i * g_.n] += 1;
    g_.share = bits.share;
    prove(attempts);
  }
  void prove_exactly() {
    set_identity(g_.n, g_.c, usable_threads(g_.options.threads));
    multiply(1, exact_products(g_.options, Rounding::nearest));
    g_.share = 0;
    prove(attempts_by_exact);
  }

 private:
  void multiply(double beta, const Options& options) const {
    gemm<double>(Op::none, Op::none, g_.n, g_.n, g_.n, -1, result_.r(), g_.n, g_.a, g_.lda, beta, g_.c, g_.n, options);
  }
  void prove(int attempts) {
    prove_by([&](const std::vector<double>& v) { return g_.times(v); }, g_.n, attempts, result_);
  }

  Remainder g_;
  ApproximateInverse& result_;
};

// LU of the matrix rounded to T, and (L U)^-1.
template <class T>
struct Factored {
  std::unique_ptr<SquareMemory<T>> factors, inverse;
  std::vector<std::int64_t> pivots;
  std::int64_t info = 0;  // of getrf

  Factored(std::int64_t n, const double* A, std::int64_t lda, const Options& options)
      : factors(std::make_unique<SquareMemory<T>>(n)),
        inverse(std::make_unique<SquareMemory<T>>(n)),
        pivots(static_cast<std::size_t>(n)) {
    T* f = factors->data();
#pragma omp parallel for schedule(static) num_threads(usable_threads(options.threads))
    for (std::int64_t j = 0; j < n; ++j)
      std::transform(A + j * lda, A + j * lda + n, f + j * n, [](double x) { return static_cast<T>(x); });
    info = getrf<T>(n, n, f, n, pivots.data(), products_in<T>(options));
  }
};

constexpr std::int64_t smallest_in_float = 256;  // half of the time from here on (bench/results/quad_speed_2.json)
constexpr double serves = 0.5;                   // a contraction that corrections make up for

// U's diagonal tells most matrices that are too ill-conditioned for an inverse in float.
bool diagonal_allows_float(std::int64_t n, const float* factors) {
  float least = std::numeric_limits<float>::infinity(), most = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = std::fabs(factors[i + i * n]);
    least = std::min(least, x), most = std::max(most, x);
  }
  return least > most * 0x1p-20f;
}

// An inverse in float costs a quarter of one in double where matrix engines multiply float. False: it does not serve.
bool by_float(std::int64_t n, const double* A, std::int64_t lda, const Options& options, ApproximateInverse& result) {
  const int threads = usable_threads(options.threads);
  result.memory = std::make_unique<SquareMemory<double>>(n);
  {
    Factored<float> f(n, A, lda, options);
    if (f.info != 0 || !diagonal_allows_float(n, f.factors->data())) return false;
    inverse_of_factors(n, f.factors->data(), f.inverse->data(), options);
    if (!permute_columns(n, f.inverse->data(), f.pivots, result.memory->data(), threads, result.from)) return false;
    result.single = std::move(f.inverse);
  }
  const SquareMemory<double> c(n);
  Prover prover(n, A, lda, c.data(), options, result);
  // gamma is some 75 to 175 times 2^-24 |R||A| over the root of n: random matrices, n = 1000 and 2048.
  const double size = prover.size();
  if (!(size * 0x1p-24 < std::sqrt(static_cast<double>(n)) / 300)) return false;
  constexpr int spare = 9, attempts = 4;
  prover.prove_by_bits(size, spare, attempts);
  return result.contraction < serves;
}

void by_double(std::int64_t n, const double* A, std::int64_t lda, Proves what, const Options& options,
               ApproximateInverse& result) {
  result.single.reset();
  Factored<double> f(n, A, lda, options);
  if (f.info != 0) {
    result.contraction = infinity;
    result.failure = fmt::format("U({0}, {0}) of the LU factorisation is zero", f.info);
    return;
  }
  inverse_of_factors(n, f.factors->data(), f.inverse->data(), options);
  // R lies where the factors were, C where X was.
  const bool finite =
      permute_columns(n, f.inverse->data(), f.pivots, f.factors->data(), usable_threads(options.threads), result.from);
  result.memory = std::move(f.factors);
  if (!finite) {
    result.failure = "the approximate inverse overflows";
    return;
  }
  Prover prover(n, A, lda, f.inverse->data(), options, result);
  prover.prove_by_bits(what == Proves::solutions ? prover.size() : infinity, usual_spare, 1);
  if (!(result.contraction < far_from_one)) prover.prove_exactly();
  if (!(result.contraction < 1)) result.failure = too_ill_conditioned(result.contraction);
}

}  // namespace

std::vector<double> ApproximateInverse::permuted(std::int64_t columns, const std::vector<double>& x) const {
  std::vector<double> y(x.size());
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t j = 0; j < n; ++j)
      y[static_cast<std::size_t>(from[static_cast<std::size_t>(j)] + c * n)] = x[static_cast<std::size_t>(j + c * n)];
  return y;
}
std::vector<double> ApproximateInverse::near(std::int64_t columns, const std::vector<double>& x,
                                             const Options& options) const {
  if (columns <= by_loop)
    return single != nullptr ? product_near(n, columns, single->data(), n, permuted(columns, x), options)
                             : product_near(n, columns, r(), n, x, options);
  std::vector<double> y(x.size());
  gemm<double>(Op::none, Op::none, n, columns, n, 1, r(), n, x.data(), n, 0, y.data(), n, usual_products(options));
  return y;
}
std::vector<double> ApproximateInverse::above(std::int64_t columns, const std::vector<double>& x,
                                              const Options& options) const {
  return single != nullptr ? product_above(n, columns, single->data(), n, permuted(columns, x), options)
                           : product_above(n, columns, r(), n, x, options);
}

ApproximateInverse approximate_inverse(std::int64_t n, const double* A, std::int64_t lda, Proves what,
                                       const Options& options) {
  ApproximateInverse result;
  result.n = n;
  if (n == 0) {
    result.memory = std::make_unique<SquareMemory<double>>(n);
    return result;
  }
  if (what == Proves::solutions && n >= smallest_in_float && by_float(n, A, lda, options, result)) return result;
  by_double(n, A, lda, what, options, result);
  return result;
}

}  // namespace vernier
