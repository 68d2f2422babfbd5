// What this machine can execute.
#pragma once

#include <cstddef>
#include <string>

namespace vernier {

// The instruction sets that sources of this project are compiled for (cmake/Layers.cmake), each with all it is given
// there. amx_bf16 is amx with bf16 tiles and AVX-512's conversions to bf16.
enum class InstructionSet { baseline, avx2, avx512_vnni, amx, amx_bf16 };

// The features of the set that this machine or its system lacks, as "avx512_vbmi, amx-tile"; empty if the set can be
// used. The first question about amx asks the system to let this process use the tile registers.
std::string missing_features(InstructionSet set);

std::string processor_name();  // as CPUID or the system tells; "unknown" if they do not

std::size_t last_level_cache_bytes();  // as the system tells; 0 if it does not

}  // namespace vernier
