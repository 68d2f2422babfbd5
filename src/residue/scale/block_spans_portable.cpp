#include "residue/scale/block_spans_loop.hpp"

namespace vernier {

template <class T>
void block_deficits_portable(const Operand<T>& x, std::int64_t first, const VectorStatistics* statistics,
                             std::uint8_t* out, std::int64_t stride) {
  block_deficits(x, first, statistics, out, stride);
}

void span_costs_portable(const SpanCosts& costs, std::int64_t first) { span_costs(costs, first); }

template void block_deficits_portable(const Operand<double>&, std::int64_t, const VectorStatistics*, std::uint8_t*,
                                      std::int64_t);
template void block_deficits_portable(const Operand<float>&, std::int64_t, const VectorStatistics*, std::uint8_t*,
                                      std::int64_t);

}  // namespace vernier
