// Blocks of a product that fit a limit of memory, on the CPU and on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/panel.hpp"

namespace vernier {

struct LeastBlock {
  std::int64_t vectors;    // of m and n, which stay multiples of it
  std::int64_t k, k_unit;  // of k, which stays a multiple of k_unit
};

// Halves the longer of m and n, then the other, then k, until set_bytes(blocking) makes no more bytes than the limit,
// or the blocks are the smallest.
template <class Blocking, class SetBytes>
void halve_until_it_fits(Blocking& b, std::size_t limit, const LeastBlock& least, SetBytes set_bytes) {
  const auto half = [](std::int64_t block, std::int64_t unit) { return round_up(divide_up(block, 2), unit); };
  for (set_bytes(b); b.bytes > limit; set_bytes(b)) {
    if (b.n_block > least.vectors && b.n_block >= b.m_block)
      b.n_block = half(b.n_block, least.vectors);
    else if (b.m_block > least.vectors)
      b.m_block = half(b.m_block, least.vectors);
    else if (b.k_block > least.k)
      b.k_block = half(b.k_block, least.k_unit);
    else
      break;
  }
}

}  // namespace vernier
