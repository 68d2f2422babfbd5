// tf32.
#include "engine/spec_rows.hpp"
#include "kernel.cuh"

namespace vernier::model::gpu {
namespace {

constexpr Engine tf32_fp32 = block_engine(Format::tf32, Format::fp32, 8, 8, 25, -133);

VERNIER_INSTRUCTION(mma_tf32_f32, false, tf32_fp32)
VERNIER_INSTRUCTION(wgmma_tf32_f32, true, tf32_fp32)

}  // namespace

void add_tf32_runners(Runners& r) {
  r.push_back(std::make_unique<KernelRunner<mma_tf32_f32_instruction>>("hopper-mma-tf32-fp32"));
  r.push_back(std::make_unique<KernelRunner<wgmma_tf32_f32_instruction>>("hopper-wgmma-tf32-fp32"));
}

}  // namespace vernier::model::gpu
