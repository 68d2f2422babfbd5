// From the data to the scales of its vectors: statistics and, where these leave entries without proof, block spans.
#pragma once

#include <omp.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "base/environment.hpp"
#include "residue/backend.hpp"
#include "residue/exact/exact_stage.hpp"
#include "residue/gemm.hpp"
#include "residue/plan/plan.hpp"

namespace vernier {

// ceil(log2(1-norm / 2^exponent)), which is positive, of a vector that is not zero.
inline std::uint8_t norm_bits_of(const VectorStatistics& v) {
  return static_cast<std::uint8_t>(std::bit_width(v.sum - 1) - quantum_bits);
}

template <class T>
class ScaleSearch {
 public:
  ScaleSearch(const ResiduePlan& plan, const ResidueProblem<T>& problem, const SchemeBackend<T>& backend,
              const VectorBuffers& vectors)
      : plan_(plan), problem_(problem), backend_(backend), vectors_(vectors) {}

  // Statistics of all vectors of both operands, where these do not come with the conversion and are not prepared; and
  // what correct rounding wants to know of them, if exact is given. buffer(thread): null, or room for a strip, which
  // takes less of vectors that do not lie along memory (58 to 25 ms of one Emerald Rapids core, n = 4096).
  template <class Buffer>
  void measure(const ExactStage<T>* exact, const Buffer& buffer) const {
    const auto strips = [&](const Operand<T>& x, const SideVectors& v) {
      T* room = buffer(omp_get_thread_num());
#pragma omp for schedule(dynamic, 1) nowait
      for (std::int64_t first = 0; first < x.vectors; first += strip_size) {
        const std::int64_t count = std::min<std::int64_t>(strip_size, x.vectors - first);
        if (room != nullptr)
          backend_.measured_strip(x, first, 0, x.k, room, v.statistics + first);
        else
          backend_.statistics(x, first, count, v.statistics + first);
        if (exact != nullptr)
          exact->measure({x.at(first, 0), count, x.k, x.ld, x.k_contiguous}, v.statistics + first,
                         v.lowest_bits + first);
      }
    };
#pragma omp parallel num_threads(threads())
    {
      const FloatingEnvironment environment;
      for (const Side side : both_sides)
        if (problem_.prepared[side] == nullptr && !(problem_.symmetric && side == Side::left))
          strips(problem_.operand(side), vectors_[side]);
    }
    if (problem_.symmetric) std::copy_n(vectors_.b.statistics, vectors_.b.count, vectors_.a.statistics);
  }

  // Scales from the statistics alone.
  Scaling scale() const { return scale(plan_.rule); }
  Scaling scale(const ScalingRule& rule, const Sides<BlockCosts>& costs = {}) const {
    const auto& [a, b] = static_cast<const Sides<SideVectors>&>(vectors_);
    return choose_scales(rule, plan_.shape.k, a.all_statistics(), b.all_statistics(), a.all_proofs(), b.all_proofs(),
                         costs, threads());
  }

  // The same with what block spans prove beside; not for every k.
  bool has_spans() const { return plan_.shape.k <= longest_spanned_k; }
  Scaling scale_with_spans() const {
    measure_spans();
    const auto costs = [](const SideVectors& x) { return BlockCosts(x.costs, static_cast<std::size_t>(x.count)); };
    return scale(plan_.rule, {costs(vectors_.a), costs(vectors_.b)});
  }

  // Widest span and number of vectors with NaN or infinity, into the report.
  void summarise(Report& report) const {
    const auto add = [](const SideVectors& x, int& span, std::int64_t& nonfinite) {
      nonfinite = 0;
      for (const VectorStatistics& v : x.all_statistics()) {
        span = std::max(span, v.span());
        nonfinite += v.nonfinite ? 1 : 0;
      }
    };
    add(vectors_.a, report.span_a, report.nonfinite_rows);
    add(vectors_.b, report.span_b, report.nonfinite_columns);
  }

 private:
  int threads() const { return plan_.printable.threads; }

  void measure_spans() const {
    const ProductShape& s = plan_.shape;
    const VectorBuffers& v = vectors_;
    for (const auto& [x, sets] : {std::pair{&v.a, threads()}, {&v.b, 1}}) {
      std::fill_n(x->norm_bits, x->stride, no_cost);
      for (std::int64_t i = 0; i < x->count; ++i)
        if (!x->statistics[i].zero()) x->norm_bits[i] = norm_bits_of(x->statistics[i]);
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

  const ResiduePlan& plan_;
  const ResidueProblem<T>& problem_;
  const SchemeBackend<T>& backend_;
  const VectorBuffers& vectors_;
};

// The factors of A and B of a speculative product, from some of their vectors; none if these are not proved at the
// scales that follow, or if entries seem so large that many blocks would be left open. A pure function of the data:
// threads take parts that are cut and added up in a fixed order.
std::optional<SpeculativeScales> choose_speculation(const SpeculativeProduct& speculative, const Operand<double>& a,
                                                    const Operand<double>& b, const SchemeBackend<double>& backend,
                                                    int threads);

}  // namespace vernier
