// Split operands on a GPU: what the split writes and the product reads.
//
// A vector is a row of op(A) or a column of op(B). Its parts lie in lines of 128 bytes, step after step along k: of 32
// consecutive k (fp16, bf16) or of 16 (tf32) half a line for each part, part 0 first, zeros beyond k. So two parts fill
// a line a step, and three parts (bf16) three lines two steps. Every half of a line is an operand of the tensor cores.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/workspace.hpp"
#include "product/host_answer.hpp"

namespace vernier {

// Element (v, l) at data[v * vector_stride + l * k_stride]; one of the strides is 1. In a batch of products each has
// `in_product` vectors, and its elements lie product_stride behind those of the product before.
struct FloatVectors {
  const float* data = nullptr;
  std::int64_t count = 0, k = 0, vector_stride = 1, k_stride = 1;
  std::int64_t in_product = 0, product_stride = 0;  // 0: all vectors are of one

  bool k_contiguous() const { return k_stride == 1; }
  constexpr std::int64_t of_product() const { return in_product != 0 ? in_product : count; }
};

// Can groups of four floats be read at once along the contiguous direction?
inline bool quads_aligned(const FloatVectors& x) {
  const std::int64_t stride = x.k_contiguous() ? x.vector_stride : x.k_stride;
  return reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0 && stride % 4 == 0 && x.product_stride % 4 == 0;
}

// Two parts, part 1 times 2^11 or as it is; or three of bf16.
enum class SplitForm { half_shifted, half_unshifted, tf32_shifted, tf32_unshifted, bf16_three };

constexpr bool is_tf32(SplitForm form) { return form == SplitForm::tf32_shifted || form == SplitForm::tf32_unshifted; }

// What part 1 of two is multiplied by.
constexpr float split_shift(SplitForm form) {
  return form == SplitForm::half_unshifted || form == SplitForm::tf32_unshifted ? 1.0f : 2048.0f;
}

constexpr int split_part_number(SplitForm form) { return form == SplitForm::bf16_three ? 3 : 2; }

inline constexpr int split_line_bytes = 128;
inline constexpr int half_step_k = 32, tf32_step_k = 16;

// A vector that holds an infinity or a NaN has this unscaling exponent; its entries of C are computed conventionally.
// Any sum with it is beyond all others.
inline constexpr std::int32_t excluded_vector = 1 << 20;

struct SplitPlane {
  std::byte* lines = nullptr;       // vectors x line_count lines
  std::int64_t line_count = 0;      // of a vector: of whole pairs of steps
  std::int32_t* unscale = nullptr;  // e of each vector: element = 2^e (part_0 + 2^-shift part_1 + ...)
  std::uint32_t* status = nullptr;  // number of large elements, and tiny_element; or special_element: if judged

  // Of `vectors` vectors of that many lines or fewer.
  static SplitPlane take(Arena& arena, std::int64_t vectors, std::int64_t lines) {
    const auto count = static_cast<std::size_t>(vectors);
    SplitPlane p{.line_count = lines, .unscale = arena.take<std::int32_t>(count)};
    p.status = arena.take<std::uint32_t>(count);
    p.lines = arena.take<std::byte>(count * static_cast<std::size_t>(lines) * split_line_bytes);
    return p;
  }
  // Its vectors from this one on.
  SplitPlane from(std::int64_t vector) const {
    return {lines + vector * line_count * split_line_bytes, line_count, unscale + vector, status + vector};
  }
};

// Bits of SplitPlane::status.
inline constexpr std::uint32_t tiny_element = 0x80000000u;
inline constexpr std::uint32_t special_element = 0x40000000u;  // an infinity or a NaN

// Attempts follow each other on a stream; each leaves a verdict, and those behind a success return at once.
struct SplitGate {
  const std::uint32_t* before = nullptr;  // verdict of the attempt before; null: always open
  std::uint32_t* verdict = nullptr;       // after this attempt, what was made so far; null: not asked for
  int behind = 0;                         // verdicts of later attempts, which lie there; one that is made is theirs too
  HostAnswer answer = {};                 // is the attempt made?
  bool judged = false;                    // the split counts, and its status words decide whether the attempt is made
  bool last = false;                      // it is made in any case: if judged unfit, as a conventional product
  std::uint32_t mark = 1;                 // this attempt's verdict of itself, if it is made; 0 says that nothing was
};
inline constexpr std::uint32_t conventional_mark = 0x80000000u;  // the verdict where no attempt was made

}  // namespace vernier
