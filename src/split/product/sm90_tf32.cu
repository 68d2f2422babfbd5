#include "split/product/sm90_kernel.cuh"

namespace vernier::cuda {

constinit const SplitKernel tf32_128x128 = kernel_of<SplitConfig<128, 2, false, Low::tf32>>("tf32tf32_sep"),
                            tf32_halves_128x128 =
                                kernel_of<SplitConfig<128, 1, false, Low::tf32, true>>("tf32tf32_sep"),
                            tf32_folded_128x192 = kernel_of<SplitConfig<192, 2, true, Low::tf32>>("tf32tf32_fold");

}  // namespace vernier::cuda
