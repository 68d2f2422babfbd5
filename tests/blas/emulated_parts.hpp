#pragma once

#include "engine/part_engine.hpp"

namespace vernier::test {

void multiply_parts_on_emulated_tiles(const PartProduct& product);  // part_kernel.hpp on EmulatedTile

}  // namespace vernier::test
