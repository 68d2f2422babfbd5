// How a block of threads leaves numbers to products of split parts.
#pragma once

#include "lapack/lu/block.hpp"
#include "split/convert/emit.cuh"

namespace vernier::cuda {

constexpr int block_threads = 256;
constexpr int rows_of_split = 64;  // of a block of threads

template <class T>
struct alignas(16) Quad {
  T x[4];
};

template <class T>
__device__ __forceinline__ Quad<T>& quad(T* p) {
  return *reinterpret_cast<Quad<T>*>(p);
}
template <class T>
__device__ __forceinline__ const Quad<T>& quad(const T* p) {
  return *reinterpret_cast<const Quad<T>*>(p);
}

// Columns of a solved tile into a plane: a lane has a column, a warp (or half of one) the same k of all.
template <int Columns>
__device__ __forceinline__ void split_tile(const float* x, const SplitPlane& plane, std::int64_t first,
                                           std::int64_t count) {
  constexpr SplitForm form = SplitForm::half_shifted;
  constexpr int held = largest_block * Columns / block_threads, run = emit_k<form>;
  __shared__ std::uint32_t largest[Columns];
  const int column = threadIdx.x % Columns, k0 = threadIdx.x / Columns * held;
  if (threadIdx.x < Columns) largest[threadIdx.x] = 0;
  float v[held / run][run], seen = 0;
#pragma unroll
  for (int i = 0; i < held; ++i) {
    v[i / run][i % run] = x[(k0 + i) * Columns + column];
    seen = larger_magnitude(seen, v[i / run][i % run]);
  }
  __syncthreads();
  atomicMax(&largest[column], float_word(seen));
  __syncthreads();
  const std::int64_t vector = first + column;
  const bool exists = vector < count;
  with_scale(split_scale(largest[column]), [&](auto scaled) {
    std::byte* to = plane.lines + vector * plane.line_count * split_line_bytes;
#pragma unroll
    for (int r = 0; r < held / run; ++r) {
#pragma unroll
      for (float& e : v[r]) e = scaled(e);
      if (exists) emit<form>(v[r], to + place_in_lines<form>(k0 + r * run));
    }
  });
  if (threadIdx.x < Columns && exists) plane.unscale[vector] = unscaling(largest[column]);
}

// Rows of L into their plane, one a warp: a lane has emit_k of their 256 elements.
__device__ __forceinline__ void split_rows(const RowMajor<float>& a, int column, const ColumnRange& rows, int number,
                                           const SplitPlane& plane) {
  constexpr SplitForm form = SplitForm::half_shifted;
  constexpr int run = emit_k<form>, warps = block_threads / 32;
  static_assert(run * 32 == largest_block);
  const int lane = threadIdx.x % 32;
  float v[rows_of_split / warps][run];
#pragma unroll
  for (int r = 0; r < rows_of_split / warps; ++r) {
    const std::int64_t row = rows.begin + number * rows_of_split + r * warps + threadIdx.x / 32;
#pragma unroll
    for (int e = 0; e < run; e += 4) {
      const Quad<float> x = row < rows.end ? quad(a.at(row, column + lane * run + e)) : Quad<float>{};
#pragma unroll
      for (int j = 0; j < 4; ++j) v[r][e + j] = x.x[j];
    }
  }
#pragma unroll
  for (int r = 0; r < rows_of_split / warps; ++r) {
    const std::int64_t vector = number * rows_of_split + r * warps + threadIdx.x / 32;
    float seen = 0;
#pragma unroll
    for (float x : v[r]) seen = larger_magnitude(seen, x);
    const std::uint32_t largest = __reduce_max_sync(~0u, float_word(seen));
    with_scale(split_scale(largest), [&](auto scaled) {
#pragma unroll
      for (float& x : v[r]) x = scaled(x);
    });
    if (rows.begin + vector >= rows.end) continue;
    emit<form>(v[r], plane.lines + vector * plane.line_count * split_line_bytes + place_in_lines<form>(lane * run));
    if (lane == 0) plane.unscale[vector] = unscaling(largest);
  }
}

}  // namespace vernier::cuda
