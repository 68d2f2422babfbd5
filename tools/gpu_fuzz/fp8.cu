// fp8: mma.sync and wgmma are different engines.
#include "engine/spec_rows.hpp"
#include "kernel.cuh"

namespace vernier::model::gpu {
namespace {

constexpr Engine mma_e4m3 = split_fp8_engine(Format::e4m3);
constexpr Engine mma_e5m2 = split_fp8_engine(Format::e5m2);
constexpr Engine e4m3_fp32 = fp8_engine(Format::e4m3, Format::fp32, 32, 32, -133);
constexpr Engine e5m2_fp32 = fp8_engine(Format::e5m2, Format::fp32, 32, 32, -133);
constexpr Engine e4m3_fp16 = fp8_engine(Format::e4m3, Format::fp16, 32, 32, -133);
constexpr Engine e5m2_fp16 = fp8_engine(Format::e5m2, Format::fp16, 32, 32, -133);

VERNIER_INSTRUCTION(mma_e4m3_f32, false, mma_e4m3)
VERNIER_INSTRUCTION(mma_e5m2_f32, false, mma_e5m2)
VERNIER_INSTRUCTION(wgmma_e4m3_f32, true, e4m3_fp32)
VERNIER_INSTRUCTION(wgmma_e5m2_f32, true, e5m2_fp32)
VERNIER_INSTRUCTION(wgmma_e4m3_f16, true, e4m3_fp16)
VERNIER_INSTRUCTION(wgmma_e5m2_f16, true, e5m2_fp16)

}  // namespace

void add_fp8_runners(Runners& r) {
  r.push_back(std::make_unique<KernelRunner<mma_e4m3_f32_instruction>>("hopper-mma-e4m3-fp32"));
  r.push_back(std::make_unique<KernelRunner<mma_e5m2_f32_instruction>>("hopper-mma-e5m2-fp32"));
  r.push_back(std::make_unique<KernelRunner<wgmma_e4m3_f32_instruction>>("hopper-wgmma-e4m3-fp32"));
  r.push_back(std::make_unique<KernelRunner<wgmma_e5m2_f32_instruction>>("hopper-wgmma-e5m2-fp32"));
  r.push_back(std::make_unique<KernelRunner<wgmma_e4m3_f16_instruction>>("hopper-wgmma-e4m3-fp16"));
  r.push_back(std::make_unique<KernelRunner<wgmma_e5m2_f16_instruction>>("hopper-wgmma-e5m2-fp16"));
}

}  // namespace vernier::model::gpu
