#include "engine/amx_tile.hpp"
#include "engine/part_kernel.hpp"
#include "engine/part_kernels.hpp"

namespace vernier {

void multiply_parts_amx(const PartProduct& product) { multiply_parts<AmxTile>(product); }

}  // namespace vernier
