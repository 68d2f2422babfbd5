#include "split/product/sm90_configs.hpp"
#include "split/product/sm90_kernel.cuh"

namespace vernier::cuda {

void multiply_bf16_128x64(const SplitProduct& product, int multiprocessors, cudaStream_t stream) {
  launch_split_product<SplitConfig<64, 1, false, Low::bf16>>(product, multiprocessors, stream);
}

}  // namespace vernier::cuda
