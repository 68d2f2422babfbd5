// Stands in for src/cuda/launch.hpp: runs the blocks of a launch one after another, on the host.
#pragma once

#include <cstddef>

#include "cuda/ptx.cuh"
#include "cuda_runtime_api.h"

namespace vernier::cuda {

struct LaunchShape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  dim3 cluster = dim3(1);
  bool overlap_previous = false;
};

template <class... Parameters, class... Arguments>
void launch(const char*, void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t,
            const Arguments&... arguments) {
  gridDim = {shape.grid.x, shape.grid.y, shape.grid.z};
  for (unsigned z = 0; z < shape.grid.z; ++z)
    for (unsigned y = 0; y < shape.grid.y; ++y)
      for (unsigned x = 0; x < shape.grid.x; ++x) {
        blockIdx = {x, y, z};
        emulated::Block(static_cast<int>(shape.block.x), [&] { kernel(static_cast<Parameters>(arguments)...); });
      }
}

}  // namespace vernier::cuda
