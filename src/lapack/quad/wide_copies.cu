#include "lapack/quad/wide_copies.hpp"

#include <algorithm>

#include "cuda/launch.hpp"
#include "engine/panel.hpp"
#include "residue/quad/dd_arithmetic.hpp"

namespace vernier::cuda {
namespace {

constexpr int copy_threads = 128, turned = 16;  // turned: rows and columns of a block's tile

constexpr int swap_threads = 128, most_swaps = 64;

struct RowSwaps {
  int count;
  std::int64_t first, row[most_swaps];
};

// A thread a column.
__global__ void __launch_bounds__(swap_threads)
    swap_wide_rows(ulonglong2* x, std::int64_t ld, std::int64_t columns, const __grid_constant__ RowSwaps swaps) {
  const std::int64_t l = static_cast<std::int64_t>(blockIdx.x) * swap_threads + threadIdx.x;
  if (l >= columns) return;
  ulonglong2* const column = x + l * ld;
  for (int s = 0; s < swaps.count; ++s) {
    ulonglong2 &a = column[swaps.first + s], &b = column[swaps.row[s]];
    const ulonglong2 kept = a;
    a = b, b = kept;
  }
}

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

dim3 grid_of(std::int64_t rows, std::int64_t columns, int of_a_block) {
  constexpr std::int64_t most = 65535;  // of a grid's second dimension
  return {static_cast<unsigned>(divide_up(rows, std::int64_t{of_a_block})),
          static_cast<unsigned>(std::min(columns, most))};
}

}  // namespace

void swap_rows_on_device(const WideColumns& m, std::int64_t first, std::int64_t last, const std::int64_t* pivots,
                         cudaStream_t stream) {
  if (m.columns == 0) return;
  const auto blocks = static_cast<unsigned>((m.columns + swap_threads - 1) / swap_threads);
  for (std::int64_t begin = first; begin < last; begin += most_swaps) {
    RowSwaps swaps{static_cast<int>(std::min<std::int64_t>(most_swaps, last - begin)), begin, {}};
    for (int s = 0; s < swaps.count; ++s) swaps.row[s] = pivots[begin + s] - 1;
    launch("swap_wide_rows", swap_wide_rows, {.grid = dim3(blocks), .block = dim3(swap_threads)}, stream,
           static_cast<ulonglong2*>(m.x), m.ld, m.columns, swaps);
  }
}

void normalise_dd_on_device(std::int64_t rows, const WideColumns& m, std::int64_t slope, cudaStream_t stream) {
  if (rows == 0 || m.columns == 0) return;
  launch("normalise_dd", normalise_dd, {.grid = grid_of(rows, m.columns, copy_threads), .block = dim3(copy_threads)},
         stream, rows, m, slope);
}

void transpose_wide_on_device(std::int64_t rows, const WideColumns& from, const WideColumns& to, bool lower,
                              cudaStream_t stream) {
  if (rows == 0 || from.columns == 0) return;
  launch("transpose_wide", transpose_wide,
         {.grid = grid_of(rows, divide_up(from.columns, std::int64_t{turned}), turned), .block = dim3(turned * turned)},
         stream, rows, from, to, lower);
}

void pack_dd_on_device(const ConstDdArrays& x, const ArraysShape& shape, dd* to, cudaStream_t stream) {
  launch("pack_dd", pack_dd, {.grid = grid_of(shape.rows, shape.columns, copy_threads), .block = dim3(copy_threads)},
         stream, x, shape, to);
}

void unpack_dd_on_device(const dd* from, const ArraysShape& shape, const DdArrays& x, cudaStream_t stream) {
  launch("unpack_dd", unpack_dd,
         {.grid = grid_of(shape.rows, shape.columns, copy_threads), .block = dim3(copy_threads)}, stream, from, shape,
         x);
}

}  // namespace vernier::cuda
