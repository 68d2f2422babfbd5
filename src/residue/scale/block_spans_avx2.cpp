#include "residue/scale/block_spans_loop.hpp"

namespace vernier {

template <class T>
void block_deficits_avx2(const Operand<T>& x, std::int64_t first, const VectorStatistics* statistics, std::uint8_t* out,
                         std::int64_t stride) {
  block_deficits(x, first, statistics, out, stride);
}

void span_costs_avx2(const SpanCosts& costs, std::int64_t first) { span_costs(costs, first); }

template void block_deficits_avx2(const Operand<double>&, std::int64_t, const VectorStatistics*, std::uint8_t*,
                                  std::int64_t);
template void block_deficits_avx2(const Operand<float>&, std::int64_t, const VectorStatistics*, std::uint8_t*,
                                  std::int64_t);

}  // namespace vernier
