// What this machine can execute.
#pragma once

#include <string>

namespace vernier {

// The instruction sets that sources of this project are compiled for (cmake/Layers.cmake), each with all it is given
// there.
enum class InstructionSet { baseline, avx2, avx512_vnni, amx };

// The features of the set that this machine or its system lacks, as "avx512_vbmi, amx-tile"; empty if the set can be
// used. The first question about amx asks the system to let this process use the tile registers.
std::string missing_features(InstructionSet set);

}  // namespace vernier
