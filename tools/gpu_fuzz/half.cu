// fp16 and bf16.
#include "engine/spec_rows.hpp"
#include "kernel.cuh"

namespace vernier::model::gpu {
namespace {

constexpr Engine fp16_fp32 = block_engine(Format::fp16, Format::fp32, 16, 16, 25, -133);
constexpr Engine bf16_fp32 = block_engine(Format::bf16, Format::fp32, 16, 16, 25, -133);
constexpr Engine fp16_fp16 = block_engine(Format::fp16, Format::fp16, 16, 16, 25, -21);

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

}  // namespace

void add_half_runners(Runners& r) {
  r.push_back(std::make_unique<KernelRunner<mma_f16_f32_instruction>>("hopper-mma-fp16-fp32"));
  r.push_back(std::make_unique<KernelRunner<mma_bf16_f32_instruction>>("hopper-mma-bf16-fp32"));
  r.push_back(std::make_unique<KernelRunner<mma_f16_f16_instruction>>("hopper-mma-fp16-fp16"));
  r.push_back(std::make_unique<KernelRunner<wgmma_f16_f32_instruction>>("hopper-wgmma-fp16-fp32"));
  r.push_back(std::make_unique<KernelRunner<wgmma_bf16_f32_instruction>>("hopper-wgmma-bf16-fp32"));
  r.push_back(std::make_unique<KernelRunner<wgmma_f16_f16_instruction>>("hopper-wgmma-fp16-fp16"));
  r.push_back(std::make_unique<KernelRunner<mma_sp_f16_f32_instruction>>("hopper-mma-sp-fp16-fp32"));
  r.push_back(std::make_unique<KernelRunner<mma_sp_bf16_f32_instruction>>("hopper-mma-sp-bf16-fp32"));
  r.push_back(std::make_unique<KernelRunner<wgmma_sp_f16_f32_instruction>>("hopper-wgmma-sp-fp16-fp32"));
  r.push_back(std::make_unique<KernelRunner<wgmma_sp_bf16_f32_instruction>>("hopper-wgmma-sp-bf16-fp32"));
}

}  // namespace vernier::model::gpu
