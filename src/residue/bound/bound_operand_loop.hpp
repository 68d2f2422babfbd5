// The loops of bound_operand.hpp, compiled for each instruction set.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/bf16_tile.hpp"
#include "number/ieee754.hpp"
#include "residue/bound/bound_operand.hpp"

namespace vernier {
namespace {

// 2^(top - exponent) in two parts, since it may exceed the range of double.
struct BoundFactors {
  double first[bf16_strip], second[bf16_strip];

  template <class T>
  BoundFactors(const BoundPart<T>& part, std::int64_t offset) {
    for (std::int64_t v = 0; v < bf16_strip; ++v) {
      const bool there = offset + v < part.count;
      const int shift = there ? part.range.top - part.statistics[part.first + offset + v].exponent : 0;
      first[v] = power_of_two(shift / 2);
      second[v] = power_of_two(shift - shift / 2);
    }
  }
};

// Towards zero to so many bits; the range keeps every result normal in float.
template <int Bits>
inline float lowered_magnitude(double x, double first, double second, double least, double most) {
  constexpr std::uint64_t mask = ~((std::uint64_t{1} << (53 - Bits)) - 1);
  const double y = std::abs(x) * first * second;
  const double cut = std::bit_cast<double>(std::bit_cast<std::uint64_t>(y) & mask);
  return y >= least && y < most ? static_cast<float>(cut) : 0.0f;
}

inline std::uint16_t bf16_of(float x) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16); }

struct BoundLimits {
  double least, most;

  explicit BoundLimits(const BoundRange& range)
      : least(power_of_two(range.top - range.kept_bits)), most(power_of_two(range.top + 1)) {}
};

// 16 x 16 dwords, each a pair of k l and l + 16: in the order that memory had, [vector][l] or [l][vector].
struct BoundPairs {
  static constexpr int side = bf16_tile_vectors;

  alignas(64) std::uint32_t values[side][side] = {};

  void set(int line, const std::uint16_t* low, const std::uint16_t* high) {
    for (int i = 0; i < side; ++i)
      values[line][i] = static_cast<std::uint32_t>(low[i]) | (static_cast<std::uint32_t>(high[i]) << 16);
  }
  void write(bool turned, std::byte* out) const {
    static_assert(sizeof(values) == bf16_tile_bytes);
    if (!turned) {
      std::memcpy(out, values, sizeof(values));
      return;
    }
    alignas(64) std::uint32_t across[side][side];
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) across[j][i] = values[i][j];
    std::memcpy(out, across, sizeof(across));
  }
};

// A step of 16 vectors, 32 k, as a tile; loaded line by line in the order of memory.
template <class T>
void bound_tile(const BoundPart<T>& part, std::int64_t offset, std::int64_t step, const BoundFactors& factors, int lane,
                bool rows, std::byte* out) {
  constexpr int side = bf16_tile_vectors, depth = bf16_step;
  const BoundLimits limits(part.range);
  const std::int64_t vectors = std::clamp<std::int64_t>(part.count - offset, 0, side), l0 = step * part.skip * depth;
  const std::int64_t ks = std::min<std::int64_t>(depth, part.k_count - l0);
  const auto value = [&](T x, std::int64_t v) {
    const std::int64_t at = lane + v;
    return bf16_of(
        lowered_magnitude<8>(static_cast<double>(x), factors.first[at], factors.second[at], limits.least, limits.most));
  };
  BoundPairs pairs;
  if (part.x.k_contiguous) {
    for (int v = 0; v < vectors; ++v) {
      const T* x = part.x.at(part.first + offset + v, part.k_begin + l0);
      alignas(64) std::uint16_t line[depth] = {};
      for (std::int64_t l = 0; l < ks; ++l) line[l] = value(x[l], v);
      pairs.set(v, line, line + side);
    }
  } else {
    alignas(64) std::uint16_t lines[depth][side] = {};
    for (std::int64_t l = 0; l < ks; ++l) {
      const T* x = part.x.at(part.first + offset, part.k_begin + l0 + l);
      for (std::int64_t v = 0; v < vectors; ++v) lines[l][v] = value(x[v], v);
    }
    for (int l = 0; l < side; ++l) pairs.set(l, lines[l], lines[l + side]);
  }
  pairs.write(part.x.k_contiguous == rows, out);
}

template <class T>
void bound_strip(const BoundPart<T>& part, bool rows, std::byte* out) {
  const BoundFactors factors(part, 0);
  for (std::int64_t step = 0; step < bound_steps(part.k_count, part.skip); ++step)
    for (int tile = 0; tile < 2; ++tile, out += bf16_tile_bytes)
      bound_tile(part, tile * bf16_tile_vectors, step, factors, tile * bf16_tile_vectors, rows, out);
}

}  // namespace
}  // namespace vernier
