#include "split/product/sm90_split.hpp"

#include <algorithm>

#include "cuda/device.hpp"
#include "split/product/sm90_configs.hpp"

namespace vernier::cuda {

SplitTile tile_of(SplitKernel kernel) {
  switch (kernel) {
    case SplitKernel::half_128x128:
    case SplitKernel::half_long_128x128:
    case SplitKernel::tf32_128x128:
    case SplitKernel::bf16_128x128:
      return {128, 128, 2};
    case SplitKernel::half_128x64:
    case SplitKernel::bf16_128x64:
      return {128, 64, 1};
    case SplitKernel::tf32_halves_128x128:
      return {128, 128, 1, 2};
    case SplitKernel::half_folded_128x192:
    case SplitKernel::tf32_folded_128x192:
      return {128, 192, 2};
  }
  return {};
}

int later_group(SplitKernel kernel, bool paced) {
  if (tile_of(kernel).blocks_sharing != 2 || kernel == SplitKernel::bf16_128x128) return 0;
  return paced ? 16 : 8;  // more tiles wait longer for their first columns; who keeps pace waits anyway
}

namespace {

int multiprocessors_for(const SplitProduct& product) {
  const int all = cuda::current_device().multiprocessors;
  return product.multiprocessors > 0 ? std::min(product.multiprocessors, all) : all;
}

}  // namespace

void update_split(const SplitProduct& product, cudaStream_t stream) {
  update_half_128x128(product, multiprocessors_for(product), stream);
}

void multiply_split(SplitKernel kernel, const SplitProduct& product, cudaStream_t stream) {
  const int multiprocessors = multiprocessors_for(product);
  switch (kernel) {
    case SplitKernel::half_128x128:
      return multiply_half_128x128(product, multiprocessors, stream);
    case SplitKernel::half_long_128x128:
      return multiply_half_long_128x128(product, multiprocessors, stream);
    case SplitKernel::half_128x64:
      return multiply_half_128x64(product, multiprocessors, stream);
    case SplitKernel::half_folded_128x192:
      return multiply_half_folded_128x192(product, multiprocessors, stream);
    case SplitKernel::tf32_halves_128x128:
      return multiply_tf32_halves_128x128(product, multiprocessors, stream);
    case SplitKernel::tf32_128x128:
      return multiply_tf32_128x128(product, multiprocessors, stream);
    case SplitKernel::bf16_128x128:
      return multiply_bf16_128x128(product, multiprocessors, stream);
    case SplitKernel::bf16_128x64:
      return multiply_bf16_128x64(product, multiprocessors, stream);
    case SplitKernel::tf32_folded_128x192:
      return multiply_tf32_folded_128x192(product, multiprocessors, stream);
  }
}

}  // namespace vernier::cuda
