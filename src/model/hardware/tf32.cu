// tf32 instructions of Hopper.
#include "model/hardware/warpgroup.cuh"
#include "model/spec_rows.hpp"

#include "model/hardware/dot_kernel.cuh"

namespace vernier::model::gpu {

inline constexpr Engine tf32_fp32 = block_engine(Format::tf32, Format::fp32, 8, 8, 25, -133);

VERNIER_INSTRUCTION(mma_tf32_f32, false, tf32_fp32)
VERNIER_INSTRUCTION(wgmma_tf32_f32, true, tf32_fp32)

template <class Visit>
void for_each_tf32(const Visit& visit) {
  visit("mma-tf32-fp32", mma_tf32_f32_instruction{});
  visit("wgmma-tf32-fp32", wgmma_tf32_f32_instruction{});
}

DotKernel find_tf32_kernel(std::string_view name) {
  DotKernel kernel = nullptr;
  for_each_tf32(KernelFinder{name, &kernel});
  return kernel;
}

}  // namespace vernier::model::gpu
