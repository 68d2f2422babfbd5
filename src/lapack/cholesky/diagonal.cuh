// Cholesky of a block on the diagonal, by one block of threads that holds it in registers.
//
// Thread (y, x) holds rows y, y + 16, ... and columns x, x + 32, ... of the block. Per column: its row, unscaled, goes
// through shared memory; then everybody updates. One barrier a column; whole rows are scaled at the end.
#pragma once

#include <limits>

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "lapack/lu/panel.hpp"

namespace vernier::cuda {

constexpr int diagonal_order = 128, diagonal_threads = 512;

template <class T>
struct DiagonalTask {
  RowMajor<T> a;
  int first = 0;        // rows and columns [first, first + 128)
  int order = 0;        // of the matrix: what lies beyond is padding
  int* info = nullptr;  // the least column, counted from 1, whose pivot is not positive
};

// Leaves U in the upper triangle, and below it U^T with columns divided by its diagonal: the unit lower triangle of
// A = L D U.
template <class T>
__global__ void __launch_bounds__(diagonal_threads, 1) diagonal_kernel(const __grid_constant__ DiagonalTask<T> t) {
  constexpr int n = diagonal_order, down = 16, across = 32, rows = n / down, columns = n / across;
  __shared__ T pivot_row[2][n], pivots[n];
  const int y = threadIdx.x / across, x = threadIdx.x % across;
  wait_for_previous_kernels();
  allow_next_kernel();
  T a[rows][columns];
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int c = 0; c < columns; ++c) a[r][c] = *t.a.at(t.first + r * down + y, t.first + c * across + x);
#pragma unroll
  for (int r = 0; r < rows; ++r)  // the row at work is y = i of these: registers cannot be indexed
#pragma unroll 1
    for (int i = 0; i < down; ++i) {
      const int j = r * down + i;
      T* row = pivot_row[j % 2];
      if (y == i)
#pragma unroll
        for (int c = 0; c < columns; ++c) row[c * across + x] = a[r][c];
      __syncthreads();
      const T pivot = row[j];
      const bool positive = pivot > 0;  // not NaN
      if (threadIdx.x == 0) {
        pivots[j] = positive ? pivot : T(1);
        if (!positive && t.first + j < t.order) atomicMin(t.info, t.first + j + 1);
      }
      // Of a pivot near the bottom of the range the reciprocal overflows, and 0 times that is no number.
      const T inverse = positive ? T(1) / pivot : T(0);
      constexpr T largest = std::numeric_limits<T>::max();
      const bool finite = inverse <= largest;
#pragma unroll
      for (int q = r; q < rows; ++q) {
        const int my_row = q * down + y;
        if (my_row <= j) continue;  // finished, whatever lies in its other columns; the same for all of a warp
        const T factor = finite ? row[my_row] * inverse : row[my_row] / pivot;
#pragma unroll
        for (int c = 0; c < columns; ++c) a[q][c] = fma(-factor, row[c * across + x], a[q][c]);
      }
    }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int my_row = r * down + y;
    const T pivot = pivots[my_row], root = sqrt(pivot);
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const int column = c * across + x;
      if (column < my_row) continue;
      *t.a.at(t.first + my_row, t.first + column) = column == my_row ? root : a[r][c] / root;
      if (column > my_row) *t.a.at(t.first + column, t.first + my_row) = a[r][c] / pivot;
    }
  }
}

template <class T>
void factor_diagonal(const DiagonalTask<T>& task, cudaStream_t stream) {
  launch("diagonal_kernel", diagonal_kernel<T>, {.grid = 1, .block = diagonal_threads, .overlap_previous = true},
         stream, task);
}

}  // namespace vernier::cuda
