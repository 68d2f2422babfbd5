// fp8 and int8 instructions of Hopper. For fp8, mma.sync and wgmma are different engines.
#include "model/hardware/warpgroup.cuh"
#include "model/spec_rows.hpp"

#include "model/hardware/dot_kernel.cuh"

namespace vernier::model::gpu {

inline constexpr Engine mma_e4m3 = split_fp8_engine(Format::e4m3, Format::fp32);
inline constexpr Engine mma_e5m2 = split_fp8_engine(Format::e5m2, Format::fp32);
inline constexpr Engine mma_e4m3_half = split_fp8_engine(Format::e4m3, Format::fp16);
inline constexpr Engine mma_e5m2_half = split_fp8_engine(Format::e5m2, Format::fp16);
inline constexpr Engine e4m3_fp32 = fp8_engine(Format::e4m3, Format::fp32, 32, 32, -133);
inline constexpr Engine e5m2_fp32 = fp8_engine(Format::e5m2, Format::fp32, 32, 32, -133);
inline constexpr Engine e4m3_fp16 = fp8_engine(Format::e4m3, Format::fp16, 32, 32, -133);
inline constexpr Engine e5m2_fp16 = fp8_engine(Format::e5m2, Format::fp16, 32, 32, -133);
inline constexpr Engine wraps = integer_engine(Format::int8, Format::int8, 32, 32, Overflow::wrap);
inline constexpr Engine saturates = integer_engine(Format::int8, Format::int8, 32, 32, Overflow::saturate_end);

VERNIER_INSTRUCTION(mma_e4m3_f32, false, mma_e4m3)
VERNIER_INSTRUCTION(mma_e5m2_f32, false, mma_e5m2)
VERNIER_INSTRUCTION(mma_e4m3_f16, false, mma_e4m3_half)
VERNIER_INSTRUCTION(mma_e5m2_f16, false, mma_e5m2_half)
VERNIER_INSTRUCTION(wgmma_e4m3_f32, true, e4m3_fp32)
VERNIER_INSTRUCTION(wgmma_e5m2_f32, true, e5m2_fp32)
VERNIER_INSTRUCTION(wgmma_e4m3_f16, true, e4m3_fp16)
VERNIER_INSTRUCTION(wgmma_e5m2_f16, true, e5m2_fp16)
VERNIER_INSTRUCTION(mma_s8_s32, false, wraps)
VERNIER_INSTRUCTION(mma_s8_s32_satfinite, false, saturates)
VERNIER_INSTRUCTION(wgmma_s8_s32, true, wraps)
VERNIER_INSTRUCTION(wgmma_s8_s32_satfinite, true, saturates)

template <class Visit>
void for_each_fp8(const Visit& visit) {
  visit("mma-e4m3-fp32", mma_e4m3_f32_instruction{});
  visit("mma-e5m2-fp32", mma_e5m2_f32_instruction{});
  visit("mma-e4m3-fp16", mma_e4m3_f16_instruction{});
  visit("mma-e5m2-fp16", mma_e5m2_f16_instruction{});
  visit("wgmma-e4m3-fp32", wgmma_e4m3_f32_instruction{});
  visit("wgmma-e5m2-fp32", wgmma_e5m2_f32_instruction{});
  visit("wgmma-e4m3-fp16", wgmma_e4m3_f16_instruction{});
  visit("wgmma-e5m2-fp16", wgmma_e5m2_f16_instruction{});
}

template <class Visit>
void for_each_int8(const Visit& visit) {
  visit("mma-int8", mma_s8_s32_instruction{});
  visit("mma-int8-satfinite", mma_s8_s32_satfinite_instruction{});
  visit("wgmma-int8", wgmma_s8_s32_instruction{});
  visit("wgmma-int8-satfinite", wgmma_s8_s32_satfinite_instruction{});
}

DotKernel find_byte_kernel(std::string_view name) {
  DotKernel kernel = nullptr;
  for_each_fp8(KernelFinder{name, &kernel});
  for_each_int8(KernelFinder{name, &kernel});
  return kernel;
}

}  // namespace vernier::model::gpu
