#include "engine/sm90_split_configs.hpp"
#include "engine/sm90_split_kernel.cuh"

namespace vernier::sm90 {

void multiply_half_long_128x128(const SplitProduct& product, int multiprocessors, cudaStream_t stream) {
  launch_split_product<SplitConfig<128, 2, false, Low::fp16, false, false, 2>>(product, multiprocessors, stream);
}

}  // namespace vernier::sm90
