#include "emulated_parts.hpp"

#include "../engine/emulated_tile.hpp"
#include "bf16x6/kernel.hpp"

namespace vernier::test {

void multiply_bf16x6_on_emulated_tiles(const PartProduct& product) { multiply_bf16x6<EmulatedTile>(product); }

}  // namespace vernier::test
