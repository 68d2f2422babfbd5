// trmm and trsm on a GPU: halves of A by gemm, blocks on the diagonal by cuBLAS.
#include "base/status.hpp"
#include "blas/level3/routine_cuda.hpp"
#include "blas/level3/routines.hpp"
#include "blas/level3/triangular_halves.hpp"
#include "cuda/cublas.hpp"
#include "product/scale.hpp"

namespace vernier::cuda {
namespace {

// Blocks on the diagonal: products of halves that are smaller gain nothing over cuBLAS.
constexpr TriangleCut native_cut{1024, 128};

template <class T>
using Problem = Triangular<T, Options>;

template <class T>
void check_arguments(const Problem<T>& p) {
  check_triangular(p);
  check_routine_options(p.routine, p.options);
  const Contract& contract = p.options.contract;
  if (asks_for_more_than<T>(contract) || contract.reproducible)
    fail(Status::unsupported, "{}: contract {}: on a GPU expected one of at most {} bits that is not reproducible",
         p.routine, contract.text(), std::numeric_limits<RealType<T>>::digits);
}

template <class T>
void by_halves(const Problem<T>& p, T* x, Cublas& cublas, RoutineReport& report) {
  const bool left = p.side == Side::left;
  const Options options = inner_options(p.options);
  const T one{1};
  const auto diagonal = [&](std::int64_t begin, std::int64_t size, T* rows) {
    const std::int64_t m = left ? size : p.m, n = left ? p.n : size;
    const T* a = p.block(begin, begin);
    cublas.set_stream(stream_of(options));  // a product in between may have set another mode
    cublas.set_pointer_mode(CUBLAS_POINTER_MODE_HOST);
    if (p.solve)
      cublas.trsm(p.side, p.uplo, p.opa, p.diag, m, n, &one, a, p.lda, rows, p.m);
    else
      cublas.trmm(p.side, p.uplo, p.opa, p.diag, m, n, &one, a, p.lda, rows, p.m, rows, p.m);
  };
  const auto multiply = [&](const GemmCall<T>& part) { report.add(gemm_of(part, options)); };
  TriangularHalves(p, native_cut, x, diagonal, multiply).run();
}

template <class T>
Report triangular(const Problem<T>& p) {
  RoutineReport report(p.routine);
  check_arguments(p);
  Plan nothing = explain<T>(Op::none, Op::none, p.m, p.n, 0, p.options);
  if (p.m == 0 || p.n == 0) return report.finished(std::move(nothing));
  const cudaStream_t stream = stream_of(p.options);
  const auto copy = [&](T factor, const T* in, std::int64_t ld_in, T* out, std::int64_t ld_out) {
    update_on_device({p.m, p.n}, DeviceFactor<T>{factor}, in, ld_in, DeviceFactor<T>{}, out, ld_out, stream);
  };
  if (p.alpha == T{0}) {
    check(cudaMemset2DAsync(p.c, static_cast<std::size_t>(p.ldc) * sizeof(T), 0,
                            static_cast<std::size_t>(p.m) * sizeof(T), static_cast<std::size_t>(p.n), stream),
          "cudaMemset2DAsync");
    return report.finished(std::move(nothing));
  }
  check_without_host<T>(p.m, p.n, p.order(), p.options);
  const DeviceScratch<T> x(p.m, p.n, stream);
  copy(p.solve ? p.alpha : T{1}, p.b, p.ldb, x.data(), p.m);
  by_halves(p, x.data(), thread_cublas(), report);
  Plan block = one_block(std::move(nothing), p.order());
  copy(p.solve ? T{1} : p.alpha, x.data(), p.m, p.c, p.ldc);
  return report.any_product() ? report.finished() : report.finished(std::move(block));
}

}  // namespace

template <class T>
Report trmm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, Scalar<T> alpha, const T* A,
            std::int64_t lda, const T* B, std::int64_t ldb, T* C, std::int64_t ldc, const Options& options) {
  return triangular<T>(
      {{{op, Op::none, m, n, 0, alpha, A, lda, B, ldb, T{0}, C, ldc}, "trmm", false, side, uplo, diag}, options});
}

template <class T>
Report trsm(Side side, Uplo uplo, Op op, Diag diag, std::int64_t m, std::int64_t n, Scalar<T> alpha, const T* A,
            std::int64_t lda, T* B, std::int64_t ldb, const Options& options) {
  return triangular<T>(
      {{{op, Op::none, m, n, 0, alpha, A, lda, B, ldb, T{0}, B, ldb}, "trsm", true, side, uplo, diag}, options});
}

VERNIER_FOR_ALL(VERNIER_TRMM_TO_C, VERNIER_INSTANTIATION)
VERNIER_FOR_ALL(VERNIER_TRSM, VERNIER_INSTANTIATION)

}  // namespace vernier::cuda
