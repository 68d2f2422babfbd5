// The model: one element of one instruction, in integer arithmetic. Host and device, constexpr.
#pragma once

#include "model/block.hpp"
#include "model/chain.hpp"

namespace vernier::model {

// ---- integers ------------------------------------------------------------------------------------------------------

VERNIER_HD constexpr std::int32_t integer_of(Format format, std::uint64_t word) {
  return format == Format::int8 ? static_cast<std::int8_t>(word) : static_cast<std::uint8_t>(word);
}

// x + y modulo 2^32, or the nearest end of the range. In 32 bits on purpose: nvcc 13.0 turns sums of byte products in
// 64 bits into DP4A, which keeps 32.
VERNIER_HD constexpr std::uint32_t add_integers(std::uint32_t x, std::uint32_t y, bool saturate) {
  const std::uint32_t s = x + y;
  const bool overflows = ((x ^ s) & (y ^ s)) >> 31 != 0;
  return saturate && overflows ? 0x7fffffffu + (x >> 31) : s;
}

VERNIER_HD constexpr std::uint64_t sum_integers(const Engine& e, const std::uint64_t* a, const std::uint64_t* b,
                                                std::uint64_t c) {
  const bool saturate = e.overflow != Overflow::wrap;
  auto s = static_cast<std::uint32_t>(c);
  std::uint32_t part = 0;  // k <= 4096 products fit 32 bits
  for (int i = 0; i < e.k; ++i) {
    part += static_cast<std::uint32_t>(integer_of(e.a, a[i]) * integer_of(e.b, b[i]));
    if (e.overflow != Overflow::saturate_blocks || (i + 1) % e.block != 0) continue;
    s = add_integers(s, part, true);
    part = 0;
  }
  return add_integers(s, part, saturate);
}

// ---- one instruction -----------------------------------------------------------------------------------------------

// a and b hold e.k encodings; max_count >= e.block for block sums that cut their terms.
template <int max_count>
VERNIER_HD constexpr std::uint64_t element(const Engine& e, const std::uint64_t* a, const std::uint64_t* b,
                                           std::uint64_t c) {
  if (e.sum == Sum::integer) return sum_integers(e, a, b, c);
  const auto load = [&](int i, Unpacked& x, Unpacked& y) {
    x = load_input(e, e.a, a[i]);
    y = load_input(e, e.b, b[i]);
  };
  return e.sum == Sum::block ? sum_blocks<max_count>(e, load, c) : sum_chain(e, load, c);
}

}  // namespace vernier::model
