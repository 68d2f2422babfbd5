#include "emulated_parts.hpp"

#include "../engine/emulated_tile.hpp"
#include "engine/part_kernel.hpp"

namespace vernier::test {

void multiply_parts_on_emulated_tiles(const PartProduct& product) { multiply_parts<EmulatedTile>(product); }

}  // namespace vernier::test
