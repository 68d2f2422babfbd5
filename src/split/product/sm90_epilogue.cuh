// From a tile of scaled sums in registers to C: unscaling, alpha, beta, and the entries that scaled parts cannot hold.
#pragma once

#include <type_traits>

#include "cuda/ptx.cuh"
#include "number/power_of_two.hpp"
#include "product/operand.hpp"
#include "split/product/sm90_split.hpp"

namespace vernier::cuda {

struct Scalars {
  float alpha, beta;

  // The canonical end of a product: RN(alpha T + RN(beta C)); where alpha is 0, T is not looked at, and zeros keep
  // their signs.
  __device__ float operator()(float t, float old) const {
    if (alpha == 0) return beta == 0 ? 0 : beta == 1 ? old : beta * old;
    return beta == 0 ? alpha * t : __fmaf_rn(alpha, t, beta * old);
  }
};

__device__ __forceinline__ Scalars scalars_of(const SplitArguments& g) {
  return {g.alpha.pointer != nullptr ? *g.alpha.pointer : g.alpha.value,
          g.beta.pointer != nullptr ? *g.beta.pointer : g.beta.value};
}

__device__ __forceinline__ int unscale_of(const std::int32_t* unscale, int v, int count) {
  return v < count ? unscale[v] : 0;
}

// Entries of excluded vectors among 16 columns and `tile_rows` rows of C, by one warp: a sum in double, so that nothing
// overflows or underflows on the way. place.entry(row, column): where an entry of C lies.
template <class Place>
__device__ __noinline__ void conventional_entries(const SplitArguments& g, const Scalars& scalars, int product,
                                                  int column, int row, int tile_rows, const Place& place) {
  const int lane = threadIdx.x % 32;
  const int columns = static_cast<int>(g.b.count), rows = static_cast<int>(g.a.count);
  const std::int32_t* unscale_p = g.b_plane.unscale + static_cast<std::int64_t>(product) * columns;
  const std::int32_t* unscale_q = g.a_plane.unscale + static_cast<std::int64_t>(product) * rows;
  for (int j = column; j < min(column + 16, columns); ++j) {
    const bool column_excluded = unscale_of(unscale_p, j, columns) == excluded_vector;
    for (int i = row; i < min(row + tile_rows, rows); ++i) {
      if (!column_excluded && unscale_of(unscale_q, i, rows) != excluded_vector) continue;
      const float* a = g.a.data + product * g.a.product_stride + i * g.a.vector_stride;
      const float* b = g.b.data + product * g.b.product_stride + j * g.b.vector_stride;
      double sum = 0;
      if (scalars.alpha != 0)
        for (std::int64_t l = lane; l < g.a.k; l += 32)
          sum += static_cast<double>(a[l * g.a.k_stride]) * static_cast<double>(b[l * g.b.k_stride]);
      for (int offset = 16; offset != 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
      float* c = place.entry(i, j);
      if (lane == 0) *c = scalars(static_cast<float>(sum), scalars.beta == 0 ? 0 : *c);
    }
  }
}

// What a warpgroup has to undo, in shared memory: on its way while the tile is multiplied (from memory at the end: 5300
// cycles a tile between the last product and the next).
template <int Rows>
struct TileExponents {
  std::int32_t of[64 + Rows];  // columns, then rows

  __device__ const std::int32_t* column(int i) const { return of + i; }
  __device__ const std::int32_t* row(int i) const { return of + 64 + i; }

  __device__ __forceinline__ void fetch(const SplitArguments& g, int product, int first_column, int first_row) {
    const int columns = static_cast<int>(g.b.count), rows = static_cast<int>(g.a.count);
    for (int i = threadIdx.x % 128; i < 64 + Rows; i += 128) {
      const bool of_column = i < 64;
      const int v = of_column ? first_column + i : first_row + i - 64;
      const bool exists = v < (of_column ? columns : rows);
      const std::int32_t* from = of_column ? g.b_plane.unscale + static_cast<std::int64_t>(product) * columns
                                           : g.a_plane.unscale + static_cast<std::int64_t>(product) * rows;
      cuda::copy_word_async(cuda::shared_address(of + i), exists ? from + v : from, exists);
    }
  }
};

// t: a thread's accumulators. Element 4 i + 2 h + s belongs to column `column` + 8 h and row `row` + 8 i + s of C.
// Exponents: from that column and row on.
template <int Rows>
__device__ __forceinline__ void store_tile(const SplitArguments& g, const Scalars& scalars, float (&t)[Rows / 2],
                                           int product, int column, int row, const std::int32_t* column_exponents,
                                           const std::int32_t* row_exponents) {
  const int columns = static_cast<int>(g.b.count), rows = static_cast<int>(g.a.count);
  const int up[2] = {column_exponents[0], column_exponents[8]};
  int uq[Rows / 8][2], least = 0, most = 0;
#pragma unroll
  for (int i = 0; i < Rows / 8; ++i) {
    const int2 pair = *reinterpret_cast<const int2*>(row_exponents + 8 * i);
    uq[i][0] = pair.x, uq[i][1] = pair.y;
    least = min(least, min(pair.x, pair.y)), most = max(most, max(pair.x, pair.y));
  }
  // Most tiles: every factor is a normal float, every row exists, pairs may be stored at once.
  const bool ordinary =
      least + min(up[0], up[1]) >= -126 && most + max(up[0], up[1]) <= 127 && g.pairs_aligned && row + Rows - 6 <= rows;
  const auto store = [&](auto kind, auto fresh) {
    constexpr bool is_ordinary = decltype(kind)::value, is_fresh = decltype(fresh)::value;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (column + 8 * h >= columns) continue;
      float* c = g.c + product * g.product_stride_c + row + (column + 8 * h) * g.ldc;
      constexpr int chunk = 4;  // so many old values fit beside the sums
#pragma unroll
      for (int i0 = 0; i0 < Rows / 8; i0 += chunk) {
        float old[chunk][2] = {};
        if (!is_fresh && scalars.beta != 0)
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
            const float entry = is_ordinary ? scaled * float_power_of_two(e) : unscale(scaled, e);
            value[s] = is_fresh ? scalars.alpha * entry : scalars(entry, old[i - i0][s]);
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
  // Tiles of up to 128 rows have code of their own for a new C: half the time at the end of a tile of 64.
  if (Rows <= 128 && ordinary && scalars.beta == 0 && scalars.alpha != 0)
    store(std::true_type{}, std::true_type{});
  else if (ordinary)
    store(std::true_type{}, std::false_type{});
  else
    store(std::false_type{}, std::false_type{});
  if (__any_sync(~0u, most + max(up[0], up[1]) >= excluded_vector / 2))
    conventional_entries(g, scalars, product, column - threadIdx.x % 32 / 4, row - threadIdx.x % 4 * 2, Rows,
                         Output<float>{.c = g.c + product * g.product_stride_c, .ldc = g.ldc});
}

}  // namespace vernier::cuda
