// fp16, bf16 and tf32 instructions of Hopper.
#include "model/hardware/warpgroup.cuh"
#include "model/spec_rows.hpp"

#include "model/hardware/dot_kernel.cuh"

namespace vernier::model::gpu {

inline constexpr Engine fp16_fp32 = block_engine(Format::fp16, Format::fp32, 16, 16, 25, -133);
inline constexpr Engine bf16_fp32 = block_engine(Format::bf16, Format::fp32, 16, 16, 25, -133);
inline constexpr Engine fp16_fp16 = block_engine(Format::fp16, Format::fp16, 16, 16, 25, -21);

VERNIER_INSTRUCTION(mma_f16_f32, false, fp16_fp32)
VERNIER_INSTRUCTION(mma_bf16_f32, false, bf16_fp32)
VERNIER_INSTRUCTION(mma_f16_f16, false, fp16_fp16)
VERNIER_INSTRUCTION(wgmma_f16_f32, true, fp16_fp32)
VERNIER_INSTRUCTION(wgmma_bf16_f32, true, bf16_fp32)
VERNIER_INSTRUCTION(wgmma_f16_f16, true, fp16_fp16)
VERNIER_ANY_INSTRUCTION(mma_sp_f16_f32, false, true, fp16_fp32)
VERNIER_ANY_INSTRUCTION(mma_sp_bf16_f32, false, true, bf16_fp32)
VERNIER_ANY_INSTRUCTION(wgmma_sp_f16_f32, true, true, fp16_fp32)
VERNIER_ANY_INSTRUCTION(wgmma_sp_bf16_f32, true, true, bf16_fp32)

template <class Visit>
void for_each_half(const Visit& visit) {
  visit("mma-fp16-fp32", mma_f16_f32_instruction{});
  visit("mma-bf16-fp32", mma_bf16_f32_instruction{});
  visit("mma-fp16-fp16", mma_f16_f16_instruction{});
  visit("wgmma-fp16-fp32", wgmma_f16_f32_instruction{});
  visit("wgmma-bf16-fp32", wgmma_bf16_f32_instruction{});
  visit("wgmma-fp16-fp16", wgmma_f16_f16_instruction{});
  visit("mma-sp-fp16-fp32", mma_sp_f16_f32_instruction{});
  visit("mma-sp-bf16-fp32", mma_sp_bf16_f32_instruction{});
  visit("wgmma-sp-fp16-fp32", wgmma_sp_f16_f32_instruction{});
  visit("wgmma-sp-bf16-fp32", wgmma_sp_bf16_f32_instruction{});
}

DotKernel find_half_kernel(std::string_view name) {
  DotKernel kernel = nullptr;
  for_each_half(KernelFinder{name, &kernel});
  return kernel;
}

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
