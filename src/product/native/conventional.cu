// A block takes tiles of C in turn. Operands come to shared memory in steps of 16 k by small asynchronous copies, which
// serve every transposition, leading dimension and alignment; warps of 64 x 32 entries multiply, two on top of each
// other. Narrow tiles are for small C, two blocks a multiprocessor; wide ones read fewer bytes an operation. GPUs of
// less shared memory take narrow tiles of fewer stages.
#include "product/native/conventional.hpp"

#include <algorithm>

#include "base/instantiate.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.hpp"
#include "cuda/matrix_fragments.cuh"
#include "cuda/ptx.cuh"
#include "engine/panel.hpp"

namespace vernier::cuda {
namespace {

constexpr int step_k = 16, most_stages = 4, few_stages = 3;
constexpr int tile_rows = 128, warp_rows = 64, warp_columns = 32;
constexpr int mma_down = warp_rows / 16, mma_across = warp_columns / 8;
constexpr int narrow = 64, wide = 128;  // columns of a tile

constexpr int threads_of(int columns) { return 32 * (tile_rows / warp_rows) * (columns / warp_columns); }
constexpr int blocks_of(int columns) { return columns == narrow ? 2 : 1; }  // a multiprocessor

// An operand's step has its vectors side by side; the pitch lets the lanes of a fragment, four of k by eight vectors,
// meet no bank conflicts.
constexpr int pitch_of(int vectors) { return vectors + 4; }

template <class T, int Columns, int Stages>
struct Steps {
  T rows[Stages][step_k * pitch_of(tile_rows)], columns[Stages][step_k * pitch_of(Columns)];
};
static_assert(sizeof(Steps<double, narrow, few_stages>) < 99 * 1024);  // of GPUs from 8.0 on

// One thread's share of the copies of an operand: every few vectors or every few k. Vectors along memory have four
// lanes each, so that the stores spread over the banks.
template <class T, int Vectors, int Threads>
struct Source {
  static constexpr int copies = Vectors * step_k / Threads, pitch = pitch_of(Vectors);
  static constexpr int lanes = 4, vector_step = Threads / lanes;  // by k
  static constexpr int k_step = Threads / Vectors;                // across

  const T* from;  // of the first copy
  std::int64_t vector_stride, k_stride;
  int vectors_left, k_left;  // from there

  __device__ Source(const ConventionalVectors<T>& x, std::int64_t first, std::int64_t k)
      : vector_stride(x.vector_stride), k_stride(x.k_stride) {
    const int v = first_vector(), l = first_k();
    from = x.data + (first + v) * vector_stride + l * k_stride;
    vectors_left = static_cast<int>(min(x.count - first, std::int64_t{Vectors})) - v;
    k_left = static_cast<int>(k) - l;
  }

  __device__ bool by_k() const { return k_stride == 1; }
  __device__ int first_vector() const { return by_k() ? threadIdx.x / lanes : threadIdx.x % Vectors; }
  __device__ int first_k() const { return by_k() ? threadIdx.x % lanes : threadIdx.x / Vectors; }

  __device__ __forceinline__ void fetch(T* step) {
    T* to = step + first_k() * pitch + first_vector();
    if (by_k()) {
#pragma unroll
      for (int i = 0; i < copies; ++i) {
        const int v = i / lanes * vector_step, l = i % lanes * lanes;
        const bool exists = v < vectors_left && l < k_left;
        copy_async(to + l * pitch + v, exists ? from + v * vector_stride + l : from, exists);
      }
    } else {
      const T* next = from;
#pragma unroll
      for (int i = 0; i < copies; ++i, next += k_step * k_stride)
        copy_async(to + i * k_step * pitch, next, 0 < vectors_left && i * k_step < k_left);
    }
    from += step_k * k_stride;
    k_left -= step_k;
  }
};

// mma_doubles(), or before 9.0 the same sums by eight instructions of 8 x 8 x 4.
__device__ __forceinline__ void multiply_fragments(double (&d)[4], const double (&a)[8], const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
  mma_doubles(d, a, b);
#else
#pragma unroll
  for (int e = 0; e < 8; ++e) mma_eight_doubles(d[e % 2 * 2], d[e % 2 * 2 + 1], a[e], b[e / 2]);
#endif
}

// Fragments of mma.m16n8k16 in fp64: lane = 4 g + t has rows g and g + 8 of A at k = t, t + 4, ..., column g of B
// there, and of the sums columns 2 t and 2 t + 1.
template <class T, int Columns>
__device__ __forceinline__ void multiply_step(const T* rows, const T* columns, int lane,
                                              double (&sum)[mma_down][mma_across][4]) {
  const int g = lane / 4, t = lane % 4;
  double b[mma_across][4];
#pragma unroll
  for (int j = 0; j < mma_across; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) b[j][e] = columns[(t + 4 * e) * pitch_of(Columns) + 8 * j + g];
#pragma unroll
  for (int i = 0; i < mma_down; ++i) {
    double a[8];
#pragma unroll
    for (int e = 0; e < 8; ++e) a[e] = rows[(t + e / 2 * 4) * pitch_of(tile_rows) + 16 * i + g + e % 2 * 8];
#pragma unroll
    for (int j = 0; j < mma_across; ++j) multiply_fragments(sum[i][j], a, b[j]);
  }
}

template <class T>
__device__ __forceinline__ T with_factors(T product, T alpha, T beta, const T* c) {
  const T scaled = beta == 0 ? T{0} : beta == 1 ? *c : beta * *c;
  return alpha == 0 ? scaled : beta == 0 ? alpha * product : fma(alpha, product, scaled);
}

template <class T, int Columns, int Stages>
__global__ void __launch_bounds__(threads_of(Columns), blocks_of(Columns))
    conventional_product(const __grid_constant__ ConventionalProduct<T> p) {
  extern __shared__ __align__(16) std::uint8_t dynamic[];
  auto& steps = *reinterpret_cast<Steps<T, Columns, Stages>*>(dynamic);
  wait_for_previous_kernels();
  allow_next_kernel();
  if (p.gate.closed()) return;
  const T alpha = value_of(p.to.alpha), beta = value_of(p.to.beta);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_row = warp % 2 * warp_rows, warp_column = warp / 2 * warp_columns;
  const std::int64_t tiles_down = (p.rows.count + tile_rows - 1) / tile_rows,
                     tiles = tiles_down * ((p.columns.count + Columns - 1) / Columns);
  const std::int64_t count = alpha == 0 ? 0 : (p.k + step_k - 1) / step_k;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t row = tile % tiles_down * tile_rows, column = tile / tiles_down * Columns;
    Source<T, tile_rows, threads_of(Columns)> rows(p.rows, row, p.k);
    Source<T, Columns, threads_of(Columns)> columns(p.columns, column, p.k);
    const auto fetch = [&](std::int64_t step) {
      if (step < count) rows.fetch(steps.rows[step % Stages]), columns.fetch(steps.columns[step % Stages]);
      close_copies();
    };
    double sum[mma_down][mma_across][4] = {};
    for (int s = 0; s + 1 < Stages; ++s) fetch(s);
    for (std::int64_t step = 0; step < count; ++step) {
      wait_for_copies_but<Stages - 2>();
      __syncthreads();  // all copies of this step are here, and nobody reads the stage of the last one any more
      fetch(step + Stages - 1);
      multiply_step<T, Columns>(steps.rows[step % Stages] + warp_row, steps.columns[step % Stages] + warp_column, lane,
                                sum);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < mma_down; ++i)
#pragma unroll
      for (int j = 0; j < mma_across; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const std::int64_t r = row + warp_row + 16 * i + lane / 4 + e / 2 * 8,
                             s = column + warp_column + 8 * j + lane % 4 * 2 + e % 2;
          if (r >= p.rows.count || s >= p.columns.count) continue;
          T* c = p.to.c + r + s * p.to.ldc;
          *c = with_factors(static_cast<T>(sum[i][j][e]), alpha, beta, c);
        }
  }
}

std::int64_t tiles_of(std::int64_t m, std::int64_t n, int columns) {
  return divide_up(m, tile_rows) * divide_up(n, columns);
}

template <class T, int Columns, int Stages>
void launch_tiles(const ConventionalProduct<T>& p, cudaStream_t stream) {
  const std::int64_t resident = blocks_of(Columns) * current_device().multiprocessors,
                     tiles = tiles_of(p.rows.count, p.columns.count, Columns);
  launch("conventional_product", conventional_product<T, Columns, Stages>,
         {.grid = dim3(static_cast<unsigned>(std::min(tiles, resident))),
          .block = dim3(threads_of(Columns)),
          .shared_bytes = sizeof(Steps<T, Columns, Stages>),
          .overlap_previous = true},
         stream, p);
}

}  // namespace

template <class T>
void multiply_conventionally(const ConventionalProduct<T>& p, cudaStream_t stream) {
  const Device& device = current_device();
  if (sizeof(Steps<T, wide, most_stages>) > device.shared_memory_per_block)
    launch_tiles<T, narrow, few_stages>(p, stream);
  else if (tiles_of(p.rows.count, p.columns.count, wide) >= 4 * device.multiprocessors)
    launch_tiles<T, wide, most_stages>(p, stream);
  else
    launch_tiles<T, narrow, most_stages>(p, stream);
}

VERNIER_REAL_INSTANCES(multiply_conventionally)

}  // namespace vernier::cuda
