// The product of |A| and |B| in low precision: what is in memory at a time, and where (residue/bound/bound_search).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/workspace.hpp"
#include "product/plan/native_cost.hpp"

namespace vernier {

// Blocks of C, of the k of floats too; tiles take whole k.
struct BoundBlocking {
  ProductShape shape;
  int threads = 1;
  bool tiles = false;  // operands in tiles of bf16; else floats
  bool codes = false;  // a byte for each entry of C
  std::int64_t m_block = 0, n_block = 0, k_block = 0;
  std::size_t bytes = 0;
};

// Within the limit: without bytes for the entries, or in floats where tiles are asked for, if it takes that. codes: are
// these bytes wanted?
BoundBlocking choose_bound_blocking(const ProductShape& shape, int threads, bool tiles, std::size_t limit,
                                    bool codes = true);

struct BoundBuffers {
  std::byte *a = nullptr, *b = nullptr;  // operands of a block
  float* s = nullptr;                    // a block of C; of tiles 16 x 32 x 32 a thread
  float* minima = nullptr;               // of a block's columns, one set a thread
  std::uint8_t* codes = nullptr;         // of C, columns m bytes apart; null: none
};
BoundBuffers carve_bound(Arena& arena, const BoundBlocking& blocking);

}  // namespace vernier
