#include "split/product/sm90_configs.hpp"
#include "split/product/sm90_kernel.cuh"

namespace vernier::cuda {

void multiply_tf32_halves_128x128(const SplitProduct& product, int multiprocessors, cudaStream_t stream) {
  launch_split_product<SplitConfig<128, 1, false, Low::tf32, true>>(product, multiprocessors, stream);
}

}  // namespace vernier::cuda
