// Code of AVX-512 headers made callable from tests that are themselves compiled for any processor.
#pragma once

#include <cstdint>

#include "engine/int8_engine.hpp"

namespace vernier::test {

void multiply_on_emulated_tiles(const Int8Product& product);  // amx_kernel.hpp on EmulatedTile

// One unit by reduction_avx512.hpp: sums on a boundary of 64 bytes, for products of length k.
void reduce_unit_avx512(const std::int32_t* sums, int modulus, std::int64_t k, bool accumulate, std::int8_t* out);

}  // namespace vernier::test
