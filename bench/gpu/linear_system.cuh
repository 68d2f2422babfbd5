// A system A x = b in device memory, uniform in [-1, 1), and its backward error with residuals in twice the precision.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "timing.hpp"

namespace vernier::bench {

inline __global__ void fill(double* x, std::size_t count, std::uint64_t seed) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    std::uint64_t z = (seed << 40) + i + 0x9E3779B97F4A7C15ull;  // splitmix64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    x[i] = ((z ^ z >> 31) >> 11) * 0x1p-52 - 1;
  }
}

inline __global__ void round_to_float(const double* from, std::size_t count, float* to) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = static_cast<float>(from[i]);
}

// |b - A x| and |A||1| of row i, the first summed in twice the precision.
inline __global__ void rows(const double* a, const double* x, const double* b, int n, double* residual, double* norm) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double high = b[i], low = 0, sum = 0;
  for (int j = 0; j < n; ++j) {
    const double e = a[i + static_cast<std::size_t>(j) * n], p = -e * x[j];
    const double s = high + p, t = s - high;
    low += ((high - (s - t)) + (p - t)) + fma(-e, x[j], -p);
    high = s;
    sum += fabs(e);
  }
  residual[i] = fabs(high + low);
  norm[i] = sum;
}

inline double* device_array(std::size_t count) {
  double* x = nullptr;
  ::bench::check(cudaMalloc(&x, count * sizeof(double)), "memory");
  return x;
}

inline double largest(const double* device, int n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  ::bench::check(cudaMemcpy(x.data(), device, x.size() * sizeof(double), cudaMemcpyDeviceToHost), "copy");
  double most = 0;
  for (const double e : x) most = std::isnan(e) || std::fabs(e) > most ? std::fabs(e) : most;
  return most;
}

inline __global__ void make_definite(double* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
  if (i > j || i >= n) return;
  double& x = a[i + static_cast<std::size_t>(j) * n];
  if (i == j)
    x = 2.0 * n;
  else
    a[j + static_cast<std::size_t>(i) * n] = x;
}

struct System {
  int n;
  std::size_t size;
  double *a, *b, *x, *lu, *work;
  std::int64_t* pivots;
  int *int_pivots, *info;

  explicit System(int order) : n(order), size(static_cast<std::size_t>(order) * static_cast<std::size_t>(order)) {
    a = device_array(size), lu = device_array(size);
    b = device_array(n), x = device_array(n), work = device_array(2 * static_cast<std::size_t>(n));
    ::bench::check(cudaMalloc(&pivots, sizeof(std::int64_t) * n), "memory");
    ::bench::check(cudaMalloc(&int_pivots, sizeof(int) * n), "memory");
    ::bench::check(cudaMalloc(&info, sizeof(int)), "memory");
    fill<<<1024, 256>>>(a, size, 1);
    fill<<<1024, 256>>>(b, n, 2);
  }
  ~System() {
    for (void* p : {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(x), static_cast<void*>(lu),
                    static_cast<void*>(work), static_cast<void*>(pivots), static_cast<void*>(int_pivots),
                    static_cast<void*>(info)})
      ::bench::check(cudaFree(p), "free");
  }
  // A: singular values evenly spaced in their logarithms between products of three random reflections; b: A's row sums.
  void set_condition(double condition) {
    const auto order = static_cast<std::size_t>(n);
    std::vector<double> m(size, 0), v(order), sums(order);
    for (std::size_t i = 0; i < order; ++i)
      m[i * (order + 1)] = std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1));
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    const auto reflect = [&] {  // A - 2 v (v^T A) / v^T v
      double square = 0;
      for (double& e : v) e = normal(random), square += e * e;
      for (std::size_t j = 0; j < order; ++j) {
        double sum = 0;
        for (std::size_t i = 0; i < order; ++i) sum += v[i] * m[i + j * order];
        for (std::size_t i = 0; i < order; ++i) m[i + j * order] -= 2 * sum / square * v[i];
      }
    };
    const auto turn = [&] {
      for (std::size_t j = 0; j < order; ++j)
        for (std::size_t i = 0; i < j; ++i) std::swap(m[i + j * order], m[j + i * order]);
    };
    for (int side = 0; side < 2; ++side, turn())
      for (int r = 0; r < 3; ++r) reflect();
    for (std::size_t j = 0; j < order; ++j)
      for (std::size_t i = 0; i < order; ++i) sums[i] += m[i + j * order];
    ::bench::check(cudaMemcpy(a, m.data(), size * sizeof(double), cudaMemcpyHostToDevice), "copy");
    ::bench::check(cudaMemcpy(b, sums.data(), order * sizeof(double), cudaMemcpyHostToDevice), "copy");
  }
  void copy_matrix() { ::bench::check(cudaMemcpy(lu, a, size * sizeof(double), cudaMemcpyDeviceToDevice), "copy"); }
  double backward_error() {
    rows<<<(n + 63) / 64, 64>>>(a, x, b, n, work, work + n);
    return largest(work, n) / (largest(work + n, n) * largest(x, n) + largest(b, n));
  }
};

}  // namespace vernier::bench
