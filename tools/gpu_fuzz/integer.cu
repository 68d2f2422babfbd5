// int8, wrapping and saturating.
#include "engine/spec_rows.hpp"
#include "kernel.cuh"

namespace vernier::model::gpu {
namespace {

constexpr Engine wraps = integer_engine(Format::int8, Format::int8, 32, 32, Overflow::wrap);
constexpr Engine saturates = integer_engine(Format::int8, Format::int8, 32, 32, Overflow::saturate_end);

VERNIER_INSTRUCTION(mma_s8_s32, false, wraps)
VERNIER_INSTRUCTION(mma_s8_s32_satfinite, false, saturates)
VERNIER_INSTRUCTION(wgmma_s8_s32, true, wraps)
VERNIER_INSTRUCTION(wgmma_s8_s32_satfinite, true, saturates)

}  // namespace

void add_integer_runners(Runners& r) {
  r.push_back(std::make_unique<KernelRunner<mma_s8_s32_instruction>>("hopper-mma-int8"));
  r.push_back(std::make_unique<KernelRunner<mma_s8_s32_satfinite_instruction>>("hopper-mma-int8-satfinite"));
  r.push_back(std::make_unique<KernelRunner<wgmma_s8_s32_instruction>>("hopper-wgmma-int8"));
  r.push_back(std::make_unique<KernelRunner<wgmma_s8_s32_satfinite_instruction>>("hopper-wgmma-int8-satfinite"));
}

}  // namespace vernier::model::gpu
