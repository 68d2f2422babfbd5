// A triangular solve is one kernel: a block of threads for each 128 unknowns, which takes them in the order of
// substitution, so that nobody waits for one who has not begun. Unknowns are published as they are: a word of `out`
// that is no longer `absent` is a solution. Diagonal blocks are inverted beforehand, and what a block multiplies next
// is in registers before its unknowns appear.
#pragma once

#include <cuda_fp16.h>

#include <type_traits>
#include <utility>

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "lapack/device_triangles.hpp"

namespace vernier {

constexpr int solve_threads = 512, solve_warps = 16, warp_rows = triangle_block / solve_warps;
constexpr int neighbours = 4;     // blocks that look for a solution all the time
constexpr long long absent = -1;  // a NaN that no operation makes

template <class T>
struct alignas(sizeof(T) < 4 ? 8 : 16) FactorQuad {
  T x[4];
};

// What factors are kept in, as numbers to compute with.
__device__ __forceinline__ float to_number(__half x) { return __half2float(x); }
__device__ __forceinline__ float to_number(float x) { return x; }
__device__ __forceinline__ double to_number(double x) { return x; }

struct SolveVectors {
  const double* in;
  double* out;
  std::int64_t apart;
  int count;
};

// Two unknowns that appear one by one; who is far from needing them looks now and then.
__device__ __forceinline__ double2 await(const double* x, bool far) {
  longlong2 bits;
  for (;;) {
    bits = cuda::load_volatile(reinterpret_cast<const longlong2*>(x));
    if (bits.x != absent && bits.y != absent) break;
    if (far) __nanosleep(500);
  }
  return {__longlong_as_double(bits.x), __longlong_as_double(bits.y)};
}

__device__ __forceinline__ void publish(double* p, double x) {
  const long long bits = __double_as_longlong(x);
  *reinterpret_cast<volatile long long*>(p) = bits == absent ? 0x7ff8000000000000ll : bits;
}

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

// 8 rows of a warp, 4 columns of a lane, as S: conversions take time, before the unknowns are there or after.
template <class S>
struct Piece {
  S v[warp_rows][4];

  template <class T>
  __device__ __forceinline__ void load(const T* block, std::int64_t ld) {
    const T* from = block + threadIdx.x / 32 * warp_rows * ld + threadIdx.x % 32 * 4;
    FactorQuad<T> quads[warp_rows];
#pragma unroll
    for (int r = 0; r < warp_rows; ++r) quads[r] = *reinterpret_cast<const FactorQuad<T>*>(from + r * ld);
#pragma unroll
    for (int r = 0; r < warp_rows; ++r)
#pragma unroll
      for (int e = 0; e < 4; ++e) v[r][e] = static_cast<S>(to_number(quads[r].x[e]));
  }
};

// Row by row. x: 128 unknowns in shared memory.
struct ByRows {
  double sums[warp_rows] = {};

  template <class S>
  __device__ __forceinline__ void multiply(const Piece<S>& m, const double* x) {
    const int k = static_cast<int>(threadIdx.x % 32) * 4;
    const double2 low = *reinterpret_cast<const double2*>(x + k), high = *reinterpret_cast<const double2*>(x + k + 2);
    const double v[4] = {low.x, low.y, high.x, high.y};
#pragma unroll
    for (int r = 0; r < warp_rows; ++r)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[r] = fma(static_cast<double>(m.v[r][e]), v[e], sums[r]);
  }
  // into result[0, 128)
  __device__ __forceinline__ void finish(double (*)[triangle_block], double* result) {
    const double sum = sum_of_each<warp_rows / 2>(sums);
    const int lane = threadIdx.x % 32;
    if (lane % 4 == 0) result[threadIdx.x / 32 * warp_rows + lane / 4] = sum;
    __syncthreads();
#pragma unroll
    for (double& s : sums) s = 0;
  }
};

// The transposed block: sums over its rows.
struct ByColumns {
  double sums[4] = {};

  template <class S>
  __device__ __forceinline__ void multiply(const Piece<S>& m, const double* x) {
    const double* mine = x + static_cast<int>(threadIdx.x) / 32 * warp_rows;
#pragma unroll
    for (int r = 0; r < warp_rows; ++r)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[e] = fma(static_cast<double>(m.v[r][e]), mine[r], sums[e]);
  }
  __device__ __forceinline__ void finish(double (*parts)[triangle_block], double* result) {
#pragma unroll
    for (int e = 0; e < 4; ++e) parts[threadIdx.x / 32][threadIdx.x % 32 * 4 + e] = sums[e], sums[e] = 0;
    __syncthreads();
    if (threadIdx.x < triangle_block) {
      double sum = 0;
#pragma unroll
      for (int w = 0; w < solve_warps; ++w) sum += parts[w][threadIdx.x];
      result[threadIdx.x] = sum;
    }
    __syncthreads();
  }
};

// backward: the last unknowns come first.
template <class T, bool Transposed>
__global__ void __launch_bounds__(solve_threads)
    triangle_kernel(RowMajor<T> a, const InverseOf<T>* inverses, int blocks, bool backward, SolveVectors v,
                    int* ticket) {
  __shared__ double parts[solve_warps][triangle_block], sums[triangle_block];
  __shared__ alignas(16) double rhs[triangle_block], unknowns[2][triangle_block];
  __shared__ int turn;
  if (threadIdx.x == 0) {
    turn = atomicAdd(ticket, 1);
    if (turn + 1 == static_cast<int>(gridDim.x)) *ticket = 0;  // for the next solve
  }
  __syncthreads();
  const int number = turn / v.count;  // all vectors side by side: they share what they read
  const auto place = [&](int i) { return (backward ? blocks - 1 - i : i) * triangle_block; };
  const int mine = place(number);
  const double* in = v.in + turn % v.count * v.apart + mine;
  double* out = v.out + turn % v.count * v.apart;
  const auto block_of = [&](int i) { return Transposed ? a.at(place(i), mine) : a.at(mine, place(i)); };
  Piece<InverseOf<T>> inverse;
  Piece<double> next;
  inverse.load(inverses + static_cast<std::int64_t>(mine) * triangle_block, triangle_block);
  if (number > 0) next.load(block_of(0), a.ld);
  const double right_side = threadIdx.x < triangle_block ? in[threadIdx.x] : 0;
  std::conditional_t<Transposed, ByColumns, ByRows> block;
  for (int i = 0; i < number; ++i) {
    // Two warps look for all: many that look at one line of memory hold up who writes it.
    if (threadIdx.x < triangle_block / 2)
      *reinterpret_cast<double2*>(&unknowns[i % 2][2 * threadIdx.x]) =
          await(out + place(i) + 2 * threadIdx.x, number - i > neighbours);
    __syncthreads();
    block.multiply(next, unknowns[i % 2]);
    if (i + 1 < number) next.load(block_of(i + 1), a.ld);
  }
  block.finish(parts, sums);
  if (threadIdx.x < triangle_block) rhs[threadIdx.x] = right_side - sums[threadIdx.x];
  __syncthreads();
  block.multiply(inverse, rhs);
  block.finish(parts, sums);
  if (threadIdx.x < triangle_block) publish(out + mine + threadIdx.x, sums[threadIdx.x]);
}

// Inverse of a triangle of order 128, in place in shared memory: row i of the inverse needs row i of the triangle and
// the rows of the inverse above. An upper triangle is turned round, rows and columns, which makes a lower one of it.
template <class T>
__global__ void __launch_bounds__(triangle_block)
    invert_blocks_kernel(RowMajor<T> a, InverseOf<T>* lower, InverseOf<T>* upper) {
  using S = InverseOf<T>;
  constexpr int n = triangle_block;
  extern __shared__ __align__(16) unsigned char raw[];
  S* x = reinterpret_cast<S*>(raw);  // n x n
  __shared__ S row[n];
  const bool turned = blockIdx.y == 1;
  const int j = threadIdx.x, first = blockIdx.x * n;
  const auto place = [&](int i) { return turned ? n - 1 - i : i; };
  for (int i = 0; i < n; ++i) x[place(i) * n + place(j)] = to_number(*a.at(first + i, first + j));
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    row[j] = x[i * n + j];
    __syncthreads();
    const S inverse = turned ? S(1) / row[i] : S(1);
    S sums[4] = {};
    int k = j;
    for (; k + 4 <= i; k += 4)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[e] = fma(row[k + e], x[(k + e) * n + j], sums[e]);
    for (; k < i; ++k) sums[0] = fma(row[k], x[k * n + j], sums[0]);
    x[i * n + j] = j == i ? inverse : j < i ? -((sums[0] + sums[1]) + (sums[2] + sums[3])) * inverse : S(0);
    __syncthreads();
  }
  S* to = (turned ? upper : lower) + static_cast<std::int64_t>(first) * n;
  for (int i = 0; i < n; ++i) to[i * n + j] = x[place(i) * n + place(j)];
}

template <class T>
DeviceTriangles<T>::DeviceTriangles(const RowMajor<T>& a, std::int64_t order, cudaStream_t stream)
    : a_(a),
      order_(order),
      stream_(stream),
      memory_(2 * static_cast<std::size_t>(order) * triangle_block * sizeof(InverseOf<T>) + sizeof(int), stream) {
  cuda::check(cudaMemsetAsync(inverses(true) + order * triangle_block, 0, sizeof(int), stream), "cudaMemsetAsync");
  cuda::launch("invert_blocks_kernel", invert_blocks_kernel<T>,
               {.grid = dim3(static_cast<unsigned>(order / triangle_block), 2),
                .block = triangle_block,
                .shared_bytes = triangle_block * triangle_block * sizeof(InverseOf<T>)},
               stream, a, inverses(false), inverses(true));
}

template <class T>
InverseOf<T>* DeviceTriangles<T>::inverses(bool upper) const {
  return reinterpret_cast<InverseOf<T>*>(memory_.data()) + (upper ? order_ * triangle_block : 0);
}

template <class T>
void DeviceTriangles<T>::solve(bool upper, Op op, std::int64_t count, const double* in, double* out) const {
  if (count == 0) return;
  int* ticket = reinterpret_cast<int*>(inverses(true) + order_ * triangle_block);
  const auto bytes = static_cast<std::size_t>(count * order_) * sizeof(double);
  cuda::check(cudaMemsetAsync(out, 0xff, bytes, stream_), "cudaMemsetAsync");  // absent
  const auto blocks = static_cast<int>(order_ / triangle_block);
  const bool transposed = op != Op::none;
  cuda::launch("triangle_kernel", transposed ? triangle_kernel<T, true> : triangle_kernel<T, false>,
               {.grid = static_cast<unsigned>(blocks * count), .block = solve_threads}, stream_, a_, inverses(upper),
               blocks, upper != transposed, SolveVectors{in, out, order_, static_cast<int>(count)}, ticket);
}

}  // namespace vernier
