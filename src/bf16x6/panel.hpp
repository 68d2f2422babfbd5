// The memory format of operands in three bf16 parts: a scheme writes it, a kernel on tiles reads it.
//
// A strip has four steps to a chunk, four chunks to a group. Its chunk, 24 KiB, is [step][part][2 tiles];
//   columns   [strip][chunk]
//   rows      [chunk][strip]             of one group
#pragma once

#include "engine/panel.hpp"

namespace vernier {

inline constexpr int part_count = 3;
inline constexpr int bf16x6_strip = bf16_strip;
inline constexpr int bf16x6_chunk_steps = 4, bf16x6_group_chunks = 4;
inline constexpr int bf16x6_step = bf16_step, bf16x6_chunk = bf16x6_chunk_steps * bf16x6_step;  // k
inline constexpr int bf16x6_group = bf16x6_group_chunks * bf16x6_chunk;

constexpr int part_tile(int step, int part, int tile) {
  return ((step * part_count + part) * 2 + tile) * bf16_tile_bytes;
}
inline constexpr int bf16x6_chunk_bytes = part_tile(bf16x6_chunk_steps, 0, 0);

// The k, within its step, of element e of a column's line.
constexpr int k_of_part_element(int e) { return e / 2 + (e % 2) * 16; }

}  // namespace vernier
