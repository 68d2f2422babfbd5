#include "bf16x6/engine.hpp"
#include "bf16x6/kernel.hpp"
#include "engine/amx_tile.hpp"

namespace vernier {

void multiply_bf16x6_amx(const PartProduct& product) { multiply_bf16x6<AmxTile>(product); }

}  // namespace vernier
