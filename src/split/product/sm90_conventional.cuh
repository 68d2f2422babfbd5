// The conventional product, each entry a chain of fused multiply-adds in the order of k: what the last attempt does
// with data that no split holds. A block of 384 threads takes tiles of 16 Side rows and 24 Side columns, Side x Side
// entries a thread.
#pragma once

#include "cuda/ptx.cuh"
#include "split/product/sm90_epilogue.cuh"

namespace vernier::cuda {

constexpr int conventional_threads = 384, conventional_k = 16, conventional_stages = 3;

template <int Side>
struct ConventionalTile {
  static constexpr int rows = 16 * Side, columns = 24 * Side;
  static constexpr int row_pitch = rows + 4, column_pitch = columns + 4;

  float q[conventional_stages][conventional_k * row_pitch], p[conventional_stages][conventional_k * column_pitch];
};

// Copies Count vectors by 16 k into shared memory, vectors side by side, zeros beyond the matrix.
template <int Count, int Pitch>
struct ConventionalSource {
  static constexpr int copies = (Count * conventional_k + conventional_threads - 1) / conventional_threads;

  const float* from;
  std::int64_t next, advance;  // from copy to copy, and from step to step
  int to, to_next, l, l_next, k_left;
  unsigned in_tile = 0, exists = 0;  // a bit for each copy

  __device__ __forceinline__ ConventionalSource(const FloatVectors& x, std::int64_t first)
      : advance(conventional_k * x.k_stride), k_left(static_cast<int>(x.k)) {
    const bool by_k = x.k_stride == 1;
    const int v = by_k ? threadIdx.x / conventional_k : threadIdx.x % Count;
    const int v_next = by_k ? conventional_threads / conventional_k : 0;
    l = by_k ? threadIdx.x % conventional_k : threadIdx.x / Count;
    l_next = by_k ? 0 : conventional_threads / Count;
    from = x.data + (first + v) * x.vector_stride + l * x.k_stride;
    next = v_next * x.vector_stride + l_next * x.k_stride;
    to = l * Pitch + v, to_next = l_next * Pitch + v_next;
#pragma unroll
    for (int i = 0; i < copies; ++i) {
      const bool inside = v + i * v_next < Count && l + i * l_next < conventional_k;
      in_tile |= static_cast<unsigned>(inside) << i;
      exists |= static_cast<unsigned>(inside && first + v + i * v_next < x.count) << i;
    }
  }

  __device__ __forceinline__ void fetch(float* tile, const float* somewhere) {
    const float* source = from;
#pragma unroll
    for (int i = 0; i < copies; ++i, source += next) {
      const bool valid = (exists >> i & 1) != 0 && l + i * l_next < k_left;
      if ((in_tile >> i & 1) != 0)
        cuda::copy_word_async(cuda::shared_address(tile + to + i * to_next), valid ? source : somewhere, valid);
    }
    from += advance;
    k_left -= conventional_k;
  }
};

template <int Side>
__device__ __forceinline__ void load_side(float (&to)[Side], const float* from, int far) {
#pragma unroll
  for (int half = 0; half < Side / 4; ++half) {
    const float4 v = *reinterpret_cast<const float4*>(from + half * far);
    to[4 * half] = v.x, to[4 * half + 1] = v.y, to[4 * half + 2] = v.z, to[4 * half + 3] = v.w;
  }
}

// Place of a thread among 16 x 24; a warp has 8 x 4, so that its reads of shared memory meet as few rows as may be.
__device__ __forceinline__ int conventional_row() { return threadIdx.x % 8 + threadIdx.x / 32 % 2 * 8; }
__device__ __forceinline__ int conventional_column() { return threadIdx.x % 32 / 8 + threadIdx.x / 64 * 4; }

// Thread (i, j) has rows 4 i + {0..3} and, 64 further, four more; columns 4 j + {0..3} and, 96 further,
// four.
template <int Side>
__device__ __forceinline__ void multiply_conventional(const ConventionalTile<Side>& tile, int stage,
                                                      float (&sum)[Side][Side]) {
  const float* q = tile.q[stage] + conventional_row() * 4;
  const float* p = tile.p[stage] + conventional_column() * 4;
#pragma unroll
  for (int l = 0; l < conventional_k; ++l) {
    float a[Side], b[Side];
    load_side(a, q + l * tile.row_pitch, 64);
    load_side(b, p + l * tile.column_pitch, 96);
#pragma unroll
    for (int y = 0; y < Side; ++y)
#pragma unroll
      for (int x = 0; x < Side; ++x) sum[y][x] = __fmaf_rn(a[x], b[y], sum[y][x]);
  }
}

template <int Side>
__device__ __forceinline__ void store_conventional(const SplitArguments& g, const Scalars& scalars,
                                                   const float (&sum)[Side][Side], float* C, std::int64_t row,
                                                   std::int64_t column) {
#pragma unroll
  for (int y = 0; y < Side; ++y) {
    const std::int64_t j = column + conventional_column() * 4 + y % 4 + y / 4 * 96;
#pragma unroll
    for (int x = 0; x < Side; ++x) {
      const std::int64_t i = row + conventional_row() * 4 + x % 4 + x / 4 * 64;
      if (i >= g.a.count || j >= g.b.count) continue;
      float* c = C + i + j * g.ldc;
      *c = scalars(sum[y][x], scalars.beta == 0 ? 0 : *c);
    }
  }
}

template <int Side>
__device__ __noinline__ void conventional_tiles(const SplitArguments& g, const Scalars& scalars, void* shared) {
  using Tile = ConventionalTile<Side>;
  Tile& tile = *static_cast<Tile*>(shared);
  const std::int64_t down = (g.a.count + Tile::rows - 1) / Tile::rows;
  const std::int64_t tiles = down * ((g.b.count + Tile::columns - 1) / Tile::columns);
  const auto of_product = [](FloatVectors x, std::int64_t product) {
    x.data += product * x.product_stride;
    return x;
  };
  const int steps = scalars.alpha == 0 ? 0 : static_cast<int>((g.a.k + conventional_k - 1) / conventional_k);
  for (std::int64_t t = blockIdx.x; t < tiles * g.products; t += gridDim.x) {
    const std::int64_t product = t / tiles, row = t % tiles % down * Tile::rows,
                       column = t % tiles / down * Tile::columns;
    ConventionalSource<Tile::rows, Tile::row_pitch> q(of_product(g.a, product), row);
    ConventionalSource<Tile::columns, Tile::column_pitch> p(of_product(g.b, product), column);
    const auto fetch = [&](int step) {
      if (step < steps) {
        q.fetch(tile.q[step % conventional_stages], g.a.data);
        p.fetch(tile.p[step % conventional_stages], g.b.data);
      }
      cuda::close_copies();
    };
    float sum[Side][Side] = {};
    for (int s = 0; s + 1 < conventional_stages; ++s) fetch(s);
    for (int step = 0; step < steps; ++step) {
      cuda::wait_for_copies_but<conventional_stages - 2>();
      __syncthreads();
      fetch(step + conventional_stages - 1);
      multiply_conventional(tile, step % conventional_stages, sum);
    }
    cuda::wait_for_copies_but<0>();
    __syncthreads();
    store_conventional(g, scalars, sum, g.c + product * g.product_stride_c, row, column);
  }
}

// Large tiles, where there are enough of them for all multiprocessors.
inline __device__ __noinline__ void conventional_product(const SplitArguments& g, const Scalars& scalars,
                                                         void* shared) {
  using Large = ConventionalTile<8>;
  const std::int64_t large =
      ((g.a.count + Large::rows - 1) / Large::rows) * ((g.b.count + Large::columns - 1) / Large::columns);
  if (large * g.products >= gridDim.x)
    conventional_tiles<8>(g, scalars, shared);
  else
    conventional_tiles<4>(g, scalars, shared);
}

}  // namespace vernier::cuda
