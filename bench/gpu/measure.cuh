// What the benchmarks of products on a GPU share: data, beside timing.hpp.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "timing.hpp"

namespace vernier::bench {

using ::bench::check, ::bench::median, ::bench::Timer;

__device__ inline std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

// (rand - 0.5) exp(phi randn)
template <class T>
__global__ void fill(T* x, std::size_t count, std::uint64_t seed, double phi) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const std::uint64_t a = mixed(seed * 0x100000001ull + i), b = mixed(a), c = mixed(b);
    const double u = (a >> 11) * 0x1p-53, v = ((b >> 11) + 1) * 0x1p-53, w = (c >> 11) * 0x1p-53;
    x[i] = static_cast<T>((u - 0.5) * exp(phi * sqrt(-2 * log(v)) * cospi(2 * w)));
  }
}

template <class T>
class DeviceMatrix {
 public:
  DeviceMatrix(std::int64_t rows, std::int64_t columns) : count_(static_cast<std::size_t>(rows * columns)) {
    check(cudaMalloc(&data_, count_ * sizeof(T)), "memory");
  }
  DeviceMatrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed, double phi) : DeviceMatrix(rows, columns) {
    fill<<<1024, 256>>>(data_, count_, seed, phi);
  }
  ~DeviceMatrix() { (void)cudaFree(data_); }
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;

  T* data() const { return data_; }
  std::size_t count() const { return count_; }
  std::vector<T> on_host() const {
    std::vector<T> x(count_);
    check(cudaMemcpy(x.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copy");
    return x;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

}  // namespace vernier::bench
