// fp32 operands in three bf16 parts: v = a1 + a2 + a3 with a1 = RN(v), a2 = RN(v - a1), a3 = v - a1 - a2, which is
// exact for elements that are not too small.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/panel.hpp"
#include "product/operand.hpp"

namespace vernier {

// The memory format of operands in three bf16 parts: a scheme writes it, a kernel on tiles reads it.
//
// A strip has four steps to a chunk, four chunks to a group. Its chunk, 24 KiB, is [step][part][2 tiles];
//   columns   [strip][chunk]
//   rows      [chunk][strip]             of one group
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

// Between these powers of two no part and no product of parts is subnormal, and no sum of up to 2^30 products
// overflows: a part is a multiple of 2^(-40 - 23), so every sum is one of 2^-126, which the engine does not flush.
inline constexpr int part_least_exponent = -40, part_largest_exponent = 46;
inline constexpr std::int64_t bf16x6_longest_k = std::int64_t{1} << 30;

// The magnitudes of elements, as bits.
struct PartRange {
  std::uint32_t largest = 0;
  std::uint32_t least = ~std::uint32_t{0};  // nonzero, minus 1

  void join(const PartRange& other) {
    largest = std::max(largest, other.largest);
    least = std::min(least, other.least);
  }
  bool finite() const { return largest < 0x7f800000u; }
  bool zero() const { return largest == 0; }
  bool fits() const {
    constexpr auto bits = [](int exponent) { return static_cast<std::uint32_t>(exponent + 127) << 23; };
    return largest < bits(part_largest_exponent + 1) && least >= bits(part_least_exponent) - 1;
  }
};

// The s with which 2^s x lies in range, and whether one does: the largest magnitude comes as high as it may.
struct PartScale {
  int exponent = 0;
  bool fits = false;
};
PartScale part_scale(const PartRange& range);

// A block of an operand, and where its parts go.
struct Bf16x6Task {
  Operand<float> x;                // all of op(A)'s rows, or op(B)'s columns
  const float* factors = nullptr;  // powers of two, one a vector; null: none
  std::byte* out = nullptr;
};

// Of a strip of columns from `first` on, some chunks of k from `k` on; what lies beyond the operand is zero. If range
// is given it takes in the elements, and elements out of range are left to the caller.
void split_part_columns(const Bf16x6Task& task, std::int64_t first, std::int64_t k, int chunks, PartRange* range);

// Of strips of rows from `first` on, some chunks of k from `k` on.
void split_part_rows(const Bf16x6Task& task, std::int64_t first, std::int64_t strips, std::int64_t k, int chunks);

// Of all elements of lines first .. first + count - 1, contiguous in memory: vectors if k_contiguous, else values of k.
PartRange line_range(const Operand<float>& x, std::int64_t first, std::int64_t count);

// Vector by vector: first .. first + count - 1.
void vector_ranges(const Operand<float>& x, std::int64_t first, std::int64_t count, PartRange* out);

}  // namespace vernier
