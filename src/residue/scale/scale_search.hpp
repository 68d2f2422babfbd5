// From the data to the scales of its vectors: statistics and, where these leave entries without proof, block spans.
#pragma once

#include <bit>

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
  // what correct rounding wants to know of them, if exact is given.
  void measure(const ExactStage<T>* exact) const;

  // Scales from the statistics alone.
  Scaling scale() const { return scale(plan_.rule); }
  Scaling scale(const ScalingRule& rule) const { return scale(rule, {}, {}); }

  // The same with what block spans prove beside; not for every k.
  bool has_spans() const { return plan_.shape.k <= longest_spanned_k; }
  Scaling scale_with_spans() const;

  // Widest span and number of vectors with NaN or infinity, into the report.
  void summarise(Report& report) const;

 private:
  std::size_t rows() const { return static_cast<std::size_t>(plan_.shape.m); }
  std::size_t columns() const { return static_cast<std::size_t>(plan_.shape.n); }
  int threads() const { return plan_.printable.threads; }
  Scaling scale(const ScalingRule& rule, BlockCosts a_costs, BlockCosts b_costs) const;
  void measure_spans() const;

  const ResiduePlan& plan_;
  const ResidueProblem<T>& problem_;
  const SchemeBackend<T>& backend_;
  const VectorBuffers& vectors_;
};

extern template class ScaleSearch<double>;
extern template class ScaleSearch<float>;

}  // namespace vernier
