// A triangular solve is one kernel: a block of threads for each 128 unknowns, which takes them in the order of
// substitution, so that nobody waits for one who has not begun. Unknowns are published as they are: a word of `out`
// that is no longer `absent` is a solution. Diagonal blocks are inverted beforehand, what a block multiplies next is in
// registers before its unknowns appear, and what comes then on its way.
#pragma once

#include <type_traits>
#include <utility>

#include "cuda/launch.hpp"
#include "cuda/ptx.cuh"
#include "lapack/device_pieces.cuh"
#include "lapack/device_triangles.hpp"

namespace vernier {

constexpr int neighbours = 4;     // blocks that look for a solution all the time
constexpr long long absent = -1;  // a NaN that no operation makes

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

// backward: the last unknowns come first.
template <class T, bool Transposed>
__global__ void __launch_bounds__(solve_threads)
    triangle_kernel(RowMajor<T> a, const InverseOf<T>* inverses, int blocks, bool backward, SolveVectors v,
                    int* ticket) {
  using Products = std::conditional_t<Transposed, ByColumns, ByRows>;
  constexpr bool is_short = sizeof(T) < sizeof(double);  // registers hold one piece more
  __shared__ double parts[solve_warps][triangle_block];
  __shared__ alignas(16) double rhs[triangle_block], unknowns[2][triangle_block];
  __shared__ int turn;
  if (threadIdx.x == 0) {
    turn = atomicAdd(ticket, 1);
    if (turn + 1 == static_cast<int>(gridDim.x)) *ticket = 0;  // for the next solve
  }
  __syncthreads();
  const int number = turn / v.count;  // all vectors side by side: they share what they read
  const auto place = [&](int i) { return (backward ? blocks - 1 - i : i) * triangle_block; };
  const int first = place(number), mine = Products::mine();
  const double* in = v.in + turn % v.count * v.apart + first;
  double* out = v.out + turn % v.count * v.apart;
  const auto block_of = [&](int i) { return Transposed ? a.at(place(i), first) : a.at(first, place(i)); };
  // Two warps look for all: many that look at one line of memory hold up who writes it.
  const auto unknowns_of = [&](int i) {
    double* to = unknowns[i % 2];
    if (threadIdx.x < triangle_block / 2)
      *reinterpret_cast<double2*>(to + 2 * threadIdx.x) =
          await(out + place(i) + 2 * threadIdx.x, number - i > neighbours);
    __syncthreads();
    return to;
  };
  const double right_side = mine >= 0 ? in[mine] : 0;
  Products block;
  Piece<T> raw;
  Piece<double> next;
  Piece<InverseOf<T>> inverse;
  const InverseOf<T>* my_inverse = inverses + static_cast<std::int64_t>(first) * triangle_block;
  if (number > 0) raw.load(block_of(0), a.ld);
  for (int i = 0; i + 1 < number; ++i) {
    next.take(raw);
    if (is_short) raw.load(block_of(i + 1), a.ld);
    block.multiply(next, unknowns_of(i));
    if (!is_short) raw.load(block_of(i + 1), a.ld);
  }
  if (number > 0) next.take(raw);
  if (is_short) inverse.load(my_inverse, triangle_block);
  if (number > 0) block.multiply(next, unknowns_of(number - 1));
  if (!is_short) inverse.load(my_inverse, triangle_block);
  next.take(inverse);
  const double sum = block.finish(parts);
  if (mine >= 0) rhs[mine] = right_side - sum;
  __syncthreads();
  block.multiply(next, rhs);
  const double x = block.finish(parts);
  if (mine >= 0) publish(out + first + mine, x);
}

constexpr int inverse_lanes = 4;                   // threads of a column
constexpr int inverse_pitch = triangle_block + 8;  // rows of these four are then in different banks

// Inverse of a triangle of order 128, in place in shared memory: row i of the inverse needs row i of the triangle and
// the rows of the inverse above. An upper triangle is turned round, rows and columns, which makes a lower one of it.
template <class T>
__global__ void __launch_bounds__(triangle_block* inverse_lanes)
    invert_blocks_kernel(RowMajor<T> a, InverseOf<T>* lower, InverseOf<T>* upper) {
  using S = InverseOf<T>;
  constexpr int n = triangle_block, pitch = inverse_pitch;
  extern __shared__ __align__(16) unsigned char raw[];
  S* x = reinterpret_cast<S*>(raw);  // n rows
  __shared__ S row[n];
  const bool turned = blockIdx.y == 1;
  const int j = threadIdx.x / inverse_lanes, lane = threadIdx.x % inverse_lanes, first = blockIdx.x * n;
  const auto place = [&](int i) { return turned ? n - 1 - i : i; };
  for (int i = threadIdx.x; i < n * n; i += blockDim.x)
    x[place(i / n) * pitch + place(i % n)] = to_number(*a.at(first + i / n, first + i % n));
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x < n) row[threadIdx.x] = x[i * pitch + threadIdx.x];
    __syncthreads();
    S sum = 0;
#pragma unroll 4
    for (int k = j + lane; k < i; k += inverse_lanes) sum = fma(row[k], x[k * pitch + j], sum);
    for (int other = 1; other < inverse_lanes; other *= 2) sum += __shfl_xor_sync(~0u, sum, other);
    const S inverse = turned ? S(1) / row[i] : S(1);
    if (lane == 0) x[i * pitch + j] = j == i ? inverse : j < i ? -sum * inverse : S(0);
    __syncthreads();
  }
  S* to = (turned ? upper : lower) + static_cast<std::int64_t>(first) * n;
  for (int i = threadIdx.x; i < n * n; i += blockDim.x) to[i] = x[place(i / n) * pitch + place(i % n)];
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
                .block = triangle_block * inverse_lanes,
                .shared_bytes = triangle_block * inverse_pitch * sizeof(InverseOf<T>)},
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
