#pragma once

#include "bf16x6/engine.hpp"

namespace vernier::test {

void multiply_bf16x6_on_emulated_tiles(const PartProduct& product);  // part_kernel.hpp on EmulatedTile

}  // namespace vernier::test
