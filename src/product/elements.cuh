// Kernels that go over the elements of a matrix in device memory once: what the routines that are made of products do
// beside them.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "cuda/launch.hpp"
#include "product/scalars.hpp"
#include "product/scale.hpp"

namespace vernier::cuda {

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

}  // namespace vernier::cuda
