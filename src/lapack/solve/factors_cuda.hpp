// LU factors in the memory of a GPU, as the solver takes them.
#pragma once

#include <functional>
#include <memory>

#include "cuda/device.hpp"
#include "lapack/solve/factors.hpp"
#include "lapack/solve/system_cuda.hpp"
#include "lapack/triangle/triangles.hpp"
#include "product/device_memory.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

// `precision` is not automatic. Options are those of the products, their stream that of the system. fp32
// factors take system.floats for their own where it holds what they need.
template <class T>
std::unique_ptr<LuFactors> factorise_on_device(DeviceSystem<T>& system, Factors precision, const Options& options);

// As factorise_on_device, of a symmetric positive definite system in fp32 or fp64.
template <class T>
std::unique_ptr<LuFactors> factorise_definite_on_device(DeviceSystem<T>& system, Factors precision,
                                                        const Options& options);

// op(A) out = in for `count` vectors of double in device memory, lu.rows from each other and zero from n on. work: as
// much again.
template <class T>
void solve_with_device_lu(const DeviceLu<T>& lu, const DeviceTriangles<T>& triangles, Op op, std::int64_t count,
                          const double* in, double* out, double* work, cudaStream_t stream);

// The same with the factor of cholesky.hpp.
template <class T>
void solve_with_device_cholesky(const DeviceTriangles<T>& triangles, std::int64_t count, const double* in, double* out,
                                double* work);

// Refinement of one right-hand side whose vectors stay in device memory: the next correction is queued behind a
// residual that the host has not seen yet, and its length is found while it is solved for.
class DeviceCorrections final : public Corrections {
 public:
  // out = F^-1 in by way of work, queued; all of `size` >= n numbers, `in` with zeros from n on.
  using Solve = std::function<void(const double* in, double* out, double* work)>;

  DeviceCorrections(const ResidentSystem& system, Solve solve, std::int64_t size, const RefinementVectors& host);

  void first(const Columns& columns) override;
  void expect_another(const Columns& columns) override;
  void wait() override { done_.wait(); }
  void add(const Columns& columns, const std::vector<double>& lengths) override;

 private:
  void take_residual();

  const ResidentSystem& system_;
  Solve solve_;
  RefinementVectors host_;
  std::size_t bytes_;  // of n numbers
  DeviceWorkspace memory_;
  double *b_, *x_, *r_, *d_, *work_, *work_of_residual_;
  std::int64_t offset_ = 0;  // of the column in the host's vectors
  bool begun_ = false;       // F^-1 r is queued
  Event done_;
};

}  // namespace vernier::cuda
