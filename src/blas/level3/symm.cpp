// symm and hemm: the other triangle is filled in, and the product is gemm's.
#include "blas/level3/routines.hpp"
#include "blas/level3/triangle_cost.hpp"
#include "blas/offload/host_routine.hpp"
#include "number/complex.hpp"
#include "product/native/native.hpp"
#include "vernier/cuda_level3.hpp"

namespace vernier {
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
