// Stands in for src/cuda/device.hpp: the device's memory is the host's, and copies are made at once.
#pragma once

#include <cstddef>
#include <cstring>

#include "cuda_runtime_api.h"

namespace vernier::cuda {

enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
inline constexpr int cudaSuccess = 0;

inline void check(int, const char*) {}
inline int cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline int cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  std::memset(to, value, bytes);
  return cudaSuccess;
}
inline int cudaMemcpy2DAsync(void* to, std::size_t to_step, const void* from, std::size_t from_step, std::size_t width,
                             std::size_t height, cudaMemcpyKind, cudaStream_t) {
  for (std::size_t j = 0; j < height; ++j)
    std::memcpy(static_cast<char*>(to) + j * to_step, static_cast<const char*>(from) + j * from_step, width);
  return cudaSuccess;
}

}  // namespace vernier::cuda
