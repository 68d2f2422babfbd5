#include "split/product/sm90_configs.hpp"
#include "split/product/sm90_kernel.cuh"

namespace vernier::cuda {

void multiply_half_128x128(const SplitProduct& product, int multiprocessors, cudaStream_t stream) {
  launch_split_product<SplitConfig<128, 2, false, Low::fp16>>(product, multiprocessors, stream);
}

}  // namespace vernier::cuda
