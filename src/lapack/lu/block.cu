// Kernels of block.hpp. A block of 256 threads owns some columns, in which nobody else exchanges anything.
#include <algorithm>
#include <climits>
#include <type_traits>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "lapack/lu/block_forms.cuh"

namespace vernier::cuda {

constexpr int step = 32;         // rows of a triangle that are solved before the rest is updated
constexpr int pitch = step + 4;  // of rows of L in shared memory
constexpr int update_rows = 64;  // of a tile of a small update; 128: 4.8 us in place of 4.1 for 4096 x 32

// Columns of a block of threads, and fewer where that leaves multiprocessors without any.
inline constexpr int wide_columns = 32, narrow_columns = 16;
template <class T>
inline constexpr int update_columns = 256 / static_cast<int>(sizeof(T));  // of a tile of a small update
template <class T>
inline constexpr int blocks_together = 8 / static_cast<int>(sizeof(T));  // on a multiprocessor
template <int Columns>
inline constexpr int quad_columns = Columns / 4;
template <int Columns>
inline constexpr int row_threads = block_threads / quad_columns<Columns>;

// Count rows of C, row_threads apart, minus L U over `step` columns of L. l: the first row, at its first column; u: the
// first row of U, at the thread's quad.
template <int Columns, int Count, class T>
__device__ __forceinline__ void subtract_rows(Quad<T> (&c)[Count], const T* l, const T* u) {
#pragma unroll 2
  for (int k = 0; k < step; k += 4) {
    Quad<T> b[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) b[e] = quad(u + (k + e) * Columns);
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const Quad<T> f = quad(l + i * row_threads<Columns> * pitch + k);
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

template <class T, int Columns>
struct Tile {
  T* x;  // rows of `columns`
  int row0 = threadIdx.x / quad_columns<Columns>, column = threadIdx.x % quad_columns<Columns> * 4;

  __device__ Quad<T>& at(int row) const { return quad(x + row * Columns + column); }
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

// Rows and columns [32 w, 32 w + 32) of L^-1 by warp w, one column a lane: into row 32 w + r of `inverses`. l: row r of
// its own diagonal block in row r. Every unknown goes into all rows below as soon as it is known: 32 steps in a chain.
template <class T>
__device__ __forceinline__ void invert_diagonal(const T* l, T* inverses) {
  const int first = threadIdx.x / 32 * step, column = threadIdx.x % 32;
  T x[step];
#pragma unroll
  for (int r = 0; r < step; ++r) x[r] = r == column ? T(1) : T(0);
#pragma unroll
  for (int k = 0; k + 1 < step; ++k)
#pragma unroll
    for (int r = k + 1; r < step; ++r) x[r] = fma(-l[(first + r) * pitch + k], x[k], x[r]);
#pragma unroll
  for (int r = 0; r < step; ++r) inverses[(first + r) * pitch + column] = x[r];
}

// The tile's rows become L^-1 of themselves: `step` rows by the inverse of their diagonal block, then the rows below,
// while the next columns of L are on their way.
template <class T, int Columns>
struct TileSolver {
  static constexpr int staged = largest_block * (step / 4) / block_threads;  // quads of a thread

  const BlockTask<T>& t;
  const Tile<T, Columns>& tile;
  T *l, *inverses;
  Quad<T> next[staged];

  __device__ __forceinline__ const T* triangle(int row, int column) const {
    if constexpr (std::is_same_v<T, float>)
      if (t.triangle.data != nullptr) return t.triangle.at(t.first + row, column);
    return t.a.at(t.first + row, t.first + column);
  }

  // Columns [i, i + step) of L: its rows from i + step on, or of all rows their own diagonal block.
  template <bool Diagonal>
  __device__ __forceinline__ void fetch(int i) {
#pragma unroll
    for (int q = 0; q < staged; ++q) {
      const int at = threadIdx.x + q * block_threads, row = at / (step / 4), k = at % (step / 4) * 4;
      const int r = Diagonal ? row : i + step + row, c = Diagonal ? row / step * step + k : i + k;
      next[q] = r < t.order && c < t.order ? quad(triangle(r, c)) : Quad<T>{};
    }
  }
  __device__ __forceinline__ void put() {
#pragma unroll
    for (int q = 0; q < staged; ++q) {
      const int at = threadIdx.x + q * block_threads;
      quad(l + at / (step / 4) * pitch + at % (step / 4) * 4) = next[q];
    }
  }

  __device__ __forceinline__ void solve_rows(int i) {
    constexpr int count = (step + row_threads<Columns> - 1) / row_threads<Columns>;
    Quad<T> x[count] = {};
#pragma unroll
    for (int k = 0; k < step; k += 4) {
      Quad<T> b[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) b[e] = tile.at(i + k + e);
#pragma unroll
      for (int q = 0; q < count; ++q) {
        if (tile.row0 >= step) break;
        const Quad<T> f = quad(inverses + (i + tile.row0 + q * row_threads<Columns>)*pitch + k);
#pragma unroll
        for (int e = 0; e < 4; ++e)
#pragma unroll
          for (int j = 0; j < 4; ++j) x[q].x[j] = fma(f.x[e], b[e].x[j], x[q].x[j]);
      }
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < count; ++q)
      if (tile.row0 < step) tile.at(i + tile.row0 + q * row_threads<Columns>) = x[q];
    __syncthreads();
  }

  __device__ __forceinline__ void update_below(int i) {
    constexpr int together = 4;
    const int end = t.order - i - step;
    for (int r0 = tile.row0; r0 < end; r0 += together * row_threads<Columns>) {
      Quad<T> c[together];
#pragma unroll
      for (int q = 0; q < together; ++q) {
        const int r = r0 + q * row_threads<Columns>;
        c[q] = r < end ? tile.at(i + step + r) : Quad<T>{};
      }
      subtract_rows<Columns>(c, l + r0 * pitch, tile.x + i * Columns + tile.column);
#pragma unroll
      for (int q = 0; q < together; ++q) {
        const int r = r0 + q * row_threads<Columns>;
        if (r < end) tile.at(i + step + r) = c[q];
      }
    }
    __syncthreads();
  }

  // The blocks on the diagonal, fetched before.
  __device__ __forceinline__ void invert() {
    put();
    __syncthreads();
    if (static_cast<int>(threadIdx.x) / 32 * step < t.order) invert_diagonal(l, inverses);
  }

  // After a barrier.
  __device__ __forceinline__ void run() {
    fetch<false>(0);
    for (int i = 0; i < t.order; i += step) {
      put();
      solve_rows(i);
      if (i + step >= t.order) break;
      fetch<false>(i + step);
      update_below(i);
    }
  }
};

// Blocks of threads in order: columns that are solved for, columns that are exchanged only, rows of L that are split.
template <class T, int Columns>
__global__ void __launch_bounds__(block_threads, blocks_together<T>)
    block_kernel(const __grid_constant__ BlockTask<T> t, int solved_tiles, int other_tiles, int second_tiles) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* l = reinterpret_cast<T*>(raw);
  T* inverses = l + largest_block * pitch;  // behind l: update_below reads beyond its rows
  const Tile<T, Columns> tile{inverses + largest_block * pitch};
  if (!t.beside_panel) wait_for_previous_kernels();
  int number = blockIdx.x;
  const bool solves = number < solved_tiles;
  if (!solves) number -= solved_tiles;
  if constexpr (std::is_same_v<T, float>)
    if (!solves && number >= other_tiles + second_tiles && t.split_rows.end > t.split_rows.begin)
      return split_rows(t.a, t.first, t.split_rows, number - other_tiles - second_tiles, t.row_plane);
  const bool second = !solves && number >= other_tiles;
  if (second) number -= other_tiles;
  const ColumnRange& range = solves ? t.solved : t.others[second ? 1 : 0];
  const std::int64_t column = range.begin + std::int64_t{number} * Columns + tile.column;
  const bool inside = column < range.end;
  TileSolver<T, Columns> solver{t, tile, l, inverses, {}};
  if (solves) solver.template fetch<true>(0);
  __shared__ int from[largest_block], to[largest_block];
  if (static_cast<int>(threadIdx.x) < t.order) {
    const int row = t.first + static_cast<int>(threadIdx.x);
    from[threadIdx.x] = t.exchange ? t.exchanges.from[row] : row;
    to[threadIdx.x] = t.exchange ? t.exchanges.to[row] : row;
  }
  __syncthreads();
  // All that is read, at once: rows that arrive, and rows that leave for a place below.
  constexpr int count = largest_block / row_threads<Columns>;
  Quad<T> arriving[count], leaving[count];
  const auto leaves = [&](int q) { return inside && q < t.order && to[q] >= t.first + t.order; };
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int q = tile.row0 + i * row_threads<Columns>;
    arriving[i] = inside && q < t.order ? quad(t.a.at(from[q], column)) : Quad<T>{};
    if (leaves(q)) leaving[i] = quad(t.a.at(t.first + q, column));
  }
  if (solves) solver.invert();
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int q = tile.row0 + i * row_threads<Columns>;
    if (q < (t.order + step - 1) / step * step) tile.at(q) = arriving[i];
  }
  __syncthreads();  // all rows are read before others come in their place
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int q = tile.row0 + i * row_threads<Columns>;
    if (leaves(q)) quad(t.a.at(to[q], column)) = leaving[i];
  }
  if (solves) solver.run();
  __syncthreads();
  if (inside)  // after the rows that go elsewhere were read: each thread its own
    for (int q = tile.row0; q < t.order; q += row_threads<Columns>) {
      Quad<T> v = tile.at(q);
      if (t.scale && solves) {
        const T divisor = *t.a.at(t.first + q, t.first + q);
#pragma unroll
        for (T& x : v.x) x /= divisor;
      }
      quad(t.a.at(t.first + q, column)) = v;
    }
  if constexpr (std::is_same_v<T, float>)
    if (solves && t.plane.lines != nullptr)
      split_tile<Columns>(tile.x, t.plane, std::int64_t{number} * Columns, t.solved.end - t.solved.begin);
  if (blockIdx.x != 0) return;
  if (t.followed.rows != nullptr) follow(t);
  if (t.reset.rows != nullptr)
    for (int i = t.first + t.order + threadIdx.x; i < t.reset_end; i += block_threads)
      t.reset.rows[i] = t.reset.places[i] = i;
  if (t.beside_panel) wait_for_previous_kernels();  // who waits for this kernel waits for both
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    small_product_kernel(RowMajor<T> a, int rows, int first_row, ColumnRange range, int first, int depth) {
  constexpr int Columns = update_columns<T>, count = update_rows / row_threads<Columns>;
  extern __shared__ __align__(16) unsigned char raw[];
  T* l = reinterpret_cast<T*>(raw);
  const Tile<T, Columns> u{l + update_rows * pitch};
  wait_for_previous_kernels();
  const int row = first_row + blockIdx.x * update_rows;
  const std::int64_t column = range.begin + blockIdx.y * Columns + u.column;
  const bool inside = column < range.end;
  Quad<T> c[count];
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int r = row + u.row0 + i * row_threads<Columns>;
    c[i] = inside && r < rows ? quad(a.at(r, column)) : Quad<T>{};
  }
  for (int k = 0; k < depth; k += step) {
    if (k > 0) __syncthreads();
    stage_factor(l, a.at(row, first + k), a.ld, min(update_rows, rows - row), depth - k);
    for (int q = u.row0; q < step; q += row_threads<Columns>)
      u.at(q) = inside && q < depth - k ? quad(a.at(first + k + q, column)) : Quad<T>{};
    __syncthreads();
    subtract_rows<Columns>(c, l + u.row0 * pitch, u.x + u.column);
  }
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int r = row + u.row0 + i * row_threads<Columns>;
    if (inside && r < rows) quad(a.at(r, column)) = c[i];
  }
}

template <class T>
void exchange_and_solve(const BlockTask<T>& task, cudaStream_t stream) {
  const auto launch = [&](auto columns, int most) {
    constexpr int Columns = decltype(columns)::value;
    const auto tiles = [](const ColumnRange& range) {
      return static_cast<int>((range.size() + Columns - 1) / Columns);
    };
    const int solved = tiles(task.solved), others = tiles(task.others[0]), second = tiles(task.others[1]);
    const int split = static_cast<int>((task.split_rows.size() + rows_of_split - 1) / rows_of_split);
    const int all = solved + others + second + split;
    if (all - split > most) return false;
    // A block without columns does what one block does for all.
    cuda::launch("block_kernel", block_kernel<T, Columns>,
                 {.grid = static_cast<unsigned>(std::max(all, 1)),
                  .block = block_threads,
                  .shared_bytes = (2 * largest_block * pitch + largest_block * Columns) * sizeof(T),
                  .overlap_previous = true},
                 stream, task, solved, others, second);
    return true;
  };
  if (!launch(std::integral_constant<int, narrow_columns>{}, current_device().multiprocessors))
    launch(std::integral_constant<int, wide_columns>{}, INT_MAX);
}

template <class T>
void subtract_small_product(const RowMajor<T>& a, int rows, int first_row, const ColumnRange& columns, int first,
                            int depth, cudaStream_t stream) {
  if (rows <= first_row || columns.size() == 0) return;
  const dim3 grid(static_cast<unsigned>((rows - first_row + update_rows - 1) / update_rows),
                  static_cast<unsigned>((columns.size() + update_columns<T> - 1) / update_columns<T>));
  launch("small_product_kernel", small_product_kernel<T>,
         {.grid = grid,
          .block = block_threads,
          .shared_bytes = (update_rows * pitch + step * update_columns<T>)*sizeof(T),
          .overlap_previous = true},
         stream, a, rows, first_row, columns, first, depth);
}

VERNIER_REAL_INSTANCES(exchange_and_solve, subtract_small_product)

}  // namespace vernier::cuda
