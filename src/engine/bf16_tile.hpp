// Tiles of bf16 as the instructions take them (TDPBF16PS), for all products on such tiles.
//
// A tile is 1024 bytes: 16 vectors (rows of op(A), columns of op(B)) of 32 k, a step. Its dwords pair k l and l + 16:
//   columns   [16 columns][16 pairs]     a line is one column
//   rows      [16 pairs][16 rows]        a line is one pair of k
// 32 vectors are a strip: two tiles side by side.
#pragma once

namespace vernier {

inline constexpr int bf16_tile_vectors = 16, bf16_tile_bytes = 1024;
inline constexpr int bf16_strip = 2 * bf16_tile_vectors;
inline constexpr int bf16_step = 32;  // k

}  // namespace vernier
