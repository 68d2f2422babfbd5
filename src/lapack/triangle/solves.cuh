// A triangular solve is one kernel: a block of threads for each 128 unknowns, which takes them in the order of
// substitution, so that nobody waits for one who has not begun. Unknowns are published as they are: a word of `out`
// that is no longer `absent` is a solution. Diagonal blocks are inverted beforehand, what a block multiplies next is in
// registers before its unknowns appear, and what comes then on its way.
#pragma once

#include <type_traits>

#include "cuda/ptx.cuh"
#include "lapack/triangle/pieces.cuh"

namespace vernier::cuda {

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
    bits = load_volatile(reinterpret_cast<const longlong2*>(x));
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
  alignas(16) __shared__ double rhs[triangle_block], unknowns[2][triangle_block];
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

}  // namespace vernier::cuda
