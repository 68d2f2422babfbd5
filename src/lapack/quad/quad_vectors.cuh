// Kernels of vectors in dd: their sizes, residuals as fp64 factors take them, corrections.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "cuda/launch.hpp"
#include "number/host_device.hpp"
#include "residue/quad/dd_arithmetic.hpp"
#include "vernier/quad.hpp"

namespace vernier::cuda {

inline constexpr int vector_threads = 128;

// Largest magnitudes of columns as bits of a double, zeros at first: a NaN is larger than all numbers.
using ColumnSize = unsigned long long;

VERNIER_HD inline double size_of(const dd& x) { return std::fabs(x.hi + x.lo); }
__device__ inline void enlarge(ColumnSize& size, double x) {
  const auto bits = std::bit_cast<ColumnSize>(x);
  if (bits > size) atomicMax(&size, bits);
}

// Exponent of a column whose size is that.
VERNIER_HD inline int shift_of(ColumnSize size) {
  const auto x = std::bit_cast<double>(size);
  return x > 0 && x <= 0x1.fffffffffffffp1023 ? std::ilogb(x) : 0;
}

// Thread -> entry i of column c.
struct QuadVectorPlace {
  std::int64_t i, c;
  __device__ explicit QuadVectorPlace(std::int64_t n) {
    const std::int64_t blocks = (n + vector_threads - 1) / vector_threads;
    c = blockIdx.x / blocks;
    i = blockIdx.x % blocks * vector_threads + threadIdx.x;
  }
};

// B, of double or dd, as dd without gaps; and its sizes.
template <class TB>
__global__ void __launch_bounds__(vector_threads)
    load_vectors(std::int64_t n, const TB* from, std::int64_t ld, dd* to, ColumnSize* sizes) {
  const QuadVectorPlace p(n);
  if (p.i >= n) return;
  const dd x(from[p.i + p.c * ld]);
  to[p.i + p.c * n] = x;
  enlarge(sizes[p.c], size_of(x));
}

__global__ void __launch_bounds__(vector_threads)
    measure_vectors_of_dd(std::int64_t n, const dd* x, ColumnSize* sizes) {
  const QuadVectorPlace p(n);
  if (p.i < n) enlarge(sizes[p.c], size_of(x[p.i + p.c * n]));
}

// The leading part, times a power of two that brings columns of these sizes near 1.
__global__ void __launch_bounds__(vector_threads)
    scale_vectors(std::int64_t n, const dd* d, const ColumnSize* sizes, double* out) {
  const QuadVectorPlace p(n);
  if (p.i < n) out[p.i + p.c * n] = std::ldexp(d[p.i + p.c * n].hi, -shift_of(sizes[p.c]));
}

// d is what was solved times the same powers; next = x + d.
struct Correction {
  std::int64_t n;
  const double* solved;
  const ColumnSize* scales;
  const dd* x;
  dd *d, *next;
  ColumnSize *size_d, *size_next;
};
__global__ void __launch_bounds__(vector_threads) add_correction(const __grid_constant__ Correction task) {
  const QuadVectorPlace p(task.n);
  if (p.i >= task.n) return;
  const std::int64_t e = p.i + p.c * task.n;
  const dd d(std::ldexp(task.solved[e], shift_of(task.scales[p.c]))), next = task.x[e] + d;
  task.d[e] = d, task.next[e] = next;
  enlarge(task.size_d[p.c], size_of(d));
  enlarge(task.size_next[p.c], size_of(next));
}

inline LaunchShape vector_shape(std::int64_t n, std::int64_t columns) {
  return {.grid = dim3(static_cast<unsigned>((n + vector_threads - 1) / vector_threads * columns)),
          .block = dim3(vector_threads)};
}

}  // namespace vernier::cuda
