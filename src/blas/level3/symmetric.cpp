// gemmt, syrk, herk, syr2k and her2k: products of which one triangle is wanted, added to one triangle of C. symm and
// hemm: one triangle is filled in, and the product is gemm's.
#include <algorithm>

#include "blas/level3/routines.hpp"
#include "blas/level3/triangle.hpp"
#include "blas/level3/triangle_cost.hpp"
#include "blas/offload/host_routine.hpp"
#include "number/complex.hpp"
#include "product/native/native.hpp"
#include "product/update.hpp"
#include "vernier/cuda_level3.hpp"

namespace vernier {
namespace {

// entry(i, j, c) for every c = C(i, j) of the triangle; where it is Hermitian, diagonals are read and left real.
template <class T, class Entry>
void update_triangle(const TriangleUpdate<T>& p, int threads, Entry entry) {
#pragma omp parallel for schedule(static, 16) num_threads(threads)
  for (std::int64_t j = 0; j < p.n; ++j) {
    const FloatingEnvironment environment;
    const std::int64_t begin = p.uplo == Uplo::lower ? j : 0, end = p.uplo == Uplo::lower ? p.n : j + 1;
    for (std::int64_t i = begin; i < end; ++i) {
      T& out = p.c[i + j * p.ldc];
      if (p.hermitian && i == j)
        out = T(std::real(entry(i, j, T(std::real(out)))));
      else
        out = entry(i, j, out);
    }
  }
}

// C = beta C on the triangle: alpha or k is zero.
template <class T>
Report scaled_triangle(RoutineReport& report, const TriangleUpdate<T>& p, const Options& options) {
  Plan nothing = explain<T>(p.opa, p.opb, p.n, p.n, 0, options);
  const T beta = p.beta;
  if (beta != T{1})
    update_triangle(p, usable_threads(options.threads),
                    [&](auto, auto, const T& old) { return beta == T{0} ? T{0} : times(beta, old); });
  return report.finished(std::move(nothing));
}

template <class T>
void check_update(const TriangleUpdate<T>& p, const Options& options) {
  check_leading(p.routine, "ldc", p.ldc, p.n);
  check_operands(p.routine, p.reads(), p.n > 0, p.a, p.b, p.c);
  check_routine_options(p.routine, options);
  check_not_exact(p.routine, options);
}

template <class T>
Options update_options(std::int64_t n, std::int64_t k, const TriangleCut& cut, const Options& options) {
  double steps = 0;
  std::int64_t pieces = 0;
  cut_triangle(Uplo::lower, cut, 0, n, [&](std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
    steps += residue_steps(real_shape<T>({i1 - i0, j1 - j0, k}));
    ++pieces;
  });
  return brief_options(options, steps, pieces);
}

// Of a checked call: the triangle of op(A) op(B), halved into squares on the diagonal and rectangles beside it.
template <class T>
Report triangle_product(RoutineReport& report, const TriangleUpdate<T>& p, const Options& options) {
  if (!p.reads()) return scaled_triangle(report, p, options);
  const Scratch<T> t(p.n, p.n);  // beyond the triangle it holds parts of the squares and what was there
  const TriangleCut cut = options.contract.reproducible ? common_cut : cpu_cut(usable_threads(options.threads));
  const Options inner = update_options<T>(p.n, p.k, cut, options);
  cut_triangle(p.uplo, cut, 0, p.n,
               [&](auto... range) { report.add(gemm_of(p.rectangle(range..., t.data()), inner)); });
  update_triangle(p, usable_threads(inner.threads), [&, x = t.data()](auto i, auto j, const T& c) {
    return updated(p.alpha, x[i + j * p.n], p.beta, c);
  });
  return report.finished();
}

// On a GPU, where the options or the thread ask for one and the estimate is for it.
//   on_device(operands, options), on_cpu(options): the routine there, and the public one
template <class T, class OnDevice, class OnCpu>
std::optional<Report> offloaded_update(const TriangleUpdate<T>& p, const Options& options, const OnDevice& on_device,
                                       const OnCpu& on_cpu) {
  if (p.alpha == T{0}) return {};
  const ProductShape shape{p.n, p.n, p.k};
  const bool reads_c = p.beta != T{0};
  const auto describe = [&] {
    HostRoutine<T> r{p.routine, shape, stored_operand(p.opa, p.a, p.n, p.k, p.lda), {}, {p.c, p.n, p.n, p.ldc},
                     reads_c,   p.uplo};
    r.share = p.both ? 1 : 0.5;
    if (p.of_two) r.b = stored_operand(p.opb, p.b, p.k, p.n, p.ldb);
    return r;
  };
  const auto on_stream = [&](const RoutineOperands<T>& x, void* stream) {
    return on_device(x, cuda::Options{.contract = options.contract, .stream = stream});
  };
  return offloaded_routine<T>(options, describe, on_stream, on_cpu);
}

template <class T>
Report update_on_device(const TriangleUpdate<T>& p, const RoutineOperands<T>& x, const cuda::Options& o) {
  const auto beta = std::real(p.beta);
  if (p.both)
    return p.hermitian
               ? cuda::her2k<T>(p.uplo, p.opa, p.n, p.k, p.alpha, x.a, x.lda, x.b, x.ldb, beta, x.c, x.ldc, o)
               : cuda::syr2k<T>(p.uplo, p.opa, p.n, p.k, p.alpha, x.a, x.lda, x.b, x.ldb, p.beta, x.c, x.ldc, o);
  return p.hermitian ? cuda::herk<T>(p.uplo, p.opa, p.n, p.k, std::real(p.alpha), x.a, x.lda, beta, x.c, x.ldc, o)
                     : cuda::syrk<T>(p.uplo, p.opa, p.n, p.k, p.alpha, x.a, x.lda, p.beta, x.c, x.ldc, o);
}

// alpha X(i, j) + (alpha X(j, i), or its conjugate) + beta C: from the last term to the first.
template <class T>
T sum_of_two(const TriangleUpdate<T>& p, T direct, T mirrored, const T& c) {
  const T rest =
      p.hermitian ? updated(conjugate(p.alpha), conjugate(mirrored), p.beta, c) : updated(p.alpha, mirrored, p.beta, c);
  return updated(p.alpha, direct, T{1}, rest);
}

// opa: what the caller asked for; op(B) is its transpose.
template <class T>
Report rank_update(TriangleUpdate<T> p, const Options& options) {
  RoutineReport report(p.routine);
  check_choice(p.routine, "uplo", p.uplo);
  p.opa = checked_op<T>(p.routine, p.opa, p.hermitian);
  p.opb = transposed(p.opa, p.hermitian);
  check_dimension(p.routine, "n", p.n);
  check_dimension(p.routine, "k", p.k);
  check_area(p.routine, p.n, std::max(p.n, p.k));
  check_leading(p.routine, "lda", p.lda, p.opa == Op::none ? p.n : p.k);
  if (p.both) check_leading(p.routine, "ldb", p.ldb, p.opa == Op::none ? p.n : p.k);
  check_update(p, options);
  auto offloaded = offloaded_update(
      p, options, [p](const RoutineOperands<T>& x, const cuda::Options& o) { return update_on_device(p, x, o); },
      [p](const Options& o) { return rank_update(p, o); });
  if (offloaded) return *std::move(offloaded);
  Plan plan = explain<T>(Op::none, Op::none, p.n, p.n, p.k, options);
  if (!p.reads()) return scaled_triangle(report, p, options);
  ObservedChoice method;
  if (!p.both && plan.scheme == "residues") method = update_method<T>(p.n, p.k, options);
  if (!method.residues()) plan = native_triangle(std::move(plan));
  if (plan.scheme == "native" && fits_native({p.n, p.k, p.lda, p.ldb, p.ldc})) {
    const NativeThreads setting(options.threads);
    native_update(p);
    method.done();
    return report.finished(std::move(plan));
  }
  if (!p.both) {
    Report done = triangle_product(report, p, options);
    method.done();
    return done;
  }
  const Scratch<T> x(p.n, p.n);
  const Options inner = brief_options(options, residue_steps(real_shape<T>({p.n, p.n, p.k})), 1);
  report.add(gemm_of(p.rectangle(0, p.n, 0, p.n, x.data()), inner));
  update_triangle(p, usable_threads(inner.threads), [&, t = x.data()](auto i, auto j, const T& c) {
    return sum_of_two(p, t[i + j * p.n], t[j + i * p.n], c);
  });
  return report.finished();
}

}  // namespace

template <class T>
Report gemmt(Uplo uplo, Op opa, Op opb, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
             const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  const TriangleUpdate<T> p{
      {opa, opb, n, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, "gemmt", false, false, true, uplo};
  RoutineReport report(p.routine);
  check_choice(p.routine, "uplo", uplo);
  check_call(p.routine, p);
  check_update(p, options);
  auto offloaded = offloaded_update(
      p, options,
      [=](const RoutineOperands<T>& x, const cuda::Options& o) {
        return cuda::gemmt<T>(uplo, opa, opb, n, k, alpha, x.a, x.lda, x.b, x.ldb, beta, x.c, x.ldc, o);
      },
      [=](const Options& o) { return gemmt<T>(uplo, opa, opb, n, k, alpha, A, lda, B, ldb, beta, C, ldc, o); });
  if (offloaded) return *std::move(offloaded);
  return triangle_product(report, p, options);
}

VERNIER_RANK_K_UPDATE(syrk, Scalar<T>, false)
VERNIER_RANK_K_UPDATE(herk, Real<T>, is_complex<T>)
VERNIER_RANK_2K_UPDATE(syr2k, Scalar<T>, false, true)
VERNIER_RANK_2K_UPDATE(her2k, Real<T>, is_complex<T>, true)

VERNIER_FOR_ALL(VERNIER_RANK_UPDATES, VERNIER_INSTANTIATION)

namespace {

constexpr std::int64_t tile = 64;

// One tile of A, its other triangle from the one that is stored.
template <class T>
void fill_tile(bool hermitian, Uplo uplo, std::int64_t n, const T* a, std::int64_t lda, std::int64_t i0,
               std::int64_t j0, T* out) {
  for (std::int64_t j = j0; j < std::min(j0 + tile, n); ++j)
    for (std::int64_t i = i0; i < std::min(i0 + tile, n); ++i) {
      const bool is_stored = uplo == Uplo::lower ? i >= j : i <= j;
      const T value = is_stored ? a[i + j * lda] : a[j + i * lda];
      out[i + j * n] = !hermitian ? value : i == j ? T(std::real(value)) : is_stored ? value : conjugate(value);
    }
}

template <class T>
void fill(bool hermitian, Uplo uplo, std::int64_t n, const T* a, std::int64_t lda, T* out, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t j = 0; j < n; j += tile)
    for (std::int64_t i = 0; i < n; i += tile) fill_tile(hermitian, uplo, n, a, lda, i, j, out);
}

// On a GPU, where the options or the thread ask for one and the estimate is for it.
template <class T, class OnCpu>
std::optional<Report> offloaded_symmetric(const SymmetricProduct<T>& p, const Options& options, const OnCpu& on_cpu) {
  const bool reads_c = p.beta != T{0};
  const auto describe = [&] {
    return HostRoutine<T>{p.routine, p.shape(), {p.a, p.k, p.k, p.lda}, {p.b, p.m, p.n, p.ldb}, {p.c, p.m, p.n, p.ldc},
                          reads_c};
  };
  const auto on_device = [&](const RoutineOperands<T>& x, void* stream) {
    return (p.hermitian ? cuda::hemm<T> : cuda::symm<T>)(p.side, p.uplo, p.m, p.n, p.alpha, x.a, x.lda, x.b, x.ldb,
                                                         p.beta, x.c, x.ldc,
                                                         {.contract = options.contract, .stream = stream});
  };
  return offloaded_routine<T>(options, describe, on_device, on_cpu);
}

template <class T>
Report symmetric_product(const SymmetricProduct<T>& p, const Options& options) {
  RoutineReport report(p.routine);
  check_symmetric(p);
  check_routine_options(p.routine, options);
  check_not_exact(p.routine, options);
  const bool reads = p.reads();
  if (reads)
    if (auto done = offloaded_symmetric(p, options, [&](const Options& o) { return symmetric_product(p, o); }))
      return *std::move(done);
  Plan plan = explain<T>(Op::none, Op::none, p.m, p.n, p.k, options);
  if (plan.scheme == "native" && reads && fits_native({p.m, p.n, p.lda, p.ldb, p.ldc})) {
    const NativeThreads setting(options.threads);
    native_symmetric(p);
    return report.finished(std::move(plan));
  }
  const Options inner = brief_options(options, residue_steps(real_shape<T>(p.shape())), 1);
  if (!reads) {
    report.add(gemm_of(p.filled(p.a), inner));
    return report.finished();
  }
  const Scratch<T> full(p.k, p.k);
  fill(p.hermitian, p.uplo, p.k, p.a, p.lda, full.data(), usable_threads(inner.threads));
  report.add(gemm_of(p.filled(full.data()), inner));
  return report.finished();
}

}  // namespace

VERNIER_SYMMETRIC_PRODUCT(symm, false)
VERNIER_SYMMETRIC_PRODUCT(hemm, is_complex<T>)
VERNIER_FOR_ALL(VERNIER_SYMMETRIC_PRODUCTS, VERNIER_INSTANTIATION)

}  // namespace vernier
