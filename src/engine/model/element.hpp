// The model: one element of one instruction, in integer arithmetic. Host and device, constexpr.
#pragma once

#include "engine/model/block.hpp"
#include "engine/model/chain.hpp"

namespace vernier::model {

// ---- integers ------------------------------------------------------------------------------------------------------

VERNIER_HD constexpr std::int64_t integer_of(Format format, std::uint64_t word) {
  if (format == Format::int8) return static_cast<std::int8_t>(word);
  if (format == Format::uint8) return static_cast<std::uint8_t>(word);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(word));
}

VERNIER_HD constexpr std::int64_t saturated(std::int64_t x) {
  return x > 2147483647 ? 2147483647 : x < -2147483648LL ? -2147483648LL : x;
}

VERNIER_HD constexpr std::uint64_t sum_integers(const Engine& e, const std::uint64_t* a, const std::uint64_t* b,
                                                std::uint64_t c) {
  std::int64_t s = integer_of(Format::int32, c);
  for (int i = 0; i < e.k; ++i) {
    s += integer_of(e.a, a[i]) * integer_of(e.b, b[i]);
    if (e.overflow == Overflow::saturate_blocks && (i + 1) % e.block == 0) s = saturated(s);
  }
  return static_cast<std::uint32_t>(e.overflow == Overflow::wrap ? s : saturated(s));
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
