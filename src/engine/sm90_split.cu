#include "engine/sm90_split.hpp"

#include <algorithm>

#include "cuda/device.hpp"
#include "engine/sm90_split_configs.hpp"

namespace vernier::sm90 {

SplitTile tile_of(SplitKernel kernel) {
  switch (kernel) {
    case SplitKernel::half_128x128:
    case SplitKernel::tf32_128x128:
      return {128, 128, 2};
    case SplitKernel::half_128x64:
      return {128, 64, 1};
    case SplitKernel::tf32_halves_128x128:
      return {128, 128, 1, 2};
    case SplitKernel::half_folded_128x192:
    case SplitKernel::tf32_folded_128x192:
      return {128, 192, 2};
  }
  return {};
}

void multiply_split(SplitKernel kernel, const SplitProduct& product, cudaStream_t stream) {
  const int all = cuda::current_device().multiprocessors;
  const int multiprocessors = product.multiprocessors > 0 ? std::min(product.multiprocessors, all) : all;
  switch (kernel) {
    case SplitKernel::half_128x128:
      return multiply_half_128x128(product, multiprocessors, stream);
    case SplitKernel::half_128x64:
      return multiply_half_128x64(product, multiprocessors, stream);
    case SplitKernel::half_folded_128x192:
      return multiply_half_folded_128x192(product, multiprocessors, stream);
    case SplitKernel::tf32_halves_128x128:
      return multiply_tf32_halves_128x128(product, multiprocessors, stream);
    case SplitKernel::tf32_128x128:
      return multiply_tf32_128x128(product, multiprocessors, stream);
    case SplitKernel::tf32_folded_128x192:
      return multiply_tf32_folded_128x192(product, multiprocessors, stream);
  }
}

}  // namespace vernier::sm90
