// Solves of many vectors with factors in device memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lapack/lu/lu.hpp"
#include "lapack/solve/vectors.hpp"
#include "lapack/triangle/triangles.hpp"

namespace vernier::cuda {

// All memory is taken by the constructor: nothing fails once B is written to.
template <class T>
class ColumnSolves {
 public:
  ColumnSolves(const DeviceLu<T>& factors, std::int64_t nrhs, cudaStream_t stream)
      : factors_(factors),
        nrhs_(nrhs),
        size_(std::min(nrhs, together) * factors.rows),
        stream_(stream),
        triangles_(factors.a, factors.rows, stream),
        memory_(static_cast<std::size_t>(3 * size_) * sizeof(double), stream) {}

  // B becomes X. solve(triangles, count, in, out, scratch) queues the solve of `count` vectors of double.
  template <class Solve>
  void run(T* B, std::int64_t ldb, Solve solve) const {
    auto* x = reinterpret_cast<double*>(memory_.data());
    for (std::int64_t c = 0; c < nrhs_; c += together) {
      const std::int64_t count = std::min(together, nrhs_ - c);
      widen_vectors(B + c * ldb, ldb, factors_.n, factors_.rows, count, x, stream_);
      solve(triangles_, count, x, x + size_, x + 2 * size_);
      narrow_vectors(x + size_, factors_.n, factors_.rows, count, B + c * ldb, ldb, stream_);
    }
  }

 private:
  static constexpr std::int64_t together = 64;
  const DeviceLu<T>& factors_;
  std::int64_t nrhs_, size_;
  cudaStream_t stream_;
  DeviceTriangles<T> triangles_;
  DeviceWorkspace memory_;
};

}  // namespace vernier::cuda
