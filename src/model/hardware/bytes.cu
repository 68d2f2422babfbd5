#include "model/hardware/bytes.cuh"

#include "model/hardware/dot_kernel.cuh"

namespace vernier::model::gpu {

DotKernel find_byte_kernel(std::string_view name) {
  DotKernel kernel = nullptr;
  for_each_fp8(KernelFinder{name, &kernel});
  for_each_int8(KernelFinder{name, &kernel});
  return kernel;
}

}  // namespace vernier::model::gpu
