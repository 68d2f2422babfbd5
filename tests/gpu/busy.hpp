// Multiprocessors that are taken.
#pragma once

#include <cuda_runtime_api.h>

namespace vernier::test {

// Blocks that leave no room beside them, one a multiprocessor, for about so long.
void occupy(int blocks, double milliseconds, cudaStream_t stream);

}  // namespace vernier::test
