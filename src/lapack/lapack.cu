// The public routines of vernier/cuda_lapack.hpp.
#include <optional>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/instantiate.hpp"
#include "lapack/calls.hpp"
#include "lapack/offloaded.hpp"
#include "lapack/solve/factors_cuda.hpp"
#include "lapack/solve/solver.hpp"
#include "lapack/solve/vectors.hpp"
#include "lapack/triangle/column_solves.hpp"
#include "vernier/cuda_lapack.hpp"

namespace vernier::cuda {
namespace {

// For ColumnSolves.
template <class T>
auto with_lu(const DeviceLu<T>& lu, Op op, cudaStream_t stream) {
  return
      [&lu, op, stream](const DeviceTriangles<T>& triangles, std::int64_t count, double* in, double* out,
                        double* scratch) { solve_with_device_lu(lu, triangles, op, count, in, out, scratch, stream); };
}

// The row of A that each row of PA is.
std::vector<int> permutation_of(std::int64_t n, const std::int64_t* device_pivots, cudaStream_t stream) {
  std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
  check(cudaMemcpyAsync(pivots.data(), device_pivots, pivots.size() * sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                        stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "getrs");
  check_pivots("getrs", n, pivots.data());
  std::vector<int> rows(pivots.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i);
  for (std::size_t i = 0; i < rows.size(); ++i) std::swap(rows[i], rows[static_cast<std::size_t>(pivots[i] - 1)]);
  return rows;
}

}  // namespace

template <class T>
std::int64_t getrf(std::int64_t m, std::int64_t n, T* A, std::int64_t lda, std::int64_t* pivots,
                   const Options& options) {
  check_factors("getrf", m, n, A, lda, pivots);
  check_options<T>("getrf", options);
  check_device<T>("getrf", m);
  if (m == 0 || n == 0) return 0;
  DeviceLu<T> lu(m, n, stream_of(options));
  load_columns(lu, A, lda, stream_of(options));
  factor_on_device(lu, options.contract, stream_of(options));
  store_columns(lu, A, lda, stream_of(options));
  store_pivots(lu, pivots, stream_of(options));
  return read_info(lu, stream_of(options));
}

template <class T>
void getrs(Op op, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, const std::int64_t* pivots, T* B,
           std::int64_t ldb, const Options& options) {
  check_op("getrs", op);
  check_system<T>("getrs", {op, n, nrhs, A, lda, B, ldb}, n > 0 && nrhs > 0, pivots);
  check_options<T>("getrs", options);
  check_device<T>("getrs", n);
  if (n == 0 || nrhs == 0) return;
  const std::vector<int> rows = permutation_of(n, pivots, stream_of(options));
  DeviceLu<T> lu(n, n, stream_of(options));
  check(cudaMemcpyAsync(lu.permutation, rows.data(), rows.size() * sizeof(int), cudaMemcpyHostToDevice,
                        stream_of(options)),
        "cudaMemcpyAsync");
  load_columns(lu, A, lda, stream_of(options));
  ColumnSolves<T>(lu, nrhs, stream_of(options)).run(B, ldb, with_lu(lu, op, stream_of(options)));
  check(cudaStreamSynchronize(stream_of(options)), "getrs");
}

template <class T>
std::int64_t gesv(std::int64_t n, std::int64_t nrhs, T* A, std::int64_t lda, std::int64_t* pivots, T* B,
                  std::int64_t ldb, const Options& options) {
  check_system<T>("gesv", {Op::none, n, nrhs, A, lda, B, ldb}, n > 0, pivots);
  check_options<T>("gesv", options);
  check_device<T>("gesv", n);
  if (n == 0) return 0;
  DeviceLu<T> lu(n, n, stream_of(options));
  load_columns(lu, A, lda, stream_of(options));
  factor_on_device(lu, options.contract, stream_of(options));
  const std::int64_t info = read_info(lu, stream_of(options));
  std::optional<ColumnSolves<T>> solves;
  if (info == 0 && nrhs > 0) solves.emplace(lu, nrhs, stream_of(options));
  store_columns(lu, A, lda, stream_of(options));
  store_pivots(lu, pivots, stream_of(options));
  if (solves) solves->run(B, ldb, with_lu(lu, Op::none, stream_of(options)));
  check(cudaStreamSynchronize(stream_of(options)), "gesv");
  return info;
}

template <class T>
SolveReport solve(Op op, std::int64_t n, std::int64_t nrhs, const T* A, std::int64_t lda, const T* B, std::int64_t ldb,
                  T* X, std::int64_t ldx, const SolveOptions& options, void* stream) {
  const Clock total;
  check_solve<T>({op, n, nrhs, A, lda, B, ldb, X, ldx}, options);
  check_device_solve<T>("solve", n, options, stream);
  const FloatingEnvironment environment;
  SolveReport report = begin_report<T>(n, nrhs, options);
  if (n == 0 || nrhs == 0) return report;
  const auto queue = static_cast<cudaStream_t>(stream);
  DeviceColumns<T> columns(n, nrhs, B, ldb, queue);
  std::optional<RightHandSides> rhs;  // assignment would move its vectors out of pinned memory
  const Factors first = first_factors(n, options);
  DeviceSystem<T> system(
      op, {A, n, lda},
      {.floats = first == Factors::fp32, .meanwhile = [&] { rhs.emplace(columns.right_hand_sides()); }}, queue);
  const auto factorise = [&](Factors precision) {
    return factorise_on_device(system, precision, products_of(options, precision, stream));
  };
  Solver solver(system, std::move(*rhs), factorise, options, report);
  if (solver.find()) columns.write(solver, X, ldx);
  report.seconds = total.seconds();
  return report;
}

template <class T>
bool has_factors(std::int64_t rows) {
  try {
    return runs_panels(current_device()) && rows <= device_lu_limit<T>();
  } catch (const Error&) {
    return false;
  }
}

template <class T>
std::int64_t factor_for_the_host(std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                                 std::vector<std::int64_t>& pivots, const Options& options) {
  pivots.resize(static_cast<std::size_t>(std::min(m, n)));
  const std::size_t bytes = pivots.size() * sizeof(std::int64_t);
  const DeviceWorkspace on_device(bytes, stream_of(options));
  auto* at = reinterpret_cast<std::int64_t*>(on_device.data());
  const std::int64_t info = getrf(m, n, a, lda, at, options);
  check(cudaMemcpyAsync(pivots.data(), at, bytes, cudaMemcpyDeviceToHost, stream_of(options)), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream_of(options)), "getrf");
  return info;
}

VERNIER_REAL_INSTANCES(getrf, getrs, gesv, solve, has_factors, factor_for_the_host)

}  // namespace vernier::cuda
