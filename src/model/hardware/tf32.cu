#include "model/hardware/tf32.cuh"

#include "model/hardware/dot_kernel.cuh"

namespace vernier::model::gpu {

DotKernel find_tf32_kernel(std::string_view name) {
  DotKernel kernel = nullptr;
  for_each_tf32(KernelFinder{name, &kernel});
  return kernel;
}

}  // namespace vernier::model::gpu
