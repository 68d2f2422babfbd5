// Between the column-major matrices of callers and the row-major ones of the factorisation.
#include <algorithm>

#include "base/instantiate.hpp"
#include "cuda/launch.hpp"
#include "cuda/turn.cuh"
#include "lapack/lu/lu.hpp"
#include "lapack/solve/vectors.hpp"

namespace vernier::cuda {
namespace {

// Row by row.
template <class T>
struct Turned {
  T* data;
  std::int64_t ld, rows, columns;
};

// to(i, j) = from(j, i) where that exists, else 1 on the diagonal if `unit`, else 0.
template <class T>
__global__ void turn_kernel(Turned<const T> from, Turned<T> to, bool unit) {
  move_tile_of_block<T>(
      true,
      [&](std::int64_t i, std::int64_t j) {
        return i < from.rows && j < from.columns ? from.data[i * from.ld + j] : unit && i == j ? T(1) : T(0);
      },
      [&](std::int64_t i, std::int64_t j, T x) {
        if (i < to.rows && j < to.columns) to.data[i * to.ld + j] = x;
      });
}

template <class T>
void turn(const Turned<const T>& from, const Turned<T>& to, bool unit, cudaStream_t stream) {
  launch("turn_kernel", turn_kernel<T>, {.grid = turned_tiles(to.rows, to.columns), .block = turning_threads()}, stream,
         from, to, unit);
}

__global__ void widen_pivots(const int* from, std::int64_t* to, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i];
}

template <class From, class To>
__global__ void copy_vectors(const From* from, std::int64_t from_ld, To* to, std::int64_t to_ld, std::int64_t n,
                             std::int64_t padded) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < padded) to[blockIdx.y * to_ld + i] = i < n ? static_cast<To>(from[blockIdx.y * from_ld + i]) : To(0);
}

template <class From, class To>
void copy(const From* from, std::int64_t from_ld, To* to, std::int64_t to_ld, std::int64_t n, std::int64_t padded,
          std::int64_t count, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((padded + 255) / 256), static_cast<unsigned>(count));
  launch("copy_vectors", copy_vectors<From, To>, {.grid = grid, .block = 256}, stream, from, from_ld, to, to_ld, n,
         padded);
}

}  // namespace

template <class T>
void widen_vectors(const T* from, std::int64_t ld, std::int64_t n, std::int64_t padded, std::int64_t count, double* to,
                   cudaStream_t stream) {
  copy(from, ld, to, padded, n, padded, count, stream);
}

template <class T>
void narrow_vectors(const double* from, std::int64_t n, std::int64_t padded, std::int64_t count, T* to, std::int64_t ld,
                    cudaStream_t stream) {
  copy(from, padded, to, ld, n, n, count, stream);
}

template <class T>
void load_columns(DeviceLu<T>& lu, const T* A, std::int64_t lda, cudaStream_t stream) {
  turn<T>({A, lda, lu.n, lu.m}, {lu.a.data, lu.a.ld, lu.rows, lu.columns}, lu.m == lu.n, stream);
}

template <class T>
void store_columns(const DeviceLu<T>& lu, T* A, std::int64_t lda, cudaStream_t stream) {
  turn<T>({lu.a.data, lu.a.ld, lu.rows, lu.columns}, {A, lda, lu.n, lu.m}, false, stream);
}

template <class T>
void store_pivots(const DeviceLu<T>& lu, std::int64_t* pivots, cudaStream_t stream) {
  const std::int64_t count = std::min(lu.m, lu.n);
  launch("widen_pivots", widen_pivots, {.grid = static_cast<unsigned>((count + 255) / 256), .block = 256}, stream,
         lu.pivots, pivots, count);
}

VERNIER_REAL_INSTANCES(widen_vectors, narrow_vectors, load_columns, store_columns, store_pivots)

}  // namespace vernier::cuda
