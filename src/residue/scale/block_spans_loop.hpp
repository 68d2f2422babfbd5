// The loops of block_spans.hpp, compiled once a set of instructions: bytes side by side, which the compiler makes
// vectors of.
#pragma once

#include <algorithm>
#include <cstring>

#include "base/instantiate.hpp"
#include "residue/scale/block_spans.hpp"

namespace vernier {
namespace {

using Lanes = std::uint8_t[span_lanes];
using LaneVector [[gnu::vector_size(span_lanes)]] = std::uint8_t;

inline void order(Lanes& low, Lanes& high) {
  for (int i = 0; i < span_lanes; ++i) {
    const std::uint8_t a = low[i], b = high[i];
    low[i] = a < b ? a : b;
    high[i] = a < b ? b : a;
  }
}

// Batcher's odd-even merge sort of sixteen.
inline void sort_block(Lanes (&x)[span_block]) {
  for (int p = 1; p < span_block; p *= 2)
    for (int k = p; k >= 1; k /= 2)
      for (int j = k % p; j + k < span_block; j += 2 * k)
        for (int i = 0; i < k && i + j + k < span_block; ++i)
          if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) order(x[i + j], x[i + j + k]);
}

template <class T>
void block_deficits(const Operand<T>& x, std::int64_t first, const VectorStatistics* statistics, std::uint8_t* out,
                    std::int64_t stride) {
  const std::int64_t count = std::min<std::int64_t>(span_lanes, x.vectors - first);
  int exponents[span_lanes] = {};
  for (std::int64_t v = 0; v < count; ++v) exponents[v] = statistics[v].exponent;
  for (std::int64_t block = 0; block < span_blocks(x.k); ++block, out += stride) {
    alignas(64) Lanes lanes[span_block];
    for (auto& lane : lanes) std::fill(lane, lane + span_lanes, no_deficit);
    const std::int64_t begin = block * span_block, length = std::min<std::int64_t>(span_block, x.k - begin);
    if (x.k_contiguous) {
      for (std::int64_t v = 0; v < count; ++v) {
        const T* p = x.at(first + v, begin);
        std::uint8_t row[span_block];
        for (std::int64_t l = 0; l < length; ++l) row[l] = deficit_of(p[l], exponents[v]);
        for (std::int64_t l = 0; l < length; ++l) lanes[l][v] = row[l];
      }
    } else {
      for (std::int64_t l = 0; l < length; ++l) {
        const T* p = x.at(first, begin + l);
        for (std::int64_t v = 0; v < count; ++v) lanes[l][v] = deficit_of(p[v], exponents[v]);
      }
    }
    sort_block(lanes);
    std::copy(lanes[span_block / 2], lanes[span_block / 2] + span_lanes, out);  // ninth smallest deficit
  }
}

// The rows' costs against these columns, and the columns' against this row.
inline void span_costs(const SpanCosts& c, std::int64_t first) {
  constexpr int together = 4;  // rows for one read of the columns
  alignas(64) Lanes column_costs = {}, column_norms;
  std::copy(c.column.norm_bits + first, c.column.norm_bits + first + span_lanes, column_norms);
  for (std::int64_t i = 0; i < c.rows; i += together) {
    LaneVector least[together];  // in registers, which arrays are not
    for (LaneVector& x : least) x = LaneVector{} + static_cast<std::uint8_t>(2 * no_deficit);
    for (std::int64_t block = 0; block < c.blocks; ++block) {
      const std::uint8_t* a = c.row.deficits + block * c.row.stride + i;
      LaneVector b;
      std::memcpy(&b, c.column.deficits + block * c.column.stride + first, sizeof b);
      for (int r = 0; r < together; ++r) {
        const LaneVector sum = b + a[r];
        least[r] = sum < least[r] ? sum : least[r];
      }
    }
    Lanes spans[together];
    std::memcpy(spans, least, sizeof spans);
    for (int r = 0; r < together && i + r < c.rows; ++r) {
      const std::uint8_t row_norm = c.row.norm_bits[i + r];
      if (row_norm == no_cost) continue;
      std::uint8_t row_cost = 0;
      for (int j = 0; j < span_lanes; ++j) {
        if (column_norms[j] == no_cost) continue;
        const bool exists = spans[r][j] < no_deficit;
        const auto for_row = exists ? static_cast<std::uint8_t>(spans[r][j] + column_norms[j]) : no_cost;
        const auto for_column = exists ? static_cast<std::uint8_t>(spans[r][j] + row_norm) : no_cost;
        row_cost = std::max(row_cost, for_row);
        column_costs[j] = std::max(column_costs[j], for_column);
      }
      c.row.costs[i + r] = std::max(c.row.costs[i + r], row_cost);
    }
  }
  for (int j = 0; j < span_lanes; ++j) c.column.costs[first + j] = std::max(c.column.costs[first + j], column_costs[j]);
}

}  // namespace
}  // namespace vernier

// Compiles them for one set of instructions.
#define VERNIER_BLOCK_SPANS_OF(set)                                                                                \
  namespace vernier {                                                                                              \
  template <class T>                                                                                               \
  void block_deficits_##set(const Operand<T>& x, std::int64_t first, const VectorStatistics* s, std::uint8_t* out, \
                            std::int64_t stride) {                                                                 \
    block_deficits(x, first, s, out, stride);                                                                      \
  }                                                                                                                \
  void span_costs_##set(const SpanCosts& costs, std::int64_t first) { span_costs(costs, first); }                  \
  template struct Instances<block_deficits_##set<double>, block_deficits_##set<float>>;                            \
  }
