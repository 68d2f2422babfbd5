// The kernel that evaluates one dot product on one instruction.
#pragma once

#include "cuda/status.hpp"
#include "model/hardware/gpu.hpp"
#include "model/hardware/warpgroup.cuh"

namespace vernier::model::gpu {

template <class I>
__global__ void __launch_bounds__(128) evaluate_dot(Dot* dot) {
  __shared__ __align__(1024) Tile tile;
  const std::uint32_t d = evaluate<I>(tile, *dot);
  if (threadIdx.x == 0) dot->d = d;
}

template <class I>
void launch_dot(Dot* dot, cudaStream_t stream) {
  evaluate_dot<I><<<1, 128, 0, stream>>>(dot);
  cuda::check_launch("evaluate_dot");
}

// A visitor of lists of instructions that keeps the launch of one.
struct KernelFinder {
  std::string_view wanted;
  DotKernel* found;
  template <class I>
  void operator()(const char* name, I) const {
    if (wanted == name) *found = launch_dot<I>;
  }
};

}  // namespace vernier::model::gpu
