// What block spans cost the vectors of both operands, from the deficits that the parties have put together.
#pragma once

#include <vector>

#include "residue/gemm.hpp"
#include "residue/partial/scan.hpp"
#include "residue/scale/block_spans.hpp"
#include "residue/scale/scale_search.hpp"

namespace vernier {

// What each vector of one side asks, with spans, of all of the other.
inline std::vector<std::uint8_t> norm_bits(const ScannedSide& side) {
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(side.stride), no_cost);
  for (std::size_t v = 0; v < side.statistics.size(); ++v)
    if (!side.statistics[v].zero()) bits[v] = norm_bits_of(side.statistics[v]);
  return bits;
}

struct SpanCostsOfSides {
  std::vector<std::uint8_t> rows, columns;
};

template <class R>
SpanCostsOfSides span_costs_of(const Scan& scan, std::int64_t k, const Int8Engine& engine) {
  const ScannedSide &a = scan.side(Side::left), &b = scan.side(Side::right);
  SpanCostsOfSides costs{std::vector<std::uint8_t>(static_cast<std::size_t>(a.stride)),
                         std::vector<std::uint8_t>(static_cast<std::size_t>(b.stride))};
  const std::vector<std::uint8_t> row_bits = norm_bits(a), column_bits = norm_bits(b);
  for (std::int64_t j = 0; j < b.count(); j += span_lanes)
    backend_of<R>(engine).span_costs({{a.deficits.data(), a.stride, row_bits.data(), costs.rows.data()},
                                      {b.deficits.data(), b.stride, column_bits.data(), costs.columns.data()},
                                      span_blocks(k),
                                      a.count()},
                                     j);
  costs.rows.resize(static_cast<std::size_t>(a.count()));
  costs.columns.resize(static_cast<std::size_t>(b.count()));
  return costs;
}

}  // namespace vernier
