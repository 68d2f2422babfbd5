// Solves with triangular factors in device memory, for vectors of double.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include "lapack/lu/panel.hpp"
#include "product/device_memory.hpp"
#include "vernier/vernier.hpp"

namespace vernier::cuda {

inline constexpr int triangle_block = 128;  // on the diagonals

// What inverses of diagonal blocks are kept in: numbers of T, but at least floats.
template <class T>
using InverseOf = std::conditional_t<(sizeof(T) < sizeof(float)), float, T>;

// The unit lower triangle L and the upper triangle U of an order x order matrix, order a multiple of triangle_block.
template <class T>
class DeviceTriangles {
 public:
  // Inverts the blocks on the diagonals, queued on the stream.
  DeviceTriangles(const RowMajor<T>& a, std::int64_t order, cudaStream_t stream);

  // For `count` vectors that lie `order` apart: op(L) (op(U) if upper) out = in; `in` is left as it is. Queued on the
  // stream of the constructor.
  void solve(bool upper, Op op, std::int64_t count, const double* in, double* out) const;

 private:
  InverseOf<T>* inverses(bool upper) const;

  RowMajor<T> a_;
  std::int64_t order_;
  cudaStream_t stream_;
  DeviceWorkspace memory_;  // inverses of L's blocks, of U's; a ticket
};

}  // namespace vernier::cuda
