// From the data to the scales of its vectors: statistics and, where these leave entries without proof, block spans.
#pragma once

#include <bit>
#include <optional>

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
  Scaling scale(const ScalingRule& rule, const Sides<BlockCosts>& costs = {}) const;

  // The same with what block spans prove beside; not for every k.
  bool has_spans() const { return plan_.shape.k <= longest_spanned_k; }
  Scaling scale_with_spans() const;

  // Widest span and number of vectors with NaN or infinity, into the report.
  void summarise(Report& report) const;

 private:
  int threads() const { return plan_.printable.threads; }
  void measure_spans() const;

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
