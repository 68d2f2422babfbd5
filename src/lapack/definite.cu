// Cholesky and its solvers of vernier/cuda_lapack.hpp.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "lapack/calls.hpp"
#include "lapack/cholesky/cholesky.hpp"
#include "lapack/solve/factors_cuda.hpp"
#include "lapack/solve/vectors.hpp"
#include "lapack/triangle/column_solves.hpp"

namespace vernier::cuda {
namespace {

template <class T>
void check_call(const char* routine, Uplo uplo, const SystemCall<T>& system, const Options& options) {
  check_definite(routine, uplo, system, system.n > 0);
  check_options<T>(routine, options);
  check_device<T>(routine, system.n);
}

// Waits: 0, or the order of a leading block that is not positive definite.
template <class T>
std::int64_t factor(DeviceLu<T>& factors, Uplo uplo, const T* A, std::int64_t lda, const Options& options) {
  load_triangle(factors, uplo, A, lda, stream_of(options));
  factor_cholesky_on_device(factors, options.contract, stream_of(options));
  return read_info(factors, stream_of(options));
}

// For ColumnSolves.
template <class T>
void with_cholesky(const DeviceTriangles<T>& triangles, std::int64_t count, double* in, double* out, double* scratch) {
  solve_with_device_cholesky(triangles, count, in, out, scratch);
}

}  // namespace

template <class T>
std::int64_t potrf(Uplo uplo, std::int64_t n, T* A, std::int64_t lda, const Options& options) {
  check_call<T>("potrf", uplo, {Op::none, n, 0, A, lda, nullptr, std::max<std::int64_t>(n, 1)}, options);
  if (n == 0) return 0;
  DeviceLu<T> factors(n, n, stream_of(options));
  const std::int64_t info = factor(factors, uplo, A, lda, options);
  store_triangle(factors, uplo, A, lda, stream_of(options));
  check(cudaStreamSynchronize(stream_of(options)), "potrf");
  return info;
}

template <class T>
void potrs(Uplo uplo, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, T* B, std::int64_t ldb,
           const Options& options) {
  check_call<T>("potrs", uplo, {Op::none, n, nrhs, A, lda, B, ldb}, options);
  if (n == 0 || nrhs == 0) return;
  DeviceLu<T> factors(n, n, stream_of(options));
  load_triangle(factors, uplo, A, lda, stream_of(options));
  ColumnSolves<T>(factors, nrhs, stream_of(options)).run(B, ldb, with_cholesky<T>);
  check(cudaStreamSynchronize(stream_of(options)), "potrs");
}

template <class T>
std::int64_t posv(Uplo uplo, std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda, T* B, std::int64_t ldb,
                  const Options& options) {
  check_call<T>("posv", uplo, {Op::none, n, nrhs, A, lda, B, ldb}, options);
  if (n == 0) return 0;
  DeviceLu<T> factors(n, n, stream_of(options));
  const std::int64_t info = factor(factors, uplo, A, lda, options);
  std::optional<ColumnSolves<T>> solves;
  if (info == 0 && nrhs > 0) solves.emplace(factors, nrhs, stream_of(options));
  store_triangle(factors, uplo, A, lda, stream_of(options));
  if (solves) solves->run(B, ldb, with_cholesky<T>);
  check(cudaStreamSynchronize(stream_of(options)), "posv");
  return info;
}

template <class T>
SolveReport solve_definite(Uplo uplo, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, const T* B,
                           std::int64_t ldb, T* X, std::int64_t ldx, const SolveOptions& options, void* stream) {
  const Clock total;
  check_uplo("solve_definite", uplo);
  check_solve<T>({Op::none, n, nrhs, A, lda, B, ldb, X, ldx}, options);
  refuse_factors("solve_definite", options.factors, {Factors::bf16, Factors::fp16}, "auto, fp32 or fp64");
  check_device_solve<T>("solve_definite", n, options, stream);
  const FloatingEnvironment environment;
  SolveReport report = begin_report<T>(n, nrhs, options);
  if (n == 0 || nrhs == 0) return report;
  const auto queue = static_cast<cudaStream_t>(stream);
  DeviceColumns<T> columns(n, nrhs, B, ldb, queue);
  const DeviceWorkspace memory(static_cast<std::size_t>(n * n) * sizeof(T), queue);
  T* whole = reinterpret_cast<T*>(memory.data());
  fill_symmetric(uplo, n, A, lda, whole, queue);
  std::optional<RightHandSides> rhs;  // assignment would move its vectors out of pinned memory
  DeviceSystem<T> system(Op::none, {whole, n, n},
                         {.floats = first_factors(n, options) == Factors::fp32,
                          .meanwhile = [&] { rhs.emplace(columns.right_hand_sides()); },
                          .filled_from = uplo},
                         queue);
  const auto factorise = [&](Factors precision) {
    return factorise_definite_on_device(system, precision, products_of(options, precision, stream));
  };
  Solver solver(system, std::move(*rhs), factorise, options, report);
  if (solver.find()) columns.write(solver, X, ldx);
  report.seconds = total.seconds();
  return report;
}

VERNIER_REAL_INSTANCES(potrf, potrs, posv, solve_definite)

}  // namespace vernier::cuda
