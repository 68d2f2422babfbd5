// gemmt, symm and hemm, syrk, herk, syr2k and her2k on a GPU, as on a CPU (symm.cpp, rank_update.cpp), with cuBLAS's
// syrkx and herkx: fill in the other triangle; halve the triangle of the result; take one product for both terms.
#include "blas/level3/routine_cuda.hpp"
#include "blas/level3/routines.hpp"
#include "blas/level3/triangle.hpp"
#include "product/elements.cuh"

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
__global__ void update_triangle(Elements size, bool hermitian, bool both, Uplo uplo, T alpha, const T* x, T beta, T* c,
                                std::int64_t ldc) {
  for_each_element(size, [&](std::int64_t i, std::int64_t j) {
    if (!is_stored(uplo, i, j)) return;
    T& out = c[i + j * ldc];
    const bool real = hermitian && i == j;
    T rest = real ? real_part(out) : out, factor = beta;
    if (both) {
      const T mirrored = x[j + i * size.rows];
      rest = hermitian ? updated(conjugate_of(alpha), conjugate_of(mirrored), beta, rest)
                       : updated(alpha, mirrored, beta, rest);
      factor = T{1};
    }
    const T result =
        alpha == T{0} ? (beta == T{0} ? T{0} : times(beta, rest)) : updated(alpha, x[i + j * size.rows], factor, rest);
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
  const auto rectangle = [&](auto... range) {
    const GemmCall<T> part = p.rectangle(range..., out);
    report.add(gemm<T>(part.opa, part.opb, part.m, part.n, part.k, &part.alpha, part.a, part.lda, part.b, part.ldb,
                       &part.beta, part.c, part.ldc, inner));
  };
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
  const bool reads = p.reads();
  if (p.n == 0) return report.finished(std::move(nothing));
  const auto add = [&](const T* x) {
    launch_elements("update_triangle", update_triangle<T>, {p.n, p.n}, stream, p.hermitian, p.both && reads, p.uplo,
                    reads ? p.alpha : T{0}, x, p.beta, p.c, p.ldc);
  };
  if (!reads) {
    add(nullptr);
    return report.finished(std::move(nothing));
  }
  check_without_host<T>(p.n, p.n, p.k, options);
  const DeviceScratch<T> x(p.n, p.n, stream);
  multiply(p, x.data(), options, report);
  add(x.data());
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
Report symmetric_product(const char* routine, bool hermitian, Side side, Uplo uplo, std::int64_t m, std::int64_t n,
                         T alpha, const T* A, std::int64_t lda, const T* B, std::int64_t ldb, T beta, T* C,
                         std::int64_t ldc, const Options& options) {
  RoutineReport report(routine);
  check_symmetric(routine, side, uplo, m, n, alpha, A, lda, B, ldb, C, ldc);
  check_routine_options(routine, options);
  const Options inner = inner_options(options);
  const std::int64_t order = side == Side::left ? m : n;
  if (m == 0 || n == 0 || alpha == T{0}) {
    report.add(
        gemm<T>(Op::none, Op::none, m, n, 0, &alpha, A, std::max<std::int64_t>(m, 1), B, 1, &beta, C, ldc, inner));
    return report.finished();
  }
  check_without_host<T>(m, n, order, options);
  const DeviceScratch<T> full(order, order, stream_of(options));
  launch_elements("fill", fill<T>, {order, order}, stream_of(options), hermitian, uplo, A, lda, full.data());
  if (side == Side::left)
    report.add(gemm<T>(Op::none, Op::none, m, n, m, &alpha, full.data(), m, B, ldb, &beta, C, ldc, inner));
  else
    report.add(gemm<T>(Op::none, Op::none, m, n, n, &alpha, B, ldb, full.data(), n, &beta, C, ldc, inner));
  return report.finished();
}

}  // namespace

template <class T>
Report gemmt(Uplo uplo, Op opa, Op opb, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
             const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return update<T>({{opa, opb, n, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, "gemmt", false, false, true, uplo},
                   options);
}

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

template <class T>
Report syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
            Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return rank_update<T>({{op, op, n, n, k, alpha, A, lda, A, lda, beta, C, ldc}, "syrk", false, false, false, uplo},
                        options);
}

template <class T>
Report herk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Real<T> alpha, const T* A, std::int64_t lda, Real<T> beta,
            T* C, std::int64_t ldc, const Options& options) {
  return rank_update<T>(
      {{op, op, n, n, k, T(alpha), A, lda, A, lda, T(beta), C, ldc}, "herk", is_complex<T>, false, false, uplo},
      options);
}

template <class T>
Report syr2k(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
             const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return rank_update<T>({{op, op, n, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, "syr2k", false, true, true, uplo},
                        options);
}

template <class T>
Report her2k(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
             const T* B, std::int64_t ldb, Real<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return rank_update<T>(
      {{op, op, n, n, k, alpha, A, lda, B, ldb, T(beta), C, ldc}, "her2k", is_complex<T>, true, true, uplo}, options);
}

template <class T>
Report syrkx(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
             const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return rank_update<T>({{op, op, n, n, k, alpha, A, lda, B, ldb, beta, C, ldc}, "syrkx", false, false, true, uplo},
                        options);
}

template <class T>
Report herkx(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
             const T* B, std::int64_t ldb, Real<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return rank_update<T>(
      {{op, op, n, n, k, alpha, A, lda, B, ldb, T(beta), C, ldc}, "herkx", is_complex<T>, false, true, uplo}, options);
}

VERNIER_FOR_ALL(VERNIER_RANK_UPDATES, VERNIER_INSTANTIATION)
VERNIER_FOR_ALL(VERNIER_SYMMETRIC_PRODUCTS, VERNIER_INSTANTIATION)
VERNIER_FOR_ALL(VERNIER_UPDATES_OF_TWO, VERNIER_INSTANTIATION)

}  // namespace vernier::cuda
