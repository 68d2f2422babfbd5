// A system whose matrix is in the memory of a GPU: measured, and its residuals.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "lapack/lu/lu.hpp"
#include "lapack/solve/system.hpp"
#include "lapack/solve/vectors.hpp"
#include "product/device_memory.hpp"
#include "product/staging_memory.hpp"

namespace vernier::cuda {

// What refinement in device memory asks, whatever A is kept in.
class ResidentSystem : public LinearSystem {
 public:
  explicit ResidentSystem(cudaStream_t stream) : stream_(stream) {}
  // r = b - op(A) x of vectors in device memory. work: residual_work(n) doubles.
  virtual void queue_residual(const double* x, const double* b, double* r, double* work) const = 0;
  cudaStream_t stream() const { return stream_; }

 protected:
  cudaStream_t stream_;
};

// What else happens while the GPU reads A.
struct SystemReading {
  bool floats = false;                      // A is rounded to float
  std::function<void()> meanwhile = [] {};  // runs on the host
  std::optional<Uplo> filled_from = {};     // the triangle of A that the other was filled from
};

template <class T>
class DeviceSystem final : public ResidentSystem {
 public:
  // As measure_system: throws Error(invalid_argument) where an entry is not finite, and names its place.
  DeviceSystem(Op op, const DeviceMatrix<T>& a, const SystemReading& reading, cudaStream_t stream);

  void residuals(const Columns& columns, const double* x, const double* b, double* r) const override;
  void queue_residual(const double* x, const double* b, double* r, double* work) const override;
  void add_magnitudes(const double* x, double* y) const override;
  std::vector<double> largest_of_scaled_columns(const std::vector<int>& exponents) const override;

  std::pmr::memory_resource* memory() const override { return &staging_resource(); }

  // 2^rows[i] a_ij 2^columns[j], by factors in memory that lasts until the system is asked for something else.
  ScaledMatrix<T> scaled(const std::vector<int>& row_exponents, const std::vector<int>& column_exponents) const;

  // A rounded to float while it was read; null if nobody asked.
  std::unique_ptr<DeviceLu<float>> floats;

  DeviceMatrix<T> matrix() const { return {a_, n, lda_}; }

 private:
  void take_figures(const std::function<void()>& meanwhile);
  void refuse_nonfinite(const double* column_sums) const;
  double* vectors(std::int64_t count) const;  // device memory for so many vectors

  std::optional<Uplo> filled_from_;
  const T* a_;  // the caller's, or in copy_
  std::int64_t lda_;
  std::unique_ptr<DeviceWorkspace> copy_;
  mutable std::unique_ptr<DeviceWorkspace> vectors_;
};

}  // namespace vernier::cuda
