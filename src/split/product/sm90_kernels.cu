#include "split/product/sm90_kernel.cuh"

namespace vernier::cuda {

constinit const SplitKernel half_128x128 = kernel_of<SplitConfig<128, 2, false, Low::fp16>>("halfhalf_sep"),
                            half_long_128x128 =
                                kernel_of<SplitConfig<128, 2, false, Low::fp16, false, false, 2>>("halfhalf_long"),
                            half_128x64 = kernel_of<SplitConfig<64, 1, false, Low::fp16>>("halfhalf_sep"),
                            half_folded_128x192 = kernel_of<SplitConfig<192, 2, true, Low::fp16>>("halfhalf_fold");

void update_split(const SplitProduct& product, cudaStream_t stream) {
  launch_split_product<SplitConfig<128, 2, false, Low::fp16, false, true>>(product, stream);
}

constinit const SplitKernel bf16_128x128 = kernel_of<SplitConfig<128, 2, false, Low::bf16>>("bf16x6_sep"),
                            bf16_128x64 = kernel_of<SplitConfig<64, 1, false, Low::bf16>>("bf16x6_short");

constinit const SplitKernel tf32_128x128 = kernel_of<SplitConfig<128, 2, false, Low::tf32>>("tf32tf32_sep"),
                            tf32_halves_128x128 =
                                kernel_of<SplitConfig<128, 1, false, Low::tf32, true>>("tf32tf32_sep"),
                            tf32_folded_128x192 = kernel_of<SplitConfig<192, 2, true, Low::tf32>>("tf32tf32_fold");

}  // namespace vernier::cuda
