// The product of each engine. Sources compiled for an instruction set define these functions and nothing else that
// another source could see: what they share as inline code has internal linkage, so that no such copy ends up in
// portable code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/int8_engine.hpp"

namespace vernier {

void multiply_portable(const Int8Product& product);

#if VERNIER_X86
void multiply_avx2(const Int8Product& product);
void multiply_avx512_vnni(const Int8Product& product);
void multiply_amx(const Int8Product& product);
void configure_amx_tiles();  // of the calling thread
void release_amx_tiles();
#endif

// Four columns of the whole k as 16-bit values.
inline constexpr std::size_t avx2_scratch_bytes = 4 * sizeof(std::int16_t) * max_product_k;

// int32 sums of one block.
inline constexpr std::size_t amx_scratch_bytes = block_elements * sizeof(std::int32_t);

}  // namespace vernier
