// Kernels that go over the elements of a matrix in device memory once: what the routines that are made of products do
// beside them.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "cuda/gate.hpp"
#include "cuda/launch.hpp"
#include "product/scalars.cuh"
#include "product/update.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

struct Elements {
  std::int64_t rows, columns;
  Gate gate = {};  // closed: nothing is done
};

inline constexpr int element_threads = 256;

// body(i, j) for every element, neighbours in a column by neighbouring threads.
template <class Body>
__device__ void for_each_element(Elements size, Body body) {
  if (size.gate.closed()) return;
  for (std::int64_t j = blockIdx.y; j < size.columns; j += gridDim.y)
    for (std::int64_t i = std::int64_t{blockIdx.x} * element_threads + threadIdx.x; i < size.rows;
         i += std::int64_t{gridDim.x} * element_threads)
      body(i, j);
}

template <class... Parameters, class... Arguments>
void launch_elements(const char* name, void (*kernel)(Elements, Parameters...), Elements size, cudaStream_t stream,
                     Arguments... arguments) {
  const auto across = (size.rows + element_threads - 1) / element_threads;
  const dim3 grid(static_cast<unsigned>(std::min<std::int64_t>(across, 65536)),
                  static_cast<unsigned>(std::min<std::int64_t>(size.columns, 65535)));
  launch(name, kernel, {.grid = grid, .block = dim3(element_threads)}, stream, size, arguments...);
}

template <class T>
__global__ void update_elements(Elements size, DeviceFactor<T> alpha, const T* t, std::int64_t ldt,
                                DeviceFactor<T> beta, T* c, std::int64_t ldc) {
  const T a = value_of(alpha), b = value_of(beta);
  for_each_element(size, [&](std::int64_t i, std::int64_t j) {
    T& out = c[i + j * ldc];
    if (a == T{0})  // found out only here: T may hold a NaN that is not wanted
      out = b == T{0} ? T{0} : times(b, out);
    else
      out = updated(a, t[i + j * ldt], b, out);
  });
}

// C = alpha T + beta C.
template <class T>
void update_on_device(const Elements& size, const DeviceFactor<T>& alpha, const T* t, std::int64_t ldt,
                      const DeviceFactor<T>& beta, T* c, std::int64_t ldc, cudaStream_t stream) {
  launch_elements("update_elements", update_elements<T>, size, stream, alpha, t, ldt, beta, c, ldc);
}

}  // namespace vernier::cuda
