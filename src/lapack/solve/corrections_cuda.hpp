// Refinement of one right-hand side whose vectors stay in device memory: the next correction is queued behind a
// residual that the host has not seen yet, and its length is found while it is solved for.
#pragma once

#include <functional>

#include "cuda/device.hpp"
#include "lapack/solve/corrections.hpp"
#include "lapack/solve/system_cuda.hpp"
#include "product/device_memory.hpp"

namespace vernier::cuda {

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
