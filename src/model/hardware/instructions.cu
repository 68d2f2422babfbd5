// The kernels that evaluate one dot product on one instruction.
#include "cuda/status.hpp"
#include "model/hardware/gpu.hpp"
#include "model/hardware/instructions.cuh"

namespace vernier::model::gpu {
namespace {

template <class I>
__global__ void __launch_bounds__(128) evaluate_dot(Dot* dot) {
  __shared__ __align__(1024) Tile tile;
  const std::uint32_t d = evaluate<I>(tile, *dot);
  if (threadIdx.x == 0) dot->d = d;
}

template <int K>
__global__ void __launch_bounds__(32) evaluate_dot64(Dot* dot) {
  __shared__ Tile64<K> tile;
  const std::uint64_t d = evaluate64<K>(tile, *dot);
  if (threadIdx.x == 0) dot->d = d;
}

template <void (*Kernel)(Dot*), int Threads>
void launch_dot(Dot* dot, cudaStream_t stream) {
  Kernel<<<1, Threads, 0, stream>>>(dot);
  cuda::check_launch("evaluate_dot");
}

}  // namespace

DotKernel find_kernel(std::string_view name) {
  DotKernel found = name == "mma-fp64-k4"    ? launch_dot<evaluate_dot64<4>, 32>
                    : name == "mma-fp64-k16" ? launch_dot<evaluate_dot64<16>, 32>
                                             : nullptr;
  const auto look = [&]<class I>(I) {
    if (I::name == name) found = launch_dot<evaluate_dot<I>, 128>;
  };
  HalfInstructions::each(look), Tf32Instructions::each(look), Fp8Instructions::each(look), Int8Instructions::each(look);
  return found;
}

}  // namespace vernier::model::gpu
