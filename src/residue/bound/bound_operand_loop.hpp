// The loops of bound_operand.hpp, compiled for each instruction set.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/panel.hpp"
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

// A magnitude in the range of a part, towards zero to so many bits, by the bits of a double: what compilers turn into
// vectors. Zero, NaN and infinity lie out of the range, as the smallest elements do, and become 0.
class BoundMagnitude {
 public:
  explicit BoundMagnitude(const BoundRange& range)
      : least_(std::bit_cast<std::uint64_t>(power_of_two(range.top - range.kept_bits))),
        count_(std::bit_cast<std::uint64_t>(power_of_two(range.top + 1)) - least_) {}

  // Of 8 bits; the range keeps every result normal in float.
  std::uint16_t bf16(double x, double first, double second) const {
    constexpr int dropped = 52 - 7;
    constexpr std::uint64_t bias = (1023 - 127) << 7;  // of exponents
    const std::uint64_t bits = bits_of(x, first, second);
    return static_cast<std::uint16_t>(bits - least_ < count_ ? (bits >> dropped) - bias : 0);
  }
  float float24(double x, double first, double second) const {
    constexpr std::uint64_t mask = ~((std::uint64_t{1} << (53 - 24)) - 1);
    const std::uint64_t bits = bits_of(x, first, second);
    return static_cast<float>(std::bit_cast<double>(bits - least_ < count_ ? bits & mask : 0));
  }

 private:
  static std::uint64_t bits_of(double x, double first, double second) {
    return std::bit_cast<std::uint64_t>(std::abs(x) * first * second);
  }
  std::uint64_t least_, count_;
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

// Steps of 32 vectors, as two tiles each; loaded line by line in the order of memory, which is asked for some lines
// ahead where they lie on pages of their own.
template <class T>
class BoundStripWriter {
 public:
  BoundStripWriter(const BoundPart<T>& part, bool rows)
      : part_(part), magnitude_(part.range), factors_(part, 0), turned_(part.x.k_contiguous == rows) {}

  void write(std::int64_t step, std::byte* out) const {
    const std::int64_t l0 = step * part_.skip * depth, ks = std::min<std::int64_t>(depth, part_.k_count - l0);
    const bool whole = ks == depth && part_.count == bf16_strip;  // lengths that the compiler knows
    if (part_.x.k_contiguous)
      whole ? write_lines_of_k<true>(l0, ks, out) : write_lines_of_k<false>(l0, ks, out);
    else
      whole ? write_lines_of_vectors<true>(l0, ks, out) : write_lines_of_vectors<false>(l0, ks, out);
  }

 private:
  static constexpr int side = bf16_tile_vectors, depth = bf16_step;
  static constexpr std::int64_t lines_ahead = 16, line_bytes = 64;

  std::uint16_t value(T x, std::int64_t v) const {
    return magnitude_.bf16(static_cast<double>(x), factors_.first[v], factors_.second[v]);
  }

  // A hint: what lies there is of no account.
  static void fetch(const T* x, std::int64_t count) {
    for (std::int64_t byte = 0; byte < count * static_cast<std::int64_t>(sizeof(T)); byte += line_bytes)
      __builtin_prefetch(reinterpret_cast<const char*>(x) + byte);
  }

  template <bool Whole>
  void write_lines_of_k(std::int64_t l0, std::int64_t ks, std::byte* out) const {
    const std::int64_t count = Whole ? depth : ks, vectors = Whole ? bf16_strip : part_.count;
    for (int tile = 0; tile < 2; ++tile, out += bf16_tile_bytes) {
      BoundPairs pairs;
      for (int i = 0; i < side && tile * side + i < vectors; ++i) {
        const std::int64_t v = tile * side + i;
        const T* x = part_.x.at(part_.first + v, part_.k_begin + l0);
        if (l0 + (part_.skip + 1) * depth <= part_.k_count) fetch(x + part_.skip * depth, depth);
        alignas(64) std::uint16_t line[depth] = {};
        for (std::int64_t l = 0; l < count; ++l) line[l] = value(x[l], v);
        pairs.set(i, line, line + side);
      }
      pairs.write(turned_, out);
    }
  }

  template <bool Whole>
  void write_lines_of_vectors(std::int64_t l0, std::int64_t ks, std::byte* out) const {
    const std::int64_t count = Whole ? depth : ks, vectors = Whole ? bf16_strip : part_.count;
    alignas(64) std::uint16_t lines[depth][bf16_strip] = {};
    for (std::int64_t l = 0; l < count; ++l) {
      const T* x = part_.x.at(part_.first, part_.k_begin + l0 + l);
      const std::int64_t ahead = l + lines_ahead < depth ? lines_ahead : lines_ahead + (part_.skip - 1) * depth;
      if (l0 + l + ahead < part_.k_count) fetch(x + ahead * part_.x.ld, bf16_strip);
      for (std::int64_t v = 0; v < vectors; ++v) lines[l][v] = value(x[v], v);
    }
    for (int tile = 0; tile < 2; ++tile, out += bf16_tile_bytes) {
      BoundPairs pairs;
      for (int l = 0; l < side; ++l) pairs.set(l, lines[l] + tile * side, lines[l + side] + tile * side);
      pairs.write(turned_, out);
    }
  }

  const BoundPart<T>& part_;
  const BoundMagnitude magnitude_;
  const BoundFactors factors_;
  const bool turned_;
};

template <class T>
FilledSteps bound_strip(const BoundPart<T>& part, bool rows, std::byte* out) {
  constexpr int bytes = 2 * bf16_tile_bytes;
  const BoundStripWriter<T> writer(part, rows);
  FilledSteps filled{0, 0};
  for (std::int64_t step = 0; step < bound_steps(part.k_count, part.skip); ++step, out += bytes) {
    writer.write(step, out);
    if (out[0] == std::byte{0} && std::memcmp(out, out + 1, bytes - 1) == 0) continue;
    filled = {filled.end == 0 ? step : filled.begin, step + 1};
  }
  return filled;
}

}  // namespace
}  // namespace vernier
