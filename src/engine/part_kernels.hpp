// The products of each engine for bf16 parts, in sources that are compiled for an instruction set.
#pragma once

#include "engine/part_engine.hpp"

namespace vernier {

#if VERNIER_X86
void multiply_parts_amx(const PartProduct& product);
#endif

}  // namespace vernier
