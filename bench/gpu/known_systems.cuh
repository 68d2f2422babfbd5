// Systems of known_rule.hpp in device memory.
#pragma once

#include <stdexcept>

#include "known_rule.hpp"
#include "measure.cuh"
#include "vernier/cuda.hpp"

namespace vernier::bench {

__global__ inline void fill_factor(KnownRule r, bool left, double* x) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < r.n * r.n) x[at] = factor_element(r, left, at % r.n, at / r.n);
}

__global__ inline void fill_formula(KnownRule r, double* x) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < r.n * r.n) x[at] = formula_element(r, at % r.n, at / r.n);
}

__global__ inline void fill_solution(KnownRule r, double* x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < r.n) x[i] = solution_element(r, i);
}

__global__ inline void cut_to_grid(KnownRule r, double* x) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < r.n * r.n) x[at] = on_grid(r, x[at]);
}

// b = A x; lost: counts rows in which an operation rounded.
__global__ inline void exact_product(KnownRule r, const double* a, const double* x, double* b, unsigned* lost) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= r.n) return;
  double sum = 0;
  bool rounded = false;
  for (std::int64_t j = 0; j < r.n; ++j) sum = add_exactly(sum, a[i + j * r.n], x[j], rounded);
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
