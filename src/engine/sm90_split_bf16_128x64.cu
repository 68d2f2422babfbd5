#include "engine/sm90_split_configs.hpp"
#include "engine/sm90_split_kernel.cuh"

namespace vernier::sm90 {

void multiply_bf16_128x64(const SplitProduct& product, int multiprocessors, cudaStream_t stream) {
  launch_split_product<SplitConfig<64, 1, false, Low::bf16>>(product, multiprocessors, stream);
}

}  // namespace vernier::sm90
