#include "model/hardware/half.cuh"

#include "model/hardware/dot_kernel.cuh"

namespace vernier::model::gpu {

DotKernel find_half_kernel(std::string_view name) {
  DotKernel kernel = nullptr;
  for_each_half(KernelFinder{name, &kernel});
  return kernel;
}

}  // namespace vernier::model::gpu
