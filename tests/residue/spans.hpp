// The block spans of two operands, as a product measures them.
#pragma once

#include <bit>

#include "residue/backend.hpp"
#include "support/matrix.hpp"

namespace vernier::test {

struct Spans {
  std::int64_t a_stride, b_stride, blocks;
  std::vector<std::uint8_t> a_deficits, b_deficits, a_norm_bits, b_norm_bits, a_costs, b_costs;
};

inline std::vector<std::uint8_t> norm_bits(const std::vector<VectorStatistics>& statistics, std::int64_t stride) {
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(stride), no_cost);
  for (std::size_t v = 0; v < statistics.size(); ++v)
    if (!statistics[v].zero())
      bits[v] = static_cast<std::uint8_t>(std::bit_width(statistics[v].sum - 1) - quantum_bits);
  return bits;
}

template <class T>
Spans block_spans(const SchemeBackend<T>& backend, const Operand<T>& a, const Operand<T>& b,
                  const std::vector<VectorStatistics>& a_statistics,
                  const std::vector<VectorStatistics>& b_statistics) {
  Spans s;
  s.a_stride = round_up(a.vectors, span_lanes);
  s.b_stride = round_up(b.vectors, span_lanes);
  s.blocks = span_blocks(a.k);
  const auto deficits = [&](const Operand<T>& x, const std::vector<VectorStatistics>& statistics, std::int64_t stride) {
    std::vector<std::uint8_t> out(static_cast<std::size_t>(s.blocks * stride), 77);
    for (std::int64_t v = 0; v < x.vectors; v += span_lanes)
      backend.block_deficits(x, v, &statistics[static_cast<std::size_t>(v)], &out[static_cast<std::size_t>(v)], stride);
    return out;
  };
  s.a_deficits = deficits(a, a_statistics, s.a_stride);
  s.b_deficits = deficits(b, b_statistics, s.b_stride);
  s.a_norm_bits = norm_bits(a_statistics, s.a_stride);
  s.b_norm_bits = norm_bits(b_statistics, s.b_stride);
  s.a_costs.assign(static_cast<std::size_t>(s.a_stride), 0);
  s.b_costs.assign(static_cast<std::size_t>(s.b_stride), 0);
  const SpanCosts costs{{s.a_deficits.data(), s.a_stride, s.a_norm_bits.data(), s.a_costs.data()},
                        {s.b_deficits.data(), s.b_stride, s.b_norm_bits.data(), s.b_costs.data()},
                        s.blocks,
                        a.vectors};
  for (std::int64_t j = 0; j < b.vectors; j += span_lanes) backend.span_costs(costs, j);
  return s;
}

}  // namespace vernier::test
