// The kernels of wide_copies.hpp: a thread an element.
#pragma once

#include "cuda/launch.hpp"
#include "lapack/quad/wide_copies.hpp"
#include "residue/quad/dd_arithmetic.hpp"

namespace vernier::cuda {

inline constexpr int copy_threads = 128, turned = 16;  // turned: rows and columns of a block's tile

// blockIdx.y and those behind it, gridDim.y apart: columns.
template <class Use>
__device__ __forceinline__ void over_elements(std::int64_t rows, std::int64_t columns, const Use& use) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * copy_threads + threadIdx.x;
  if (i >= rows) return;
  for (std::int64_t j = blockIdx.y; j < columns; j += gridDim.y) use(i, j);
}

__global__ void __launch_bounds__(copy_threads)
    normalise_dd(std::int64_t rows, const __grid_constant__ WideColumns m, std::int64_t slope) {
  over_elements(rows, m.columns, [&](std::int64_t i, std::int64_t j) {
    dd& x = static_cast<dd*>(m.x)[i + j * m.ld];
    if (i >= slope * j) x = normalised(x);
  });
}

__global__ void __launch_bounds__(copy_threads)
    pack_dd(const __grid_constant__ ConstDdArrays x, const __grid_constant__ ArraysShape shape, dd* to) {
  over_elements(shape.rows, shape.columns, [&](std::int64_t i, std::int64_t j) {
    if (i >= shape.first_row(j) && i < shape.end_row(j))
      to[i + j * shape.rows] = {x.hi[i + j * shape.ld], x.lo[i + j * shape.ld]};
  });
}

__global__ void __launch_bounds__(copy_threads)
    unpack_dd(const dd* from, const __grid_constant__ ArraysShape shape, const __grid_constant__ DdArrays x) {
  over_elements(shape.rows, shape.columns, [&](std::int64_t i, std::int64_t j) {
    if (i < shape.first_row(j) || i >= shape.end_row(j)) return;
    const dd e = from[i + j * shape.rows];
    x.hi[i + j * shape.ld] = e.hi, x.lo[i + j * shape.ld] = e.lo;
  });
}

// Tiles of turned x turned, through shared memory.
__global__ void __launch_bounds__(turned* turned)
    transpose_wide(std::int64_t rows, const __grid_constant__ WideColumns from, const __grid_constant__ WideColumns to,
                   bool lower) {
  __shared__ ulonglong2 tile[turned][turned + 1];
  const int x = static_cast<int>(threadIdx.x) % turned, y = static_cast<int>(threadIdx.x) / turned;
  const std::int64_t i0 = static_cast<std::int64_t>(blockIdx.x) * turned;
  for (std::int64_t j0 = static_cast<std::int64_t>(blockIdx.y) * turned; j0 < from.columns;
       j0 += static_cast<std::int64_t>(gridDim.y) * turned) {
    __syncthreads();
    if (i0 + x < rows && j0 + y < from.columns)
      tile[y][x] = static_cast<const ulonglong2*>(from.x)[i0 + x + (j0 + y) * from.ld];
    __syncthreads();
    const std::int64_t i = i0 + y, j = j0 + x;
    if (i < rows && j < from.columns && (!lower || i >= j)) static_cast<ulonglong2*>(to.x)[j + i * to.ld] = tile[x][y];
  }
}

}  // namespace vernier::cuda
