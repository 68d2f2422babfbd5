// Systems A x = b in device memory whose exact x is known: A is cut to multiples of a power of two, x holds small
// integers, so that b = A x is a double without any rounding; then rows and columns may be scaled by powers of two.
#pragma once

#include <cmath>
#include <stdexcept>

#include "measure.cuh"
#include "vernier/cuda.hpp"

namespace vernier::bench {

enum class KnownFamily { integers, condition, condition_graded, cauchy, vandermonde, count };

inline const char* name_of(KnownFamily f) {
  constexpr const char* names[] = {"integers", "condition 1e2 to 1e14", "the same, rows and columns graded", "Cauchy",
                                   "Vandermonde"};
  return names[static_cast<int>(f)];
}

struct KnownRule {
  KnownFamily family;
  std::int64_t n;
  std::uint64_t seed;
  double decades;  // of singular values
  int grid;        // bits of an element
  int terms;       // elements of x that are not zero
  int grades;      // exponents of rows and columns are below this in magnitude
};

__device__ inline double uniform_of(std::uint64_t seed, std::uint64_t i) {  // [0, 1)
  return static_cast<double>(mixed(mixed(seed) + i) >> 11) * 0x1p-53;
}
__device__ inline int grade_of(const KnownRule& r, std::uint64_t side, std::int64_t i) {
  if (r.grades == 0) return 0;
  return static_cast<int>(mixed(mixed(r.seed + side) + static_cast<std::uint64_t>(i)) %
                          static_cast<std::uint64_t>(2 * r.grades + 1)) -
         r.grades;
}

// Orthogonal: cosines with random signs; columns times falling singular values where it is the left factor.
__global__ inline void fill_factor(KnownRule r, bool left, double* x) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, n = r.n;
  if (at >= n * n) return;
  const std::int64_t i = at % n, j = at / n, wave = left ? j : i, place = left ? i : j;
  const double count = static_cast<double>(n), sign = uniform_of(r.seed + (left ? 1 : 2), place) < 0.5 ? -1 : 1;
  double e = sign * sqrt((wave == 0 ? 1 : 2) / count) *
             cospi(static_cast<double>((2 * place + 1) * wave % (4 * n)) / (2 * count));
  if (left) e *= exp10(-r.decades * static_cast<double>(wave) / fmax(count - 1, 1));
  x[at] = e;
}

__global__ inline void fill_formula(KnownRule r, double* x) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, n = r.n;
  if (at >= n * n) return;
  const std::int64_t i = at % n, j = at / n;
  const double u = uniform_of(r.seed, at);
  x[at] = r.family == KnownFamily::cauchy        ? 1 / (static_cast<double>(i + j + 1) + uniform_of(r.seed, 0))
          : r.family == KnownFamily::vandermonde ? pow(2 * uniform_of(r.seed, i) - 1, static_cast<double>(j))
                                                 : 2 * u - 1;
}

__global__ inline void fill_solution(KnownRule r, double* x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= r.n) return;
  const std::int64_t step = r.n / r.terms;
  const double sign = uniform_of(r.seed + 3, i) < 0.5 ? -1 : 1;
  x[i] = i % step == step / 2 && i / step < r.terms ? sign : 0;
}

// |x| < 1 -> integers below 2^grid, of which none is lost.
__global__ inline void cut_to_grid(KnownRule r, double* x) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < r.n * r.n) x[at] = rint(ldexp(x[at], r.grid));
}

// b = A x; lost: counts rows in which an operation rounded.
__global__ inline void exact_product(KnownRule r, const double* a, const double* x, double* b, unsigned* lost) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= r.n) return;
  double sum = 0;
  bool rounded = false;
  for (std::int64_t j = 0; j < r.n; ++j) {
    const double e = a[i + j * r.n], p = e * x[j], s = sum + p, of_p = s - sum;
    rounded = rounded || fma(e, x[j], -p) != 0 || (sum - (s - of_p)) + (p - of_p) != 0;
    sum = s;
  }
  b[i] = sum;
  if (rounded) atomicAdd(lost, 1u);
}

// Row i of A and b times 2^(its grade), column j times 2^(its grade), x the other way round.
__global__ inline void grade(KnownRule r, double* a, double* x, double* b) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, n = r.n;
  if (at >= n * n) return;
  const std::int64_t i = at % n, j = at / n;
  a[at] = ldexp(a[at], grade_of(r, 5, i) + grade_of(r, 6, j));
  if (j == 0) b[i] = ldexp(b[i], grade_of(r, 5, i)), x[i] = ldexp(x[i], -grade_of(r, 6, i));
}

// Entries that do not hold x.
__global__ inline void count_misses(std::int64_t n, const double* x, const double* low, const double* high,
                                    unsigned* misses) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n && !(low[i] <= x[i] && x[i] <= high[i])) atomicAdd(misses, 1u);
}

// Room for systems up to some order, which are made in it one after the other.
class KnownSystem {
 public:
  explicit KnownSystem(std::int64_t most)
      : a_(most, most),
        work_(most, most),
        right_(most, most),
        x(most, 1),
        b(most, 1),
        low(most, 1),
        high(most, 1),
        count_(1, 1) {}

  void make(const KnownRule& r) {
    const unsigned squares = blocks(r.n * r.n), rows = blocks(r.n);
    if (r.decades > 0) {
      const double one = 1, zero = 0;
      fill_factor<<<squares, threads>>>(r, true, work_.data());
      fill_factor<<<squares, threads>>>(r, false, right_.data());
      cuda::gemm(Op::none, Op::none, r.n, r.n, r.n, &one, work_.data(), r.n, right_.data(), r.n, &zero, a_.data(), r.n,
                 {.contract = Contract::fp64()});
    } else {
      fill_formula<<<squares, threads>>>(r, a_.data());
    }
    cut_to_grid<<<squares, threads>>>(r, a_.data());
    fill_solution<<<rows, threads>>>(r, x.data());
    check(cudaMemset(count_.data(), 0, sizeof(unsigned)), "count");
    exact_product<<<rows, threads>>>(r, a_.data(), x.data(), b.data(), count_.data());
    if (count_.on_host()[0] != 0) throw std::runtime_error("b was rounded");
    if (r.grades > 0) grade<<<squares, threads>>>(r, a_.data(), x.data(), b.data());
    for (const DeviceMatrix<double>* end : {&low, &high})  // NaN: what is not written holds nothing
      check(cudaMemset(end->data(), 0xff, static_cast<std::size_t>(r.n) * sizeof(double)), "ends");
    check(cudaDeviceSynchronize(), "system");
  }
  const double* a() const { return a_.data(); }
  unsigned misses(std::int64_t n) const {
    check(cudaMemset(count_.data(), 0, sizeof(unsigned)), "count");
    count_misses<<<blocks(n), threads>>>(n, x.data(), low.data(), high.data(), count_.data());
    return count_.on_host()[0];
  }

 private:
  static constexpr unsigned threads = 256;
  static unsigned blocks(std::int64_t count) { return static_cast<unsigned>((count + threads - 1) / threads); }

  DeviceMatrix<double> a_, work_, right_;

 public:
  DeviceMatrix<double> x, b, low, high;

 private:
  DeviceMatrix<unsigned> count_;
};

}  // namespace vernier::bench
