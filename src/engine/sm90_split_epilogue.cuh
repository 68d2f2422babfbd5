// From a tile of scaled sums in registers to C: unscaling, alpha, beta, and the entries that scaled parts cannot hold.
#pragma once

#include <type_traits>

#include "cuda/ptx.cuh"
#include "engine/sm90_split.hpp"
#include "number/power_of_two.hpp"

namespace vernier::sm90 {

// What the kernel is given; P stands for the columns of op(B), wgmma's first operand, Q for the rows of op(A).
struct SplitArguments {
  FloatVectors p, q;
  const std::int32_t *unscale_p, *unscale_q;
  const std::uint32_t *status_p, *status_q;
  SplitScalar alpha, beta;
  float* c;
  std::int64_t ldc;
  int lines;  // of 128 bytes along k, even
  int group;  // P tiles that run side by side, for the second-level cache
  bool pairs_aligned;
  SplitGate gate;
  bool beside_previous;
  bool triangle;
};

struct Scalars {
  float alpha, beta;

  // The canonical end of a product: RN(alpha T + RN(beta C)); T = 0 where alpha is.
  __device__ float operator()(float t, float old) const {
    if (alpha == 0) t = 0;
    return beta == 0 ? alpha * t : __fmaf_rn(alpha, t, beta * old);
  }
};

__device__ __forceinline__ int unscale_of(const std::int32_t* unscale, int v, int count) {
  return v < count ? unscale[v] : 0;
}

// Where an entry of C lies.
struct InMemory {
  float* c;
  std::int64_t ldc;

  __device__ float* operator()(int row, int column) const { return c + row + static_cast<std::int64_t>(column) * ldc; }
};

// Entries of excluded vectors among 16 columns and `tile_rows` rows of C, by one warp: a sum in double, so that nothing
// overflows or underflows on the way.
template <class Place>
__device__ __noinline__ void conventional_entries(const SplitArguments& g, const Scalars& scalars, int column, int row,
                                                  int tile_rows, const Place& place) {
  const int lane = threadIdx.x % 32;
  const int columns = static_cast<int>(g.p.count), rows = static_cast<int>(g.q.count);
  for (int j = column; j < min(column + 16, columns); ++j) {
    const bool column_excluded = unscale_of(g.unscale_p, j, columns) == excluded_vector;
    for (int i = row; i < min(row + tile_rows, rows); ++i) {
      if (!column_excluded && unscale_of(g.unscale_q, i, rows) != excluded_vector) continue;
      const float* a = g.q.data + i * g.q.vector_stride;
      const float* b = g.p.data + j * g.p.vector_stride;
      double sum = 0;
      if (scalars.alpha != 0)
        for (std::int64_t l = lane; l < g.q.k; l += 32)
          sum += static_cast<double>(a[l * g.q.k_stride]) * static_cast<double>(b[l * g.p.k_stride]);
      for (int offset = 16; offset != 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
      float* c = place(i, j);
      if (lane == 0) *c = scalars(static_cast<float>(sum), scalars.beta == 0 ? 0 : *c);
    }
  }
}

// t: a thread's accumulators. Element 4 i + 2 h + s belongs to column `column` + 8 h and row `row` + 8 i + s of C.
template <int Rows>
__device__ __forceinline__ void store_tile(const SplitArguments& g, const Scalars& scalars, float (&t)[Rows / 2],
                                           int column, int row) {
  const int columns = static_cast<int>(g.p.count), rows = static_cast<int>(g.q.count);
  // All exponents before the first store: a load behind a store to C would wait for it (12000 cycles a tile against
  // 4300).
  int up[2], uq[Rows / 8][2], least = 0, most = 0;
#pragma unroll
  for (int h = 0; h < 2; ++h) up[h] = unscale_of(g.unscale_p, column + 8 * h, columns);
#pragma unroll
  for (int i = 0; i < Rows / 8; ++i)
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      uq[i][s] = unscale_of(g.unscale_q, row + 8 * i + s, rows);
      least = min(least, uq[i][s]), most = max(most, uq[i][s]);
    }
  // Most tiles: every factor is a normal float, every row exists, pairs may be stored at once.
  const bool ordinary =
      least + min(up[0], up[1]) >= -126 && most + max(up[0], up[1]) <= 127 && g.pairs_aligned && row + Rows - 6 <= rows;
  const auto store = [&](auto kind) {
    constexpr bool is_ordinary = decltype(kind)::value;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (column + 8 * h >= columns) continue;
      float* c = g.c + row + static_cast<std::int64_t>(column + 8 * h) * g.ldc;
      constexpr int chunk = 4;  // so many old values fit beside the sums
#pragma unroll
      for (int i0 = 0; i0 < Rows / 8; i0 += chunk) {
        float old[chunk][2] = {};
        if (scalars.beta != 0)
#pragma unroll
          for (int i = 0; i < 2 * chunk; ++i)
            if (is_ordinary || row + 8 * (i0 + i / 2) + i % 2 < rows) old[i / 2][i % 2] = c[8 * (i0 + i / 2) + i % 2];
#pragma unroll
        for (int i = i0; i < i0 + chunk; ++i) {
          float value[2];
          bool write[2];
#pragma unroll
          for (int s = 0; s < 2; ++s) {
            const int e = up[h] + uq[i][s];
            const float scaled = t[4 * i + 2 * h + s];
            value[s] = scalars(is_ordinary ? scaled * power_of_two(e) : unscale(scaled, e), old[i - i0][s]);
            write[s] = is_ordinary || (row + 8 * i + s < rows && e < excluded_vector / 2);
          }
          if (is_ordinary) {
            *reinterpret_cast<float2*>(c + 8 * i) = {value[0], value[1]};
          } else {
            if (write[0]) c[8 * i] = value[0];
            if (write[1]) c[8 * i + 1] = value[1];
          }
        }
      }
    }
  };
  if (ordinary)
    store(std::true_type{});
  else
    store(std::false_type{});
  if (__any_sync(~0u, most + max(up[0], up[1]) >= excluded_vector / 2))
    conventional_entries(g, scalars, column - threadIdx.x % 32 / 4, row - threadIdx.x % 4 * 2, Rows,
                         InMemory{g.c, g.ldc});
}

}  // namespace vernier::sm90
