// gemmt, syrk, herk, syr2k and her2k: products of which one triangle is wanted, added to one triangle of C.
#include <algorithm>

#include "blas/level3/native_level3.hpp"
#include "blas/level3/triangle_cost.hpp"
#include "blas/offload/host_routine.hpp"
#include "product/native/native_threads.hpp"
#include "product/update.hpp"
#include "vernier/cuda_level3.hpp"

namespace vernier {
namespace {

// The triangle of op(A) op(B), n x n, halved into squares on the diagonal and rectangles beside it.
template <class T>
struct TriangleProduct {
  Uplo uplo;
  Op opa, opb;
  std::int64_t n, k;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T* out;  // n x n; beyond the triangle it holds parts of the squares and what was there
  Options options;
  RoutineReport& report;

  void compute() {
    cut_triangle(uplo, options.contract.reproducible ? common_cut : cpu_cut(usable_threads(options.threads)), 0, n,
                 [this](auto... range) { rectangle(range...); });
  }

 private:
  void rectangle(std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
    report.add(gemm<T>(opa, opb, i1 - i0, j1 - j0, k, T{1}, opa == Op::none ? a + i0 : a + i0 * lda, lda,
                       opb == Op::none ? b + j0 * ldb : b + j0, ldb, T{0}, out + i0 + j0 * n, n, options));
  }
};

// entry(i, j, c) for every c = C(i, j) of the triangle; where it is Hermitian, diagonals are read and left real.
template <class T, class Entry>
void update_triangle(Uplo uplo, bool hermitian, std::int64_t n, T* c, std::int64_t ldc, int threads, Entry entry) {
#pragma omp parallel for schedule(static, 16) num_threads(threads)
  for (std::int64_t j = 0; j < n; ++j) {
    const FloatingEnvironment environment;
    const std::int64_t begin = uplo == Uplo::lower ? j : 0, end = uplo == Uplo::lower ? n : j + 1;
    for (std::int64_t i = begin; i < end; ++i) {
      T& out = c[i + j * ldc];
      if (hermitian && i == j)
        out = T(std::real(entry(i, j, T(std::real(out)))));
      else
        out = entry(i, j, out);
    }
  }
}

// C = beta C on the triangle: alpha or k is zero.
template <class T>
void scale_triangle(Uplo uplo, bool hermitian, std::int64_t n, T beta, T* c, std::int64_t ldc, int threads) {
  if (beta == T{1}) return;
  update_triangle(uplo, hermitian, n, c, ldc, threads,
                  [&](auto, auto, const T& old) { return beta == T{0} ? T{0} : times(beta, old); });
}

template <class T>
void check_update(const char* routine, std::int64_t n, T alpha, std::int64_t k, const T* A, const T* B, const T* C,
                  std::int64_t ldc, const Options& options) {
  check_leading(routine, "ldc", ldc, n);
  check_operands(routine, n > 0 && k > 0 && alpha != T{0}, n > 0, A, B, C);
  check_routine_options(routine, options);
  check_not_exact(routine, options);
}

// Of a checked call.
template <class T>
Report triangle_product(RoutineReport& report, Uplo uplo, bool hermitian, Op opa, Op opb, std::int64_t n,
                        std::int64_t k, T alpha, const T* A, std::int64_t lda, const T* B, std::int64_t ldb, T beta,
                        T* C, std::int64_t ldc, const Options& options) {
  const int threads = usable_threads(options.threads);
  if (n == 0 || k == 0 || alpha == T{0}) {
    Plan nothing = explain<T>(opa, opb, n, n, 0, options);
    scale_triangle(uplo, hermitian, n, beta, C, ldc, threads);
    return report.finished(std::move(nothing));
  }
  const Scratch<T> t(n, n);
  TriangleProduct<T>{uplo, opa, opb, n, k, A, lda, B, ldb, t.data(), inner_options(options), report}.compute();
  update_triangle(uplo, hermitian, n, C, ldc, threads,
                  [&, x = t.data()](auto i, auto j, const T& c) { return updated(alpha, x[i + j * n], beta, c); });
  return report.finished();
}

template <class T>
Report rank_k(const char* routine, bool hermitian, Uplo uplo, Op asked, std::int64_t n, std::int64_t k, T alpha,
              const T* A, std::int64_t lda, T beta, T* C, std::int64_t ldc, const Options& options) {
  RoutineReport report(routine);
  check_choice(routine, "uplo", uplo);
  const Op op = checked_op<T>(routine, asked, hermitian);
  check_dimension(routine, "n", n);
  check_dimension(routine, "k", k);
  check_area(routine, n, std::max(n, k));
  check_leading(routine, "lda", lda, op == Op::none ? n : k);
  check_update(routine, n, alpha, k, A, A, C, ldc, options);
  const auto describe = [&] {
    return HostRoutine<T>{routine, {n, n, k}, stored_operand(op, A, n, k, lda), {}, {C, n, n, ldc}, beta != T{0}, uplo};
  };
  const auto on_device = [&](const RoutineOperands<T>& x, void* stream) {
    const cuda::Options o{.contract = options.contract, .stream = stream};
    return hermitian ? cuda::herk<T>(uplo, op, n, k, std::real(alpha), x.a, x.lda, std::real(beta), x.c, x.ldc, o)
                     : cuda::syrk<T>(uplo, op, n, k, alpha, x.a, x.lda, beta, x.c, x.ldc, o);
  };
  const auto on_cpu = [&](const Options& o) {
    return rank_k(routine, hermitian, uplo, asked, n, k, alpha, A, lda, beta, C, ldc, o);
  };
  if (alpha != T{0})
    if (auto done = offloaded_routine<T>({n, n, k}, beta != T{0}, options, describe, on_device, on_cpu))
      return *std::move(done);
  Plan plan = explain<T>(Op::none, Op::none, n, n, k, options);
  if (plan.scheme == "residues" && !residues_serve_update<T>(n, k, options)) plan = native_triangle(std::move(plan));
  if (plan.scheme == "native" && alpha != T{0} && fits_native({n, k, lda, ldc})) {
    const NativeThreads setting(options.threads);
    native_syrk(hermitian, uplo, op, static_cast<int>(n), static_cast<int>(k), alpha, A, static_cast<int>(lda), beta, C,
                static_cast<int>(ldc));
    return report.finished(std::move(plan));
  }
  return triangle_product(report, uplo, hermitian, op, transposed(op, hermitian), n, k, alpha, A, lda, A, lda, beta, C,
                          ldc, options);
}

// alpha X(i, j) + (alpha X(j, i), or its conjugate) + beta C: from the last term to the first.
template <class T>
T sum_of_two(bool hermitian, T alpha, T direct, T mirrored, T beta, const T& c) {
  const T rest =
      hermitian ? updated(conjugate(alpha), conjugate(mirrored), beta, c) : updated(alpha, mirrored, beta, c);
  return updated(alpha, direct, T{1}, rest);
}

template <class T>
Report rank_2k(const char* routine, bool hermitian, Uplo uplo, Op asked, std::int64_t n, std::int64_t k, T alpha,
               const T* A, std::int64_t lda, const T* B, std::int64_t ldb, T beta, T* C, std::int64_t ldc,
               const Options& options) {
  RoutineReport report(routine);
  check_choice(routine, "uplo", uplo);
  const Op op = checked_op<T>(routine, asked, hermitian);
  check_dimension(routine, "n", n);
  check_dimension(routine, "k", k);
  check_area(routine, n, std::max(n, k));
  check_leading(routine, "lda", lda, op == Op::none ? n : k);
  check_leading(routine, "ldb", ldb, op == Op::none ? n : k);
  check_update(routine, n, alpha, k, A, B, C, ldc, options);
  const auto describe = [&] {
    return HostRoutine<T>{
        routine,      {n, n, k}, stored_operand(op, A, n, k, lda), stored_operand(op, B, n, k, ldb), {C, n, n, ldc},
        beta != T{0}, uplo};
  };
  const auto on_device = [&](const RoutineOperands<T>& x, void* stream) {
    const cuda::Options o{.contract = options.contract, .stream = stream};
    return hermitian ? cuda::her2k<T>(uplo, op, n, k, alpha, x.a, x.lda, x.b, x.ldb, std::real(beta), x.c, x.ldc, o)
                     : cuda::syr2k<T>(uplo, op, n, k, alpha, x.a, x.lda, x.b, x.ldb, beta, x.c, x.ldc, o);
  };
  const auto on_cpu = [&](const Options& o) {
    return rank_2k(routine, hermitian, uplo, asked, n, k, alpha, A, lda, B, ldb, beta, C, ldc, o);
  };
  if (alpha != T{0})
    if (auto done = offloaded_routine<T>({n, n, k}, beta != T{0}, options, describe, on_device, on_cpu))
      return *std::move(done);
  const int threads = usable_threads(options.threads);
  Plan plan = explain<T>(Op::none, Op::none, n, n, k, options);
  if (plan.scheme == "none" || alpha == T{0}) {
    plan = explain<T>(Op::none, Op::none, n, n, 0, options);
    scale_triangle(uplo, hermitian, n, beta, C, ldc, threads);
    return report.finished(std::move(plan));
  }
  if (plan.scheme == "native" && fits_native({n, k, lda, ldb, ldc})) {
    const NativeThreads setting(options.threads);
    native_syr2k(hermitian, uplo, op, static_cast<int>(n), static_cast<int>(k), alpha, A, static_cast<int>(lda), B,
                 static_cast<int>(ldb), beta, C, static_cast<int>(ldc));
    return report.finished(std::move(plan));
  }
  const Scratch<T> x(n, n);
  report.add(
      gemm<T>(op, transposed(op, hermitian), n, n, k, T{1}, A, lda, B, ldb, T{0}, x.data(), n, inner_options(options)));
  update_triangle(uplo, hermitian, n, C, ldc, threads, [&, t = x.data()](auto i, auto j, const T& c) {
    return sum_of_two(hermitian, alpha, t[i + j * n], t[j + i * n], beta, c);
  });
  return report.finished();
}

}  // namespace

template <class T>
Report gemmt(Uplo uplo, Op opa, Op opb, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
             const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  RoutineReport report("gemmt");
  check_choice("gemmt", "uplo", uplo);
  check_shape("gemmt", opa, opb, n, n, k);
  check_leading("gemmt", "lda", lda, opa == Op::none ? n : k);
  check_leading("gemmt", "ldb", ldb, opb == Op::none ? k : n);
  check_update("gemmt", n, alpha, k, A, B, C, ldc, options);
  const auto describe = [&] {
    return HostRoutine<T>{
        "gemmt",      {n, n, k}, stored_operand(opa, A, n, k, lda), stored_operand(opb, B, k, n, ldb), {C, n, n, ldc},
        beta != T{0}, uplo};
  };
  const auto on_device = [&](const RoutineOperands<T>& x, void* stream) {
    const cuda::Options o{.contract = options.contract, .stream = stream};
    return cuda::gemmt<T>(uplo, opa, opb, n, k, alpha, x.a, x.lda, x.b, x.ldb, beta, x.c, x.ldc, o);
  };
  const auto on_cpu = [&](const Options& o) {
    return gemmt<T>(uplo, opa, opb, n, k, alpha, A, lda, B, ldb, beta, C, ldc, o);
  };
  if (alpha != T{0})
    if (auto done = offloaded_routine<T>({n, n, k}, beta != T{0}, options, describe, on_device, on_cpu))
      return *std::move(done);
  return triangle_product(report, uplo, false, opa, opb, n, k, alpha, A, lda, B, ldb, beta, C, ldc, options);
}

template <class T>
Report syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
            Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return rank_k("syrk", false, uplo, op, n, k, alpha, A, lda, beta, C, ldc, options);
}

template <class T>
Report herk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Real<T> alpha, const T* A, std::int64_t lda, Real<T> beta,
            T* C, std::int64_t ldc, const Options& options) {
  return rank_k("herk", is_complex<T>, uplo, op, n, k, T(alpha), A, lda, T(beta), C, ldc, options);
}

template <class T>
Report syr2k(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
             const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return rank_2k("syr2k", false, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc, options);
}

template <class T>
Report her2k(Uplo uplo, Op op, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A, std::int64_t lda,
             const T* B, std::int64_t ldb, Real<T> beta, T* C, std::int64_t ldc, const Options& options) {
  return rank_2k("her2k", is_complex<T>, uplo, op, n, k, alpha, A, lda, B, ldb, T(beta), C, ldc, options);
}

#define VERNIER_INSTANTIATE(T)                                                                                       \
  template Report gemmt(Uplo, Op, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t, \
                        T, T*, std::int64_t, const Options&);                                                        \
  template Report syrk(Uplo, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, T, T*, std::int64_t,         \
                       const Options&);                                                                              \
  template Report herk(Uplo, Op, std::int64_t, std::int64_t, Real<T>, const T*, std::int64_t, Real<T>, T*,           \
                       std::int64_t, const Options&);                                                                \
  template Report syr2k(Uplo, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t, T,  \
                        T*, std::int64_t, const Options&);                                                           \
  template Report her2k(Uplo, Op, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t,     \
                        Real<T>, T*, std::int64_t, const Options&);
VERNIER_INSTANTIATE(float)
VERNIER_INSTANTIATE(double)
VERNIER_INSTANTIATE(std::complex<float>)
VERNIER_INSTANTIATE(std::complex<double>)
#undef VERNIER_INSTANTIATE

}  // namespace vernier
