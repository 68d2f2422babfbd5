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
  const auto strips = [&](const Operand<T>& x, const SideVectors& v) {
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t first = 0; first < x.vectors; first += strip_size) {
      const std::int64_t count = std::min<std::int64_t>(strip_size, x.vectors - first);
      backend_.statistics(x, first, count, v.statistics + first);
      if (exact != nullptr)
        exact->measure({x.at(first, 0), count, x.k, x.ld, x.k_contiguous}, v.statistics + first, v.lowest_bits + first);
    }
  };
#pragma omp parallel num_threads(threads())
  {
    const FloatingEnvironment environment;
    for (const Side side : both_sides)
      if (problem_.prepared[side] == nullptr) strips(problem_.operand(side), vectors_[side]);
  }
}

template <class T>
void ScaleSearch<T>::summarise(Report& report) const {
  report.nonfinite_rows = report.nonfinite_columns = 0;
  add_to_summary(vectors_.a.statistics, plan_.shape.m, report.span_a, report.nonfinite_rows);
  add_to_summary(vectors_.b.statistics, plan_.shape.n, report.span_b, report.nonfinite_columns);
}

template <class T>
Scaling ScaleSearch<T>::scale(const ScalingRule& rule, const Sides<BlockCosts>& costs) const {
  const auto& [a, b] = static_cast<const Sides<SideVectors>&>(vectors_);
  return choose_scales(rule, plan_.shape.k, a.all_statistics(), b.all_statistics(), a.all_proofs(), b.all_proofs(),
                       costs, threads());
}

template <class T>
Scaling ScaleSearch<T>::scale_with_spans() const {
  measure_spans();
  const auto costs = [](const SideVectors& x) { return BlockCosts(x.costs, static_cast<std::size_t>(x.count)); };
  return scale(plan_.rule, {costs(vectors_.a), costs(vectors_.b)});
}

template <class T>
void ScaleSearch<T>::measure_spans() const {
  const ProductShape& s = plan_.shape;
  const VectorBuffers& v = vectors_;
  for (const auto& [x, sets] : {std::pair{&v.a, threads()}, {&v.b, 1}}) {
    set_norm_bits(x->statistics, x->count, x->stride, x->norm_bits);
    std::fill_n(x->costs, x->stride * sets, std::uint8_t{0});
  }
#pragma omp parallel num_threads(threads())
  {
    const FloatingEnvironment environment;
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t i = 0; i < s.m; i += span_lanes)
      backend_.block_deficits(problem_.a, i, v.a.statistics + i, v.a.deficits + i, v.a.stride);
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t j = 0; j < s.n; j += span_lanes)
      backend_.block_deficits(problem_.b, j, v.b.statistics + j, v.b.deficits + j, v.b.stride);
    SpanCosts costs{v.a.spans(), v.b.spans(), span_blocks(s.k), s.m};
    costs.row.costs += v.a.stride * omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t j = 0; j < s.n; j += span_lanes) backend_.span_costs(costs, j);
  }
  std::uint8_t* costs = v.a.costs;
  for (int t = 1; t < threads(); ++t)
    for (std::int64_t i = 0; i < s.m; ++i) costs[i] = std::max(costs[i], costs[v.a.stride * t + i]);
}

template class ScaleSearch<double>;
template class ScaleSearch<float>;

}  // namespace vernier
