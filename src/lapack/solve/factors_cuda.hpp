// LU factors in the memory of a GPU, as the solver takes them.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "cuda/device.hpp"
#include "lapack/solve/factors.hpp"
#include "lapack/solve/system_cuda.hpp"
#include "lapack/solve/vectors.hpp"
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

  DeviceCorrections(const ResidentSystem& system, Solve solve, std::int64_t size, const RefinementVectors& host)
      : system_(system),
        solve_(std::move(solve)),
        host_(host),
        bytes_(static_cast<std::size_t>(system.n) * sizeof(double)),
        memory_(static_cast<std::size_t>(5 * size + residual_work(system.n)) * sizeof(double), system.stream()) {
    double* next = reinterpret_cast<double*>(memory_.data());
    for (double** vector : {&b_, &x_, &r_, &d_, &work_}) *vector = std::exchange(next, next + size);
    work_of_residual_ = next;
    if (size > system.n)
      check(cudaMemsetAsync(b_, 0, static_cast<std::size_t>(5 * size) * sizeof(double), system.stream()),
            "cudaMemsetAsync");
  }

  void first(const Columns& columns) override {
    offset_ = columns.front() * system_.n;
    check(cudaMemcpyAsync(b_, host_.b + offset_, bytes_, cudaMemcpyHostToDevice, system_.stream()), "cudaMemcpyAsync");
    solve_(b_, x_, work_);
    take_residual();
  }
  void expect_another(const Columns&) override {
    solve_(r_, d_, work_);
    begun_ = true;
  }
  void wait() override { done_.wait(); }
  void add(const Columns&, const std::vector<double>& lengths) override {
    if (!std::exchange(begun_, false)) solve_(r_, d_, work_);
    add_scaled(system_.n, lengths.front(), d_, x_, system_.stream());
    take_residual();
  }

 private:
  void take_residual() {
    system_.queue_residual(x_, b_, r_, work_of_residual_);
    for (const auto& [to, from] : {std::pair(host_.x, x_), std::pair(host_.r, r_)})
      check(cudaMemcpyAsync(to + offset_, from, bytes_, cudaMemcpyDeviceToHost, system_.stream()), "cudaMemcpyAsync");
    done_.record(system_.stream());
  }

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
