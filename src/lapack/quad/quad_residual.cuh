// Kernels of B - A X for A of double and X in dd, in sums of three doubles.
#pragma once

#include <cstdint>

#include "cuda/launch.hpp"
#include "number/host_device.hpp"
#include "vernier/quad.hpp"

namespace vernier::cuda {

inline constexpr int residual_threads = 128;

// Sums of three levels: what a level rounds off goes to the next one, and of the last one is lost. Of N numbers whose
// magnitudes add up to S that is at most (N u)^3 S (Ogita, Rump, Oishi: SIAM J. Sci. Comput. 26, 2005).
struct TripleSum {
  double s[3] = {};

  VERNIER_HD void add_below(double x) { s[2] += two_sum(s[1], x); }
  VERNIER_HD void add(double x) { add_below(two_sum(s[0], x)); }
  VERNIER_HD void add_product(double a, double h, double l) {  // a (h + l)
    const double p = a * h, q = a * l;
    add(p);
    add_below(fma(a, h, -p));
    add_below(q);
    s[2] += fma(a, l, -q);
  }
  VERNIER_HD void add(const TripleSum& other) {
    add(other.s[0]);
    add_below(other.s[1]);
    s[2] += other.s[2];
  }
  // hi and lo rounded, their sum within 2^-104 of it.
  VERNIER_HD dd rounded() const {
    double sum = s[0], middle = two_sum(sum, s[1]);
    const double low = two_sum(middle, s[2]), rest = two_sum(sum, middle) + low, last = two_sum(sum, rest);
    return {sum, last};
  }

 private:
  // sum += x; returns what that rounds off.
  VERNIER_HD static double two_sum(double& sum, double x) {
    const double s = sum + x, of_x = s - sum, rest = (sum - (s - of_x)) + (x - of_x);
    sum = s;
    return rest;
  }
};

// partial[column][slice][row]: sums over a slice of A's columns.
__global__ void __launch_bounds__(residual_threads)
    slice_products(std::int64_t n, const double* a, std::int64_t lda, const dd* x, TripleSum* partial) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * residual_threads + threadIdx.x, slices = gridDim.y,
                     length = (n + slices - 1) / slices, first = blockIdx.y * length,
                     end = first + length < n ? first + length : n, c = blockIdx.z;
  if (i >= n) return;
  TripleSum sum;
#pragma unroll 4
  for (std::int64_t l = first; l < end; ++l) {
    const dd e = x[l + c * n];
    sum.add_product(a[i + l * lda], -e.hi, -e.lo);
  }
  partial[i + (blockIdx.y + c * slices) * n] = sum;
}

// r, B at first: added to the sums of all slices.
__global__ void __launch_bounds__(residual_threads)
    add_products(std::int64_t n, std::int64_t slices, const TripleSum* partial, dd* r) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * residual_threads + threadIdx.x, c = blockIdx.y;
  if (i >= n) return;
  TripleSum sum;
  sum.add(r[i + c * n].hi), sum.add(r[i + c * n].lo);
  for (std::int64_t s = 0; s < slices; ++s) sum.add(partial[i + (s + c * slices) * n]);
  r[i + c * n] = sum.rounded();
}

// r = B - A X for n x columns, r B at first; partial: slices n columns.
struct Residual {
  std::int64_t n, columns, slices;
  const double* a;
  std::int64_t lda;
  const dd* x;
  TripleSum* partial;
  dd* r;
};
inline void launch_residual(const Residual& p, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((p.n + residual_threads - 1) / residual_threads);
  const auto count = static_cast<unsigned>(p.columns);
  launch("slice_products", slice_products,
         {.grid = dim3(blocks, static_cast<unsigned>(p.slices), count), .block = dim3(residual_threads)}, stream, p.n,
         p.a, p.lda, p.x, p.partial);
  launch("add_products", add_products, {.grid = dim3(blocks, count), .block = dim3(residual_threads)}, stream, p.n,
         p.slices, p.partial, p.r);
}

}  // namespace vernier::cuda
