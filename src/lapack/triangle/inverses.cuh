// Inverses of triangles of order 128 in shared memory: 32 x 32 by one warp each, then two and two of them together.
#pragma once

#include "cuda/ptx.cuh"
#include "lapack/triangle/pieces.cuh"

namespace vernier::cuda {

constexpr int inverse_pitch = triangle_block + 4;  // of rows, for reads of four neighbours
constexpr int inverse_step = 32;                   // of triangles that a warp inverts

// Rows and columns [first, first + 32) of a lower triangle in shared memory become its inverse, by one warp: a lane has
// a column.
template <class S>
__device__ __forceinline__ void invert_by_warp(S* x, int first, bool unit) {
  S* block = x + first * inverse_pitch + first;
  const int column = threadIdx.x % 32;
  S v[inverse_step];
#pragma unroll
  for (int r = 0; r < inverse_step; ++r) v[r] = r == column ? S(1) : S(0);
#pragma unroll
  for (int k = 0; k < inverse_step; ++k) {
    if (!unit) v[k] /= block[k * inverse_pitch + k];
#pragma unroll
    for (int r = k + 1; r < inverse_step; ++r) v[r] = fma(-block[r * inverse_pitch + k], v[k], v[r]);
  }
  __syncwarp();
#pragma unroll
  for (int r = 0; r < inverse_step; ++r) block[r * inverse_pitch + column] = v[r];
}

// c = +-a b, order x order, for all pairs of triangles beside each other; by all threads.
template <int Order, class S>
__device__ __forceinline__ void multiply_blocks(const S* a, const S* b, S* c, bool negative) {
  constexpr int pairs = triangle_block / (2 * Order), threads = solve_threads / pairs, count = Order * Order / threads;
  const int offset = static_cast<int>(threadIdx.x) / threads * 2 * Order * (inverse_pitch + 1);
  const int row = static_cast<int>(threadIdx.x) % threads / Order, column = threadIdx.x % Order;
  a += offset + row * inverse_pitch, b += offset + column, c += offset + row * inverse_pitch + column;
  constexpr int apart = threads / Order * inverse_pitch;  // rows of a thread
  S sums[count] = {};
  for (int k = 0; k < Order; k += 4) {
    S v[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) v[e] = b[(k + e) * inverse_pitch];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const auto u = *reinterpret_cast<const FactorQuad<S>*>(a + i * apart + k);
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i] = fma(u.x[e], v[e], sums[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < count; ++i) c[i * apart] = negative ? -sums[i] : sums[i];
  __syncthreads();
}

// From the inverses of two triangles on the diagonal that of both: below them, -X22 (A21 X11), by way of the place
// beside them, which holds zeros in the end.
template <int Order, class S>
__device__ __forceinline__ void join_inverses(S* x) {
  S *below = x + Order * inverse_pitch, *beside = x + Order;
  multiply_blocks<Order>(below, x, beside, false);
  multiply_blocks<Order>(below + Order, beside, below, true);
  for (int i = threadIdx.x; i < triangle_block / 2 * Order; i += solve_threads)
    beside[i / (Order * Order) * 2 * Order * (inverse_pitch + 1) + i / Order % Order * inverse_pitch + i % Order] = 0;
  __syncthreads();
}

}  // namespace vernier::cuda
