#include "residue/scale/scale_search.hpp"

#include <omp.h>

#include <algorithm>

#include "base/environment.hpp"

namespace vernier {
namespace {

void add_to_summary(const VectorStatistics* statistics, std::int64_t count, int& span, std::int64_t& nonfinite) {
  for (std::int64_t v = 0; v < count; ++v) {
    span = std::max(span, statistics[v].span());
    nonfinite += statistics[v].nonfinite ? 1 : 0;
  }
}

void set_norm_bits(const VectorStatistics* statistics, std::int64_t count, std::int64_t padded, std::uint8_t* out) {
  std::fill(out, out + padded, no_cost);
  for (std::int64_t v = 0; v < count; ++v)
    if (!statistics[v].zero()) out[v] = norm_bits_of(statistics[v]);
}

}  // namespace

template <class T>
void ScaleSearch<T>::measure(const ExactStage<T>* exact) const {
  const auto strips = [&](const Operand<T>& x, VectorStatistics* statistics, LowestBits* lowest_bits) {
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t first = 0; first < x.vectors; first += strip_size) {
      const std::int64_t count = std::min<std::int64_t>(strip_size, x.vectors - first);
      backend_.statistics(x, first, count, statistics + first);
      if (exact != nullptr)
        exact->measure({x.at(first, 0), count, x.k, x.ld, x.k_contiguous}, statistics + first, lowest_bits + first);
    }
  };
#pragma omp parallel num_threads(threads())
  {
    const FloatingEnvironment environment;
    if (problem_.prepared_a == nullptr) strips(problem_.a, vectors_.a_statistics, vectors_.a_lowest_bits);
    if (problem_.prepared_b == nullptr) strips(problem_.b, vectors_.b_statistics, vectors_.b_lowest_bits);
  }
}

template <class T>
void ScaleSearch<T>::summarise(Report& report) const {
  report.nonfinite_rows = report.nonfinite_columns = 0;
  add_to_summary(vectors_.a_statistics, plan_.shape.m, report.span_a, report.nonfinite_rows);
  add_to_summary(vectors_.b_statistics, plan_.shape.n, report.span_b, report.nonfinite_columns);
}

template <class T>
Scaling ScaleSearch<T>::scale(const ScalingRule& rule, BlockCosts a_costs, BlockCosts b_costs) const {
  return choose_scales(rule, plan_.shape.k, {vectors_.a_statistics, rows()}, {vectors_.b_statistics, columns()},
                       {vectors_.a_proofs, rows()}, {vectors_.b_proofs, columns()}, a_costs, b_costs);
}

template <class T>
Scaling ScaleSearch<T>::scale_with_spans() const {
  measure_spans();
  return scale(plan_.rule, {vectors_.a_costs, rows()}, {vectors_.b_costs, columns()});
}

template <class T>
void ScaleSearch<T>::measure_spans() const {
  const ProductShape& s = plan_.shape;
  const VectorBuffers& v = vectors_;
  set_norm_bits(v.a_statistics, s.m, v.a_stride, v.a_norm_bits);
  set_norm_bits(v.b_statistics, s.n, v.b_stride, v.b_norm_bits);
  std::fill(v.a_costs, v.a_costs + v.a_stride * threads(), std::uint8_t{0});
  std::fill(v.b_costs, v.b_costs + v.b_stride, std::uint8_t{0});
#pragma omp parallel num_threads(threads())
  {
    const FloatingEnvironment environment;
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t i = 0; i < s.m; i += span_lanes)
      backend_.block_deficits(problem_.a, i, v.a_statistics + i, v.a_deficits + i, v.a_stride);
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t j = 0; j < s.n; j += span_lanes)
      backend_.block_deficits(problem_.b, j, v.b_statistics + j, v.b_deficits + j, v.b_stride);
    const SpanCosts costs{.a_deficits = v.a_deficits,
                          .b_deficits = v.b_deficits,
                          .a_stride = v.a_stride,
                          .b_stride = v.b_stride,
                          .blocks = span_blocks(s.k),
                          .rows = s.m,
                          .row_norm_bits = v.a_norm_bits,
                          .column_norm_bits = v.b_norm_bits,
                          .row_costs = v.a_costs + v.a_stride * omp_get_thread_num(),
                          .column_costs = v.b_costs};
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t j = 0; j < s.n; j += span_lanes) backend_.span_costs(costs, j);
  }
  for (int t = 1; t < threads(); ++t)
    for (std::int64_t i = 0; i < s.m; ++i) v.a_costs[i] = std::max(v.a_costs[i], v.a_costs[v.a_stride * t + i]);
}

template class ScaleSearch<double>;
template class ScaleSearch<float>;

}  // namespace vernier
