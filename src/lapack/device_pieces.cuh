// Pieces of a triangular matrix times vectors: 128 x 128 numbers in the registers of 512 threads.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "lapack/device_triangles.hpp"

namespace vernier {

constexpr int solve_threads = 512, solve_warps = 16, warp_rows = triangle_block / solve_warps;

template <class T>
struct alignas(sizeof(T) < 4 ? 8 : 16) FactorQuad {
  T x[4];
};

// What factors are kept in, as numbers to compute with.
__device__ __forceinline__ float to_number(__half x) { return __half2float(x); }
__device__ __forceinline__ float to_number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float to_number(float x) { return x; }
__device__ __forceinline__ double to_number(double x) { return x; }

// Lane 4 r + ... gets the sum over all lanes of v[r]: lanes with the bit keep the upper half of what is left.
template <int Half, class S>
__device__ __forceinline__ S sum_of_each(S (&v)[warp_rows]) {
  constexpr int bit = 4 * Half;
  const bool upper = (threadIdx.x & bit) != 0;
#pragma unroll
  for (int i = 0; i < Half; ++i) {
    const S keep = upper ? v[i + Half] : v[i], give = upper ? v[i] : v[i + Half];
    v[i] = keep + __shfl_xor_sync(~0u, give, bit);
  }
  if constexpr (Half > 1) {
    return sum_of_each<Half / 2>(v);
  } else {
    const S pair = v[0] + __shfl_xor_sync(~0u, v[0], 1);
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

// A power of two that brings the largest of the warp's magnitudes to [1, 2), or 1; and the one back.
struct FloatScale {
  double down = 1, up = 1;

  __device__ __forceinline__ explicit FloatScale(std::uint32_t high_words) {
    const std::uint32_t exponent = __reduce_max_sync(~0u, high_words & 0x7ff00000u);
    if (exponent == 0 || exponent >= 0x7fe00000u) return;
    down = __hiloint2double(static_cast<int>(0x7fe00000u - exponent), 0);
    up = __hiloint2double(static_cast<int>(exponent), 0);
  }
};
__device__ __forceinline__ std::uint32_t magnitude_word(double x) {
  return static_cast<std::uint32_t>(__double2hiint(x)) & 0x7fffffffu;
}

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
  __device__ __forceinline__ double sum(double (*)[triangle_block]) { return sum_of_each<warp_rows / 2>(sums); }

  // m x.
  __device__ __forceinline__ double product(const Piece<double>& m, const double* x, double (*parts)[triangle_block]) {
#pragma unroll
    for (double& s : sums) s = 0;
    multiply(m, x);
    return sum(parts);
  }
  __device__ __forceinline__ double product(const Piece<float>& m, const double* x, double (*)[triangle_block]) {
    double v[4];
    get(x, v);
    const FloatScale scale(
        max(max(magnitude_word(v[0]), magnitude_word(v[1])), max(magnitude_word(v[2]), magnitude_word(v[3]))));
    float f[4], s[warp_rows] = {};
#pragma unroll
    for (int e = 0; e < 4; ++e) f[e] = static_cast<float>(v[e] * scale.down);
#pragma unroll
    for (int r = 0; r < warp_rows; ++r)
#pragma unroll
      for (int e = 0; e < 4; ++e) s[r] = fmaf(m.at(r, e), f[e], s[r]);
    return static_cast<double>(sum_of_each<warp_rows / 2>(s)) * scale.up;
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
  __device__ __forceinline__ double sum(double (*parts)[triangle_block]) {
#pragma unroll
    for (int e = 0; e < 4; ++e) parts[threadIdx.x / 32][threadIdx.x % 32 * 4 + e] = sums[e];
    __syncthreads();
    double all = 0;
    if (threadIdx.x < triangle_block)
#pragma unroll
      for (int w = 0; w < solve_warps; ++w) all += parts[w][threadIdx.x];
    return all;
  }
  __device__ __forceinline__ double product(const Piece<double>& m, const double* x, double (*parts)[triangle_block]) {
#pragma unroll
    for (double& s : sums) s = 0;
    multiply(m, x);
    return sum(parts);
  }
  __device__ __forceinline__ double product(const Piece<float>& m, const double* x, double (*parts)[triangle_block]) {
    const double* v = rows_of_warp(x);
    const FloatScale scale(magnitude_word(v[threadIdx.x % warp_rows]));
    float s[4] = {};
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) {
      const auto f = static_cast<float>(v[r] * scale.down);
#pragma unroll
      for (int e = 0; e < 4; ++e) s[e] = fmaf(m.at(r, e), f, s[e]);
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) sums[e] = static_cast<double>(s[e]) * scale.up;
    return sum(parts);
  }
};

}  // namespace vernier
