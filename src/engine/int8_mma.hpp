// The engine by mma.sync, and one launch of its kernel with a tile of the caller's choice: what the engine does with
// choose_mma_tile().
#pragma once

#include "engine/int8_engine_cuda.hpp"
#include "engine/mma_tiles.hpp"

namespace vernier::cuda {

const DeviceInt8Engine& mma_int8_engine();

void multiply_mma(MmaVariant variant, const DeviceInt8Product& product, cudaStream_t stream);

}  // namespace vernier::cuda
