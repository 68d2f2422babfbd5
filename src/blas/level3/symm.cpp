// symm and hemm: the other triangle is filled in, and the product is gemm's.
#include "blas/level3/native_level3.hpp"
#include "blas/level3/routines.hpp"
#include "blas/level3/triangle.hpp"
#include "blas/offload/host_routine.hpp"
#include "number/complex.hpp"
#include "product/native/native_threads.hpp"
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

template <class T>
Report symmetric_product(const char* routine, bool hermitian, Side side, Uplo uplo, std::int64_t m, std::int64_t n,
                         T alpha, const T* A, std::int64_t lda, const T* B, std::int64_t ldb, T beta, T* C,
                         std::int64_t ldc, const Options& options) {
  RoutineReport report(routine);
  check_symmetric(routine, side, uplo, m, n, alpha, A, lda, B, ldb, C, ldc);
  check_routine_options(routine, options);
  check_not_exact(routine, options);
  const std::int64_t order = side == Side::left ? m : n;
  const bool reads = m > 0 && n > 0 && alpha != T{0};
  const auto describe = [&] {
    return HostRoutine<T>{routine, {m, n, order}, {A, order, order, lda}, {B, m, n, ldb}, {C, m, n, ldc}, beta != T{0}};
  };
  const auto on_device = [&](const RoutineOperands<T>& x, void* stream) {
    return (hermitian ? cuda::hemm<T> : cuda::symm<T>)(side, uplo, m, n, alpha, x.a, x.lda, x.b, x.ldb, beta, x.c,
                                                       x.ldc, {.contract = options.contract, .stream = stream});
  };
  const auto on_cpu = [&](const Options& o) {
    return symmetric_product(routine, hermitian, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc, o);
  };
  if (reads)
    if (auto done = offloaded_routine<T>({m, n, order}, beta != T{0}, options, describe, on_device, on_cpu))
      return *std::move(done);
  Plan plan = explain<T>(Op::none, Op::none, m, n, order, options);
  if (plan.scheme == "native" && reads && fits_native({m, n, lda, ldb, ldc})) {
    const NativeThreads setting(options.threads);
    native_symm(hermitian, side, uplo, static_cast<int>(m), static_cast<int>(n), alpha, A, static_cast<int>(lda), B,
                static_cast<int>(ldb), beta, C, static_cast<int>(ldc));
    return report.finished(std::move(plan));
  }
  const Options inner = inner_options(options);
  if (!reads) {
    report.add(gemm<T>(Op::none, Op::none, m, n, 0, alpha, A, std::max<std::int64_t>(m, 1), B, 1, beta, C, ldc, inner));
    return report.finished();
  }
  const Scratch<T> full(order, order);
  fill(hermitian, uplo, order, A, lda, full.data(), usable_threads(options.threads));
  if (side == Side::left)
    report.add(gemm<T>(Op::none, Op::none, m, n, m, alpha, full.data(), m, B, ldb, beta, C, ldc, inner));
  else
    report.add(gemm<T>(Op::none, Op::none, m, n, n, alpha, B, ldb, full.data(), n, beta, C, ldc, inner));
  return report.finished();
}

}  // namespace

template <class T>
Report symm(Side side, Uplo uplo, std::int64_t m, std::int64_t n, Scalar<T> alpha, const T* A, std::int64_t lda,
            const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return symmetric_product("symm", false, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc, options);
}

template <class T>
Report hemm(Side side, Uplo uplo, std::int64_t m, std::int64_t n, Scalar<T> alpha, const T* A, std::int64_t lda,
            const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return symmetric_product("hemm", is_complex<T>, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc, options);
}

VERNIER_FOR_ALL(VERNIER_SYMMETRIC_PRODUCTS, VERNIER_INSTANTIATION)

}  // namespace vernier
