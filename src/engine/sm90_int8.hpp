// One launch of the Hopper kernel with a tile of the caller's choice, which keeps pace if product.steps is not null:
// what the engine does with choose_sm90_tile() and sm90_keeps_pace().
#pragma once

#include "engine/int8_engine_cuda.hpp"
#include "engine/sm90_tiles.hpp"

namespace vernier::cuda {

void multiply_sm90(Sm90Variant variant, const DeviceInt8Product& product, cudaStream_t stream);

}  // namespace vernier::cuda
