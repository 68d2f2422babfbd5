// Pieces of a triangular matrix times vectors: 128 x 128 numbers in the registers of 512 threads.
#pragma once

#if defined(__CUDACC__)  // tests compile for the host
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <cstdint>

#include "cuda/ptx.cuh"
#include "lapack/lu/panel.hpp"
#include "lapack/triangle/triangles.hpp"

namespace vernier::cuda {

constexpr int solve_threads = 512, solve_warps = 16, warp_rows = triangle_block / solve_warps;

template <class T>
struct alignas(sizeof(T) < 4 ? 8 : 16) FactorQuad {
  T x[4];
};

// What factors are kept in, as numbers to compute with.
#if defined(__CUDACC__)
__device__ __forceinline__ float to_number(__half x) { return __half2float(x); }
__device__ __forceinline__ float to_number(__nv_bfloat16 x) { return __bfloat162float(x); }
#endif
__device__ __forceinline__ float to_number(float x) { return x; }
__device__ __forceinline__ double to_number(double x) { return x; }

// Lane 4 r + ... gets the sum over all lanes of v[r]: lanes with the bit keep the upper half of what is left.
template <int Half>
__device__ __forceinline__ double sum_of_each(double (&v)[warp_rows]) {
  constexpr int bit = 4 * Half;
  const bool upper = (threadIdx.x & bit) != 0;
#pragma unroll
  for (int i = 0; i < Half; ++i) {
    const double keep = upper ? v[i + Half] : v[i], give = upper ? v[i] : v[i + Half];
    v[i] = keep + __shfl_xor_sync(~0u, give, bit);
  }
  if constexpr (Half > 1) {
    return sum_of_each<Half / 2>(v);
  } else {
    const double pair = v[0] + __shfl_xor_sync(~0u, v[0], 1);
    return pair + __shfl_xor_sync(~0u, pair, 2);
  }
}

// 8 rows of a warp, 4 columns of a lane, as they lie in memory.
template <class T>
struct Piece {
  FactorQuad<T> rows[warp_rows];

  __device__ __forceinline__ void load(const T* block, std::int64_t ld) {
    const T* from = block + threadIdx.x / 32 * warp_rows * ld + threadIdx.x % 32 * 4;
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) rows[r] = *reinterpret_cast<const FactorQuad<T>*>(from + r * ld);
  }
  template <class S>
  __device__ __forceinline__ void take(const Piece<S>& other) {
#pragma unroll
    for (int r = 0; r < warp_rows; ++r)
#pragma unroll
      for (int e = 0; e < 4; ++e) rows[r].x[e] = other.at(r, e);
  }
  __device__ __forceinline__ auto at(int r, int e) const { return to_number(rows[r].x[e]); }
};

// Row by row. x: 128 unknowns in shared memory.
struct ByRows {
  double sums[warp_rows] = {};

  // The row whose sum this thread will have, or none.
  __device__ static int mine() {
    const int lane = threadIdx.x % 32;
    return lane % 4 == 0 ? static_cast<int>(threadIdx.x) / 32 * warp_rows + lane / 4 : -1;
  }
  __device__ static void get(const double* x, double (&v)[4]) {
    const int k = static_cast<int>(threadIdx.x % 32) * 4;
    const double2 low = *reinterpret_cast<const double2*>(x + k), high = *reinterpret_cast<const double2*>(x + k + 2);
    v[0] = low.x, v[1] = low.y, v[2] = high.x, v[3] = high.y;
  }
  __device__ __forceinline__ void multiply(const Piece<double>& m, const double* x) {
    double v[4];
    get(x, v);
#pragma unroll
    for (int r = 0; r < warp_rows; ++r)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[r] = fma(m.at(r, e), v[e], sums[r]);
  }
  // Of all that was multiplied; the next begins.
  __device__ __forceinline__ double finish(double (*)[triangle_block]) {
    const double sum = sum_of_each<warp_rows / 2>(sums);
#pragma unroll
    for (double& s : sums) s = 0;
    return sum;
  }
};

// The transposed block: sums over its rows.
struct ByColumns {
  double sums[4] = {};

  __device__ static int mine() { return threadIdx.x < triangle_block ? static_cast<int>(threadIdx.x) : -1; }
  __device__ static const double* rows_of_warp(const double* x) {
    return x + static_cast<int>(threadIdx.x) / 32 * warp_rows;
  }
  __device__ __forceinline__ void multiply(const Piece<double>& m, const double* x) {
    const double* v = rows_of_warp(x);
#pragma unroll
    for (int r = 0; r < warp_rows; ++r)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[e] = fma(m.at(r, e), v[r], sums[e]);
  }
  __device__ __forceinline__ double finish(double (*parts)[triangle_block]) {
#pragma unroll
    for (int e = 0; e < 4; ++e) parts[threadIdx.x / 32][threadIdx.x % 32 * 4 + e] = sums[e], sums[e] = 0;
    __syncthreads();
    double all = 0;
    if (threadIdx.x < triangle_block)
#pragma unroll
      for (int w = 0; w < solve_warps; ++w) all += parts[w][threadIdx.x];
    return all;
  }
};

}  // namespace vernier::cuda
