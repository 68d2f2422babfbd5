#include "model/hardware/fp64.cuh"

#include "cuda/status.hpp"
#include "model/hardware/gpu.hpp"

namespace vernier::model::gpu {
namespace {

template <int K>
__global__ void __launch_bounds__(32) evaluate_dot64(Dot* dot) {
  __shared__ Tile64<K> tile;
  const std::uint64_t d = evaluate64<K>(tile, *dot);
  if (threadIdx.x == 0) dot->d = d;
}

template <int K>
void launch_dot64(Dot* dot, cudaStream_t stream) {
  evaluate_dot64<K><<<1, 32, 0, stream>>>(dot);
  cuda::check_launch("evaluate_dot64");
}

}  // namespace

DotKernel find_fp64_kernel(std::string_view name) {
  return name == "mma-fp64-k4" ? launch_dot64<4> : name == "mma-fp64-k16" ? launch_dot64<16> : nullptr;
}

}  // namespace vernier::model::gpu
