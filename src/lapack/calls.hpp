// What the routines of vernier/cuda_lapack.hpp have in common: checks, and columns that go to the host and back.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "blas/level3/routine_cuda.hpp"
#include "cuda/device.hpp"
#include "lapack/arguments.hpp"
#include "lapack/lu/lu.hpp"
#include "lapack/solve/solver.hpp"
#include "product/staging_memory.hpp"
#include "vernier/cuda_lapack.hpp"

namespace vernier::cuda {

// Blocks of a panel wait for each other, so that all of them must run at once.
inline bool runs_panels(const Device& device) {
  return device.compute_capability >= 80 && device.multiprocessors >= panel_multiprocessors;
}

template <class T>
void check_device(const char* routine, std::int64_t rows) {
  const Device& device = current_device();
  if (!runs_panels(device))
    fail(Status::unsupported,
         "{}: {} has compute capability {}.{} and {} multiprocessors; expected 8.0 and {} at least", routine,
         device.name, device.compute_capability / 10, device.compute_capability % 10, device.multiprocessors,
         panel_multiprocessors);
  if (rows > device_lu_limit<T>())
    fail(Status::unsupported, "{}: {} rows: expected at most {}", routine, rows, device_lu_limit<T>());
}

template <class T>
void check_options(const char* routine, const Options& options) {
  check_routine_options(routine, options);
  explain<T>(Op::none, Op::none, 0, 0, 0, options);  // throws on what gemm would not take
}

template <class T>
void copy_columns(const T* from, std::int64_t from_ld, T* to, std::int64_t to_ld, std::int64_t rows,
                  std::int64_t columns, cudaMemcpyKind kind, cudaStream_t stream) {
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(T); };
  check(cudaMemcpy2DAsync(to, bytes(to_ld), from, bytes(from_ld), bytes(rows), static_cast<std::size_t>(columns), kind,
                          stream),
        "cudaMemcpy2DAsync");
  check(cudaStreamSynchronize(stream), "cudaMemcpy2DAsync");
}

// Options of the products in a factorisation.
inline Options products_of(const SolveOptions& options, Factors precision, void* stream) {
  const Contract usual = precision == Factors::fp64 ? Contract::fp64() : Contract::fp32();
  return {.contract = options.contract.value_or(usual), .engine = options.products.engine, .stream = stream};
}

template <class T>
void check_device_solve(const char* routine, std::int64_t n, const SolveOptions& options, void* stream) {
  check_options<T>(routine, products_of(options, Factors::fp64, stream));
  if (first_factors(n, options) == Factors::fp64 || options.fallback)
    check_device<double>(routine, n);
  else
    check_device<float>(routine, n);
}

inline void refuse_factors(const char* routine, Factors factors, std::initializer_list<Factors> refused,
                           const char* expected) {
  if (std::find(refused.begin(), refused.end(), factors) != refused.end())
    fail(Status::unsupported, "{}: factors {}: not on a GPU; expected {}", routine, to_string(factors), expected);
}

// Right-hand sides in device memory, for a solver whose vectors are the host's.
template <class T>
class DeviceColumns {
 public:
  DeviceColumns(std::int64_t n, std::int64_t nrhs, const T* B, std::int64_t ldb, cudaStream_t stream)
      : n_(n), nrhs_(nrhs), stream_(stream), staged_(static_cast<std::size_t>(n * nrhs) * sizeof(T)) {
    copy_columns(B, ldb, host(), n, n, nrhs, cudaMemcpyDeviceToHost, stream);
  }
  RightHandSides right_hand_sides() const {
    return read_right_hand_sides<T>(n_, nrhs_, host(), n_, &staging_resource());
  }
  void write(Solver& solver, T* X, std::int64_t ldx) {
    solver.write(host(), n_);
    copy_columns(static_cast<const T*>(host()), n_, X, ldx, n_, nrhs_, cudaMemcpyHostToDevice, stream_);
  }

 private:
  T* host() const { return reinterpret_cast<T*>(staged_.data()); }

  std::int64_t n_, nrhs_;
  cudaStream_t stream_;
  cuda::StagingMemory staged_;
};

}  // namespace vernier::cuda
