#include "split/product/sm90_kernel.cuh"

namespace vernier::cuda {

constinit const SplitKernel bf16_128x128 = kernel_of<SplitConfig<128, 2, false, Low::bf16>>("bf16x6_sep"),
                            bf16_128x64 = kernel_of<SplitConfig<64, 1, false, Low::bf16>>("bf16x6_short");

}  // namespace vernier::cuda
