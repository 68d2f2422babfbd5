// The memory format of operands in three bf16 parts: a scheme writes it, a kernel on tiles reads it.
//
// A tile is 1024 bytes: 16 vectors (rows of op(A), columns of op(B)) of 32 k, a step. Its dwords pair k l and l + 16:
//   columns   [16 columns][16 pairs]     a line is one column
//   rows      [16 pairs][16 rows]        a line is one pair of k
// 32 vectors are a strip, four steps a chunk, four chunks a group. A strip's chunk, 24 KiB, is [step][part][2 tiles];
//   columns   [strip][chunk]
//   rows      [chunk][strip]             of one group
#pragma once

#include <cstddef>
#include <cstdint>

namespace vernier {

inline constexpr int part_count = 3;
inline constexpr int part_tile_vectors = 16, part_tile_bytes = 1024;
inline constexpr int bf16x6_strip = 2 * part_tile_vectors;
inline constexpr int bf16x6_chunk_steps = 4, bf16x6_group_chunks = 4;
inline constexpr int bf16x6_step = 32, bf16x6_chunk = bf16x6_chunk_steps * bf16x6_step;  // k
inline constexpr int bf16x6_group = bf16x6_group_chunks * bf16x6_chunk;

constexpr int part_tile(int step, int part, int tile) {
  return ((step * part_count + part) * 2 + tile) * part_tile_bytes;
}
inline constexpr int bf16x6_chunk_bytes = part_tile(bf16x6_chunk_steps, 0, 0);

// The k, within its step, of element e of a column's line.
constexpr int k_of_part_element(int e) { return e / 2 + (e % 2) * 16; }

}  // namespace vernier
