// Operands of the product of |A| and |B|: magnitudes, each vector scaled by a power of two, rounded towards zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/panel.hpp"
#include "product/operand.hpp"
#include "product/statistics.hpp"

namespace vernier {

// The largest element of each vector comes to [2^top, 2^(top + 1)); what lies below 2^(top - kept_bits) becomes zero,
// and so do NaN and infinities.
struct BoundRange {
  int top = 0, kept_bits = 0;
};

// Vectors first .. first + count - 1, k_count indices from k_begin on, as floats of 24 bits in the order that x has
// them: out(v, l) at l + v ld if x.k_contiguous, else at v + l ld. Of every `skip` steps of 32 k the first is taken,
// and they lie side by side.
template <class T>
struct BoundPart {
  Operand<T> x;
  const VectorStatistics* statistics = nullptr;  // of all vectors of x
  BoundRange range;
  std::int64_t first = 0, count = 0, k_begin = 0, k_count = 0, skip = 1;
};
template <class T>
void bound_floats(const BoundPart<T>& part, float* out, std::int64_t ld);

// One strip of up to 32 vectors as bf16 of 8 bits in tiles (engine/panel.hpp): steps of 32 k, what lies beyond is
// zero. rows: the layout of rows, else that of columns. Returns the steps that are not all zeros, and those between.
template <class T>
FilledSteps bound_strip_portable(const BoundPart<T>& part, bool rows, std::byte* out);
template <class T>
FilledSteps bound_strip_avx512(const BoundPart<T>& part, bool rows, std::byte* out);

constexpr std::int64_t bound_steps(std::int64_t k, std::int64_t skip = 1) { return ((k + 31) / 32 + skip - 1) / skip; }
// At least 1024 k are left, so that minima over them are near those over all.
constexpr std::int64_t bound_skip(std::int64_t k) {
  std::int64_t skip = 1;
  while (skip < 16 && k >= 2048 * skip) skip *= 2;
  return skip;
}
// How many k are in these steps.
constexpr std::int64_t bound_k(std::int64_t k, std::int64_t skip) {
  const std::int64_t before = bound_steps(k, skip) - 1, left = k - 32 * skip * before;
  return 32 * before + (left < 32 ? left : 32);
}

}  // namespace vernier
