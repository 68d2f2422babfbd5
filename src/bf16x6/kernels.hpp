// The products of each engine for bf16 parts, in sources that are compiled for an instruction set.
#pragma once

#include "bf16x6/engine.hpp"

namespace vernier {

#if VERNIER_X86
void multiply_bf16x6_amx(const PartProduct& product);
#endif

}  // namespace vernier
