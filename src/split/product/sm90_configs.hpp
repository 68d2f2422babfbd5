// The kernels that are compiled, one function each so that they compile side by side.
#pragma once

#include "split/product/sm90_split.hpp"

namespace vernier::cuda {

void multiply_half_128x128(const SplitProduct& product, int multiprocessors, cudaStream_t stream);
void multiply_half_long_128x128(const SplitProduct& product, int multiprocessors, cudaStream_t stream);
void update_half_128x128(const SplitProduct& product, int multiprocessors, cudaStream_t stream);
void multiply_tf32_halves_128x128(const SplitProduct& product, int multiprocessors, cudaStream_t stream);
void multiply_half_128x64(const SplitProduct& product, int multiprocessors, cudaStream_t stream);
void multiply_half_folded_128x192(const SplitProduct& product, int multiprocessors, cudaStream_t stream);
void multiply_tf32_folded_128x192(const SplitProduct& product, int multiprocessors, cudaStream_t stream);
void multiply_tf32_128x128(const SplitProduct& product, int multiprocessors, cudaStream_t stream);
void multiply_bf16_128x128(const SplitProduct& product, int multiprocessors, cudaStream_t stream);
void multiply_bf16_128x64(const SplitProduct& product, int multiprocessors, cudaStream_t stream);

}  // namespace vernier::cuda
