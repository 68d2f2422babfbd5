// One instruction on whole tiles: D = C + A B with 16 x 16 elements.
#pragma once

#include <cstdint>
#include <string>

namespace vernier::model::amx {

inline constexpr int rows = 16, columns = 16;

// A: 16 rows of 64 bytes. B: row p holds the pair (bf16) or the four (int8) elements 'p' of each column, side by side.
struct alignas(64) Tiles {
  std::uint8_t a[1024], b[1024];
  std::uint32_t c[rows * columns], d[rows * columns];
};

// Why AMX cannot be used here, or "". Asks Linux for the tile registers; once per process, before threads start.
std::string missing_amx();
std::string missing_avx512_bf16();
void configure_tiles();  // once per thread

void tdpbf16ps(Tiles& tiles);
void tdpbssd(Tiles& tiles);
void tdpbsud(Tiles& tiles);
void tdpbusd(Tiles& tiles);
void tdpbuud(Tiles& tiles);
void vdpbf16ps(Tiles& tiles);  // a and b hold one pair per element of c

std::string processor();

}  // namespace vernier::model::amx
