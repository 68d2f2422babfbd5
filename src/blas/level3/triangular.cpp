// trmm and trsm: halves of A by gemm, blocks on the diagonal by the BLAS underneath or by substitution.
#include <cstdint>
#include <vector>

#include "base/instantiate.hpp"
#include "blas/level3/routine.hpp"
#include "blas/level3/triangle.hpp"
#include "blas/level3/triangle_cost.hpp"
#include "blas/level3/triangular_halves.hpp"
#include "blas/offload/host_routine.hpp"
#include "number/complex.hpp"
#include "product/native/native.hpp"
#include "product/update.hpp"
#include "vernier/cuda_level3.hpp"

namespace vernier {

// Small triangular products and solves in a fixed order of operations: the same bits on every machine.

// op(A) of a block on the diagonal, dense, with its diagonal written out.
template <class T>
struct TriangularBlock {
  std::int64_t order;
  bool lower;  // op(A)
  bool unit;
  std::vector<T> values;

  TriangularBlock(Uplo uplo, Op op, Diag diag, std::int64_t n, const T* a, std::int64_t lda)
      : order(n), lower((uplo == Uplo::lower) == (op == Op::none)), unit(diag == Diag::unit), values(n * n) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = lower ? j : 0; i < (lower ? n : j + 1); ++i) {
        if (i == j && unit) continue;
        const T x = op == Op::none ? a[i + j * lda] : a[j + i * lda];
        values[static_cast<std::size_t>(i + j * n)] = op == Op::conjugate_transpose ? conjugate(x) : x;
      }
  }
  T operator()(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i + j * order)]; }
};

// Products by the textbook: std::complex's own repairs NaNs, in a way that compilers do not agree on.
template <class T>
T plain_product(T x, T y) {
  if constexpr (is_complex<T>)
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  else
    return x * y;
}

// x / y; for complex y by Smith's formula, which does not overflow on the way.
template <class T>
T plain_quotient(T x, T y) {
  if constexpr (is_complex<T>) {
    using R = typename T::value_type;
    if (std::abs(y.imag()) <= std::abs(y.real())) {
      const R ratio = y.imag() / y.real(), scale = y.real() + y.imag() * ratio;
      return {(x.real() + x.imag() * ratio) / scale, (x.imag() - x.real() * ratio) / scale};
    }
    const R ratio = y.real() / y.imag(), scale = y.real() * ratio + y.imag();
    return {(x.real() * ratio + x.imag()) / scale, (x.imag() * ratio - x.real()) / scale};
  } else {
    return x / y;
  }
}

// y += factor x, over `count` elements.
template <class T>
void add_multiple(std::int64_t count, T factor, const T* x, T* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] += plain_product(factor, x[i]);
}

// X = op(A) X, or X = op(A)^-1 X: column by column.
template <class T>
void substitute_left(const TriangularBlock<T>& a, bool solve, std::int64_t columns, T* x, std::int64_t ldx) {
  const std::int64_t n = a.order;
  const bool upwards = a.lower == solve;  // in which order the elements of a column are finished or used up
  for (std::int64_t j = 0; j < columns; ++j) {
    T* column = x + j * ldx;
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t l = upwards ? step : n - 1 - step;
      if (solve && !a.unit) column[l] = plain_quotient(column[l], a(l, l));
      const std::int64_t begin = a.lower ? l + 1 : 0, end = a.lower ? n : l;
      add_multiple(end - begin, solve ? -column[l] : column[l], a.values.data() + begin + l * n, column + begin);
      if (!solve && !a.unit) column[l] = plain_product(column[l], a(l, l));
    }
  }
}

// X = X op(A), or X = X op(A)^-1: rows of X side by side.
template <class T>
void substitute_right(const TriangularBlock<T>& a, bool solve, std::int64_t rows, T* x, std::int64_t ldx) {
  const std::int64_t n = a.order;
  const bool upwards = a.lower != solve;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t j = upwards ? step : n - 1 - step;
    T* column = x + j * ldx;
    if (!solve && !a.unit)
      for (std::int64_t i = 0; i < rows; ++i) column[i] = plain_product(column[i], a(j, j));
    for (std::int64_t l = a.lower ? j + 1 : 0; l < (a.lower ? n : j); ++l)
      add_multiple(rows, solve ? -a(l, j) : a(l, j), x + l * ldx, column);
    if (solve && !a.unit)
      for (std::int64_t i = 0; i < rows; ++i) column[i] = plain_quotient(column[i], a(j, j));
  }
}

// X is order x others (left) or others x order (right), dealt out to threads in pieces of a fixed size.
template <class T>
void substitute(Side side, const TriangularBlock<T>& a, bool solve, std::int64_t others, T* x, std::int64_t ldx,
                int threads) {
  constexpr std::int64_t piece = 64;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t begin = 0; begin < others; begin += piece) {
    const FloatingEnvironment environment;
    const std::int64_t count = std::min(piece, others - begin);
    if (side == Side::left)
      substitute_left(a, solve, count, x + begin * ldx, ldx);
    else
      substitute_right(a, solve, count, x + begin, ldx);
  }
}

namespace {

// Blocks on the diagonal of contracts that promise bits: plain substitution is slow.
constexpr TriangleCut substitution_cut{64, 64};

template <class T>
using Problem = Triangular<T, Options>;

template <class T>
void check(const Problem<T>& p) {
  check_triangular(p);
  check_routine_options(p.routine, p.options);
  check_not_exact(p.routine, p.options);
  if (asks_for_more_than<T>(p.options.contract))
    fail(Status::unsupported, "{}: contract {}: expected one of at most {} bits, the precision of the type", p.routine,
         p.options.contract.text(), std::numeric_limits<RealType<T>>::digits);
}

// By the BLAS underneath: a block between products: vectors dealt to the threads of products. Those of the BLAS would
// have to be woken beside them, and both then wait for each other.
template <class T>
void native_block(const Problem<T>& p, std::int64_t begin, std::int64_t size, T* rows) {
  const NativeThreads one(1);
  const bool left = p.side == Side::left;
  const int threads = usable_threads(p.options.threads);
  const std::int64_t share = divide_up(p.others(), threads);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (std::int64_t first = 0; first < p.others(); first += share) {
    const std::int64_t count = std::min(share, p.others() - first);
    TriangularProduct<T> part = p;
    part.m = left ? size : count, part.n = left ? count : size;
    part.alpha = T{1}, part.a = p.block(begin, begin);
    part.c = left ? rows + first * p.m : rows + first, part.ldc = p.m;
    native_triangular(part);
  }
}

template <class T>
void by_halves(const Problem<T>& p, T* x, RoutineReport& report) {
  const Options& options = p.options;
  const bool reproducible = options.contract.reproducible;
  const auto diagonal = [&](std::int64_t begin, std::int64_t size, T* rows) {
    if (!reproducible && fits_native({p.m, p.n, p.lda})) return native_block(p, begin, size, rows);
    const TriangularBlock<T> a(p.uplo, p.opa, p.diag, size, p.block(begin, begin), p.lda);
    substitute(p.side, a, p.solve, p.others(), rows, p.m, usable_threads(options.threads));
  };
  const auto multiply = [&](const GemmCall<T>& part) { report.add(gemm_of(part, options)); };
  TriangularHalves(p, reproducible ? substitution_cut : cpu_cut(usable_threads(options.threads)), x, diagonal, multiply)
      .run();
}

// out = factor in, m x n.
template <class T>
void scaled_copy(const Problem<T>& p, T factor, const T* in, std::int64_t ld_in, T* out, std::int64_t ld_out) {
#pragma omp parallel for schedule(static) num_threads(usable_threads(p.options.threads))
  for (std::int64_t j = 0; j < p.n; ++j) {
    const FloatingEnvironment environment;
    for (std::int64_t i = 0; i < p.m; ++i)
      out[i + j * ld_out] = factor == T{1} ? in[i + j * ld_in] : times(factor, in[i + j * ld_in]);
  }
}

template <class T>
Report triangular(const Problem<T>& p);

template <class T>
RealType<T> magnitude(const T& x) {
  return std::max(std::abs(std::real(x)), std::abs(std::imag(x)));
}

// Of the elements of a matrix, those that the routine may read: rows first(j) to end(j) of column j. NaN do not count.
template <class T, class First, class End>
RealType<T> largest(std::int64_t columns, const T* x, std::int64_t ld, int threads, First first, End end) {
  RealType<T> most = 0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(max : most) if (threads > 1)
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = first(j); i < end(j); ++i) most = std::max(most, magnitude(x[i + j * ld]));
  return most;
}

// Where alpha is below 1, T = op(A) B may overflow where alpha T does not. (alpha B) is then safe if none of its
// elements underflows.
template <class T>
bool alpha_goes_first(const Problem<T>& p, int threads) {
  using R = RealType<T>;
  if (p.solve || magnitude(p.alpha) >= 1) return false;
  const std::int64_t n = p.order(), unit = p.diag == Diag::unit ? 1 : 0;
  const bool lower = p.uplo == Uplo::lower;
  const R of_b = largest(
      p.n, p.b, p.ldb, threads, [](auto) { return 0; }, [&](auto) { return p.m; });
  const R of_a = largest(
      n, p.a, p.lda, threads, [&](auto j) { return lower ? j + unit : 0; },
      [&](auto j) { return lower ? n : j + 1 - unit; });
  const R room = std::numeric_limits<R>::max() / (is_complex<T> ? 8 : 4) / static_cast<R>(n);
  if (!(of_b > 0 && std::max(of_a, R{1}) > room / of_b)) return false;
  const R least = std::numeric_limits<R>::min() / magnitude(p.alpha);
  for (std::int64_t j = 0; j < p.n; ++j)
    for (std::int64_t i = 0; i < p.m; ++i)
      if (const R b = magnitude(p.b[i + j * p.ldb]); b > 0 && !(b >= least)) return false;
  return true;
}

// Blocks on the diagonal are cuBLAS's there, which promises no bits.
template <class T>
std::optional<Report> offloaded_triangular(const Problem<T>& p) {
  if (p.alpha == T{0} || p.options.contract.reproducible) return {};
  const ProductShape shape{p.m, p.n, p.order()};
  const auto describe = [&] {
    HostRoutine<T> r{p.routine, shape, {p.a, p.order(), p.order(), p.lda}, {}, {p.c, p.m, p.n, p.ldc}, true};
    r.share = 0.5;
    r.panels = 1.2e-6 * static_cast<double>(p.order());  // cuBLAS's blocks on the diagonal, H100
    return r;
  };
  const auto on_device = [&](const RoutineOperands<T>& x, void* stream) {
    const cuda::Options o{.contract = p.options.contract, .stream = stream};
    return p.solve
               ? cuda::trsm<T>(p.side, p.uplo, p.opa, p.diag, p.m, p.n, p.alpha, x.a, x.lda, x.c, x.ldc, o)
               : cuda::trmm<T>(p.side, p.uplo, p.opa, p.diag, p.m, p.n, p.alpha, x.a, x.lda, x.c, x.ldc, x.c, x.ldc, o);
  };
  const auto on_cpu = [&](const Options& o) { return triangular<T>({p, o}); };
  return offloaded_routine<T>(p.options, describe, on_device, on_cpu);
}

template <class T>
Report triangular(const Problem<T>& p) {
  RoutineReport report(p.routine);
  check(p);
  if (auto offloaded = offloaded_triangular(p)) return *std::move(offloaded);
  Plan plan = explain<T>(Op::none, Op::none, p.m, p.n, p.order(), p.options);
  Plan nothing = explain<T>(Op::none, Op::none, p.m, p.n, 0, p.options);
  if (plan.scheme == "none" || p.alpha == T{0}) {
    for (std::int64_t j = 0; j < p.n && p.m > 0; ++j) std::fill_n(p.c + j * p.ldc, p.m, T{0});
    return report.finished(std::move(nothing));
  }
  ObservedChoice method;
  const Options scaling = brief_options(p.options, static_cast<double>(p.m) * static_cast<double>(p.n), 1);
  const bool alpha_first =
      native_use<T>(p.options.contract) != NativeUse::never && alpha_goes_first(p, usable_threads(scaling.threads));
  const bool by_the_blas = alpha_first && requested_engine(p.options.engine).empty();  // whose time is not the method's
  if (plan.scheme == "residues" && !by_the_blas) method = factor_method<T>(p.order(), p.others(), p.options);
  if (!method.residues()) plan = native_triangle(std::move(plan));
  if (by_the_blas) {
    plan = native_triangle(std::move(plan));
    plan.reason = "op(A) B may overflow where alpha op(A) B does not";
  }
  if (plan.scheme == "native" && fits_native({p.m, p.n, p.lda, p.ldb})) {
    const NativeThreads setting(p.options.threads);
    TriangularProduct<T> product = p;
    if (!p.solve && p.alpha != T{-1} && !alpha_first) product.alpha = T{1};  // it begins with alpha B: may underflow
    native_triangular<T>(product);
    if (product.alpha != p.alpha) scaled_copy(Problem<T>{p, scaling}, p.alpha, p.c, p.ldc, p.c, p.ldc);
    method.done();
    return report.finished(std::move(plan));
  }
  const Scratch<T> x(p.m, p.n);
  const Options inner = brief_options(p.options, residue_steps(real_shape<T>({p.m, p.n, p.order()})) / 2,
                                      divide_up(2 * p.order(), substitution_cut.whole));
  const Problem<T> q{p, inner};
  scaled_copy(q, p.solve ? p.alpha : T{1}, p.b, p.ldb, x.data(), p.m);
  by_halves(q, x.data(), report);
  Plan block = one_block(std::move(nothing), p.order());
  scaled_copy(q, p.solve ? T{1} : p.alpha, x.data(), p.m, p.c, p.ldc);
  method.done();
  return report.any_product() ? report.finished() : report.finished(std::move(block));
}

}  // namespace

#define VERNIER_TRIANGULAR(name, solve)                                                                             \
  template <class T>                                                                                                \
  Report name(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, Scalar<T> alpha, const T* A,  \
              std::int64_t lda, T* B, std::int64_t ldb, const Options& options) {                                   \
    return triangular<T>(                                                                                           \
        {{{op, Op::none, m, n, 0, alpha, A, lda, B, ldb, T{0}, B, ldb}, #name, solve, side, uplo, diag}, options}); \
  }
VERNIER_TRIANGULAR(trmm, false)
VERNIER_TRIANGULAR(trsm, true)
#undef VERNIER_TRIANGULAR

VERNIER_TYPE_INSTANCES(trmm, trsm)

}  // namespace vernier
