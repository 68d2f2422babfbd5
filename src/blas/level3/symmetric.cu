// gemmt, symm and hemm, syrk, herk, syr2k and her2k on a GPU, as on a CPU (symmetric.cpp), with cuBLAS's
// syrkx and herkx: fill in the other triangle; halve the triangle of the result; take one product for both terms.
#include "blas/level3/routine_cuda.hpp"
#include "blas/level3/routines.hpp"
#include "blas/level3/triangle.hpp"
#include "product/elements.cuh"
#include "product/update.hpp"

namespace vernier::cuda {
namespace {

// Where no other machine's bits are asked for: smaller squares gain nothing over cuBLAS.
constexpr TriangleCut gpu_cut{1024, 128};

template <class T>
__device__ T real_part(T x) {
  if constexpr (is_complex<T>)
    return T(x.real());
  else
    return x;
}

template <class T>
__device__ T conjugate_of(T x) {
  if constexpr (is_complex<T>)
    return T(x.real(), -x.imag());
  else
    return x;
}

__device__ inline bool is_stored(Uplo uplo, std::int64_t i, std::int64_t j) {
  return uplo == Uplo::lower ? i >= j : i <= j;
}

template <class T>
__global__ void fill(Elements size, bool hermitian, Uplo uplo, const T* a, std::int64_t lda, T* out) {
  for_each_element(size, [&](std::int64_t i, std::int64_t j) {
    const bool stored = is_stored(uplo, i, j);
    const T value = stored ? a[i + j * lda] : a[j + i * lda];
    out[i + j * size.rows] = !hermitian ? value : i == j ? real_part(value) : stored ? value : conjugate_of(value);
  });
}

// C = alpha X + beta C on the triangle, or with alpha X^T (its conjugate where Hermitian) added.
template <class T>
__global__ void update_triangle(Elements size, TriangleUpdate<T> p, const T* x) {
  for_each_element(size, [&](std::int64_t i, std::int64_t j) {
    if (!is_stored(p.uplo, i, j)) return;
    T& out = p.c[i + j * p.ldc];
    const bool real = p.hermitian && i == j;
    T rest = real ? real_part(out) : out, factor = p.beta;
    if (p.both) {
      const T mirrored = x[j + i * size.rows];
      rest = p.hermitian ? updated(conjugate_of(p.alpha), conjugate_of(mirrored), p.beta, rest)
                         : updated(p.alpha, mirrored, p.beta, rest);
      factor = T{1};
    }
    const T result = p.alpha == T{0} ? (p.beta == T{0} ? T{0} : times(p.beta, rest))
                                     : updated(p.alpha, x[i + j * size.rows], factor, rest);
    out = real ? real_part(result) : result;
  });
}

template <class T>
void check_arguments(const TriangleUpdate<T>& p, const Options& options) {
  check_choice(p.routine, "uplo", p.uplo);
  check_call(p.routine, p);
  check_operands(p.routine, p.reads(), p.n > 0, p.a, p.b, p.c);
  check_routine_options(p.routine, options);
}

// The triangle of op(A) op(B), n x n, or all of it where both terms need it.
template <class T>
void multiply(const TriangleUpdate<T>& p, T* out, const Options& options, RoutineReport& report) {
  const Options inner = inner_options(options);
  const auto rectangle = [&](auto... range) { report.add(gemm_of(p.rectangle(range..., out), inner)); };
  if (p.both)
    rectangle(0, p.n, 0, p.n);
  else
    cut_triangle(p.uplo, options.contract.reproducible ? common_cut : gpu_cut, 0, p.n, rectangle);
}

template <class T>
Report update(const TriangleUpdate<T>& p, const Options& options) {
  RoutineReport report(p.routine);
  check_arguments(p, options);
  Plan nothing = explain<T>(Op::none, Op::none, p.n, p.n, 0, options);
  const cudaStream_t stream = stream_of(options);
  if (p.n == 0) return report.finished(std::move(nothing));
  const auto add = [&](const TriangleUpdate<T>& update, const T* x) {
    launch_elements("update_triangle", update_triangle<T>, {p.n, p.n}, stream, update, x);
  };
  if (!p.reads()) {
    TriangleUpdate<T> scaled = p;
    scaled.alpha = T{0}, scaled.both = false;
    add(scaled, nullptr);
    return report.finished(std::move(nothing));
  }
  check_without_host<T>(p.n, p.n, p.k, options);
  const DeviceScratch<T> x(p.n, p.n, stream);
  multiply(p, x.data(), options, report);
  add(p, x.data());
  return report.finished();
}

// opa: what the caller asked for; op(B) is its transpose. both: of syr2k and her2k.
template <class T>
Report rank_update(TriangleUpdate<T> p, const Options& options) {
  p.opa = checked_op<T>(p.routine, p.opa, p.hermitian);
  p.opb = transposed(p.opa, p.hermitian);
  return update<T>(p, options);
}

template <class T>
Report symmetric_product(const SymmetricProduct<T>& p, const Options& options) {
  RoutineReport report(p.routine);
  check_symmetric(p);
  check_routine_options(p.routine, options);
  const Options inner = inner_options(options);
  if (!p.reads()) {
    report.add(gemm_of(p.filled(p.a), inner));
    return report.finished();
  }
  check_without_host<T>(p.m, p.n, p.k, options);
  const DeviceScratch<T> full(p.k, p.k, stream_of(options));
  launch_elements("fill", fill<T>, {p.k, p.k}, stream_of(options), p.hermitian, p.uplo, p.a, p.lda, full.data());
  report.add(gemm_of(p.filled(full.data()), inner));
  return report.finished();
}

}  // namespace

template <class T>
Report gemmt(Uplo uplo, Op opa, Op opb, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
             const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return update<T>({{opa, opb, n, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, "gemmt", false, false, true, uplo},
                   options);
}

VERNIER_SYMMETRIC_PRODUCT(symm, false)
VERNIER_SYMMETRIC_PRODUCT(hemm, is_complex<T>)
VERNIER_RANK_K_UPDATE(syrk, Scalar<T>, false)
VERNIER_RANK_K_UPDATE(herk, Real<T>, is_complex<T>)
VERNIER_RANK_2K_UPDATE(syr2k, Scalar<T>, false, true)
VERNIER_RANK_2K_UPDATE(her2k, Real<T>, is_complex<T>, true)
VERNIER_RANK_2K_UPDATE(syrkx, Scalar<T>, false, false)
VERNIER_RANK_2K_UPDATE(herkx, Real<T>, is_complex<T>, false)

VERNIER_FOR_ALL(VERNIER_RANK_UPDATES, VERNIER_INSTANTIATION)
VERNIER_FOR_ALL(VERNIER_SYMMETRIC_PRODUCTS, VERNIER_INSTANTIATION)
VERNIER_FOR_ALL(VERNIER_UPDATES_OF_TWO, VERNIER_INSTANTIATION)

}  // namespace vernier::cuda
