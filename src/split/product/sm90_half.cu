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

}  // namespace vernier::cuda
