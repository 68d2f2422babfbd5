// What one element adds to the words of its vector in a round of the scan. Host and device.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "engine/panel.hpp"
#include "number/digit_sum.hpp"
#include "number/host_device.hpp"
#include "product/flatness.hpp"

namespace vernier {

enum class ScanRound { extremes, sums, depths, spans, moduli, done };

// Words of a vector in each round's message.
inline constexpr std::int64_t extreme_words = 4;  // exponent, lowest, lowest bit, nonfinite
inline constexpr std::int64_t sum_words = 2 + static_cast<std::int64_t>(shallow_depths.size());
inline constexpr std::int64_t depth_words = static_cast<std::int64_t>(deep_depths.size());
inline constexpr std::int64_t packed_deficits = 6;                   // bytes of a word below 2^53
inline constexpr std::int64_t span_message = std::int64_t{1} << 23;  // words
inline constexpr std::int64_t bias = 8192;                           // makes exponents positive

constexpr std::int64_t span_words(std::int64_t k) { return divide_up(k, packed_deficits); }

VERNIER_HD constexpr void raise(std::int64_t& word, std::int64_t value) { word = value > word ? value : word; }

template <class R>
VERNIER_HD constexpr void add_extremes(R x, std::int64_t* words) {
  const auto bits = magnitude_bits(x);
  if (bits >= infinity_bits<R>) {
    words[3] = 1;
  } else if (bits != 0) {
    const int exponent = exponent_of<R>(bits);
    const ElementParts p = element_parts(x);
    const int lowest = bit_width(p.significand & (~p.significand + 1)) - 1;
    raise(words[0], bias + exponent);
    raise(words[1], bias - exponent);
    raise(words[2], bias - (p.exponent + lowest));
  }
}

template <class R>
VERNIER_HD void add_sums(R x, const TwoFactors& scale, std::int64_t* words) {
  const auto bits = magnitude_bits(x);
  if (bits >= infinity_bits<R>) return;
  const auto v =
      static_cast<std::int64_t>(ceil(static_cast<double>(std::bit_cast<R>(bits)) * scale.first * scale.second));
  words[0] += v * v;
  words[1] += v;
  constexpr auto shallow = shallow_depths;  // device code has no name for the one of the namespace
  VERNIER_UNROLL
  for (std::size_t i = 0; i < shallow.size(); ++i) {
    const std::int64_t most = std::int64_t{1} << (quantum_bits - shallow[i]);
    words[2 + i] += v < most ? v : most;
  }
}

template <class R>
VERNIER_HD constexpr void add_depths(R x, int exponent, std::int64_t* words) {
  const auto bits = magnitude_bits(x);
  if (bits == 0 || bits >= infinity_bits<R>) return;
  const int depth = exponent - exponent_of<R>(bits);
  constexpr auto deep = deep_depths;
  VERNIER_UNROLL
  for (std::size_t i = 0; i < deep.size(); ++i) words[i] += depth <= deep[i] ? 1 : 0;
}

}  // namespace vernier
