// One dot product on its way to the GPU and back.
#pragma once

#include <cstdint>

namespace vernier::model::gpu {

inline constexpr std::uint32_t first_two_of_four = 0x4444;

struct Dot {
  std::uint32_t a[32] = {}, b[32] = {};        // 32 bytes of a row of A and of a column of B; fp64: up to 16 numbers
  std::uint32_t metadata = first_two_of_four;  // of sparse instructions: four bits for each of four groups, repeated
  std::uint64_t c = 0, d = 0;
};

}  // namespace vernier::model::gpu
