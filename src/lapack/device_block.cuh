// Kernels of device_block.hpp. A block of 256 threads owns some columns, in which nobody else exchanges anything.
#pragma once

#include <algorithm>

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "lapack/device_block.hpp"

namespace vernier {

constexpr int block_threads = 256;
constexpr int step = 32;          // rows of a triangle that are solved before the rest is updated
constexpr int pitch = step + 4;   // of rows of L in shared memory
constexpr int update_rows = 128;  // of a tile of a small update

template <class T>
inline constexpr int tile_columns = 256 / static_cast<int>(sizeof(T));  // 64 floats, 32 doubles
template <class T>
inline constexpr int quad_columns = tile_columns<T> / 4;
template <class T>
inline constexpr int row_threads = block_threads / quad_columns<T>;

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

// Count rows of C, row_threads apart, minus L U over `step` columns of L. l: the first row, at its first column; u: the
// first row of U, at the thread's quad.
template <int Count, class T>
__device__ __forceinline__ void subtract_rows(Quad<T> (&c)[Count], const T* l, const T* u) {
#pragma unroll 2
  for (int k = 0; k < step; k += 4) {
    Quad<T> b[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) b[e] = quad(u + (k + e) * tile_columns<T>);
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const Quad<T> f = quad(l + i * row_threads<T> * pitch + k);
#pragma unroll
      for (int e = 0; e < 4; ++e)
#pragma unroll
        for (int j = 0; j < 4; ++j) c[i].x[j] = fma(-f.x[e], b[e].x[j], c[i].x[j]);
    }
  }
}

// Rows [0, count) of L, `depth` columns of them, the rest zeros.
template <class T>
__device__ __forceinline__ void stage_factor(T* to, const T* from, std::int64_t ld, int count, int depth) {
  for (int i = threadIdx.x; i < count * (step / 4); i += block_threads) {
    const int row = i / (step / 4), k = i % (step / 4) * 4;
    quad(to + row * pitch + k) = k < depth ? quad(from + row * ld + k) : Quad<T>{};
  }
}

template <class T>
struct Tile {
  static constexpr int columns = tile_columns<T>;
  T* x;  // rows of `columns`
  int row0 = threadIdx.x / quad_columns<T>, column = threadIdx.x % quad_columns<T> * 4;

  __device__ Quad<T>& at(int row) const { return quad(x + row * columns + column); }
};

// Notes the exchanges in `followed`, by one block.
template <class T>
__device__ __forceinline__ void follow(const BlockTask<T>& t) {
  const RowOrder& f = t.followed;
  const int q = threadIdx.x;
  int arrived = 0, left = 0, to = 0;
  if (q < t.order) {
    arrived = f.rows[t.exchanges.from[t.first + q]];
    left = f.rows[t.first + q];
    to = t.exchanges.to[t.first + q];
  }
  __syncthreads();
  if (q < t.order) {
    f.rows[t.first + q] = arrived;
    if (to >= t.first + t.order) f.rows[to] = left;
    if (f.places != nullptr) {
      f.places[arrived] = t.first + q;
      if (to >= t.first + t.order) f.places[left] = to;
    }
  }
}

// The tile's rows become L^-1 of themselves: `step` rows by substitution, one thread a column, then the rows below.
template <class T>
__device__ __forceinline__ void solve_tile(const BlockTask<T>& t, const Tile<T>& tile, T* l) {
  for (int i = 0; i < t.order; i += step) {
    const int depth = min(step, t.order - i), below = t.order - i - depth;
    stage_factor(l, t.a.at(t.first + i, t.first + i), t.a.ld, depth + below, depth);
    __syncthreads();
    if (threadIdx.x < tile_columns<T>) {
      T* column = tile.x + i * tile_columns<T> + threadIdx.x;
      T x[step];
#pragma unroll
      for (int r = 0; r < step; ++r) x[r] = r < depth ? column[r * tile_columns<T>] : T(0);
#pragma unroll
      for (int r = 1; r < step; ++r) {
        if (r >= depth) break;
#pragma unroll
        for (int k = 0; k < r; ++k) x[r] = fma(-l[r * pitch + k], x[k], x[r]);
      }
#pragma unroll
      for (int r = 0; r < step; ++r)
        if (r < depth) column[r * tile_columns<T>] = x[r];
    }
    __syncthreads();
    constexpr int together = 4;
    const T* u = tile.x + i * tile_columns<T> + tile.column;
    for (int r0 = step + tile.row0; r0 < depth + below; r0 += together * row_threads<T>) {
      Quad<T> c[together];
#pragma unroll
      for (int q = 0; q < together; ++q) {
        const int r = r0 + q * row_threads<T>;
        c[q] = r < depth + below ? tile.at(i + r) : Quad<T>{};
      }
      subtract_rows(c, l + r0 * pitch, u);
#pragma unroll
      for (int q = 0; q < together; ++q) {
        const int r = r0 + q * row_threads<T>;
        if (r < depth + below) tile.at(i + r) = c[q];
      }
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(block_threads, sizeof(T) == 4 ? 2 : 1)
    block_kernel(const __grid_constant__ BlockTask<T> t, int left_tiles) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* l = reinterpret_cast<T*>(raw);
  const Tile<T> tile{l + (largest_block + 4 * row_threads<T>)*pitch};
  cuda::wait_for_previous_kernels();
  const bool right = static_cast<int>(blockIdx.x) >= left_tiles;
  const ColumnRange& range = right ? t.right : t.left;
  const std::int64_t number = static_cast<int>(blockIdx.x) - (right ? left_tiles : 0);
  const std::int64_t column = range.begin + number * tile_columns<T> + tile.column;
  const bool inside = column < range.end;
  const bool exchange = t.exchange;
  const int* from = t.exchanges.from + t.first;
  for (int q = tile.row0; q < t.order; q += row_threads<T>)
    tile.at(q) = inside ? quad(t.a.at(exchange ? from[q] : t.first + q, column)) : Quad<T>{};
  __syncthreads();
  if (exchange && inside)
    for (int q = tile.row0; q < t.order; q += row_threads<T>) {
      const int to = t.exchanges.to[t.first + q];
      if (to >= t.first + t.order) quad(t.a.at(to, column)) = quad(t.a.at(t.first + q, column));
    }
  if (right && t.solve) solve_tile(t, tile, l);
  if (inside)  // after the rows that go elsewhere were read: each thread its own
    for (int q = tile.row0; q < t.order; q += row_threads<T>) quad(t.a.at(t.first + q, column)) = tile.at(q);
  if (blockIdx.x != 0) return;
  if (t.followed.rows != nullptr) follow(t);
  if (t.reset.rows != nullptr)
    for (int i = t.first + t.order + threadIdx.x; i < t.reset_end; i += block_threads)
      t.reset.rows[i] = t.reset.places[i] = i;
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    small_product_kernel(RowMajor<T> a, int rows, int first_row, ColumnRange range, int first, int depth) {
  constexpr int count = update_rows / row_threads<T>;
  extern __shared__ __align__(16) unsigned char raw[];
  T* l = reinterpret_cast<T*>(raw);
  const Tile<T> u{l + update_rows * pitch};
  cuda::wait_for_previous_kernels();
  const int row = first_row + blockIdx.x * update_rows;
  const std::int64_t column = range.begin + blockIdx.y * tile_columns<T> + u.column;
  const bool inside = column < range.end;
  stage_factor(l, a.at(row, first), a.ld, min(update_rows, rows - row), depth);
  for (int q = u.row0; q < step; q += row_threads<T>)
    u.at(q) = inside && q < depth ? quad(a.at(first + q, column)) : Quad<T>{};
  Quad<T> c[count];
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int r = row + u.row0 + i * row_threads<T>;
    c[i] = inside && r < rows ? quad(a.at(r, column)) : Quad<T>{};
  }
  __syncthreads();
  subtract_rows(c, l + u.row0 * pitch, u.x + u.column);
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int r = row + u.row0 + i * row_threads<T>;
    if (inside && r < rows) quad(a.at(r, column)) = c[i];
  }
}

template <class T>
void exchange_and_solve(const BlockTask<T>& task, cudaStream_t stream) {
  const auto tiles = [](const ColumnRange& range) {
    return static_cast<int>((range.size() + tile_columns<T> - 1) / tile_columns<T>);
  };
  const int left = tiles(task.left), all = left + tiles(task.right);
  // A block without columns does what one block does for all.
  const std::size_t rows = largest_block + 4 * row_threads<T>;
  cuda::launch("block_kernel", block_kernel<T>,
               {.grid = static_cast<unsigned>(std::max(all, 1)),
                .block = block_threads,
                .shared_bytes = (rows * pitch + largest_block * tile_columns<T>)*sizeof(T),
                .overlap_previous = true},
               stream, task, left);
}

template <class T>
void subtract_small_product(const RowMajor<T>& a, int rows, int first_row, const ColumnRange& columns, int first,
                            int depth, cudaStream_t stream) {
  if (rows <= first_row || columns.size() == 0) return;
  const dim3 grid(static_cast<unsigned>((rows - first_row + update_rows - 1) / update_rows),
                  static_cast<unsigned>((columns.size() + tile_columns<T> - 1) / tile_columns<T>));
  cuda::launch("small_product_kernel", small_product_kernel<T>,
               {.grid = grid,
                .block = block_threads,
                .shared_bytes = (update_rows * pitch + step * tile_columns<T>)*sizeof(T),
                .overlap_previous = true},
               stream, a, rows, first_row, columns, first, depth);
}

}  // namespace vernier
