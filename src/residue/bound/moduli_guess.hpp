// So many moduli that scales by the norms of vectors alone seem to serve data whose statistics leave them unproved, by
// a sample of entries, before anything is converted: residues made by these scales are kept if the product of |A| and
// |B|, or a part of it, finds them fine enough (docs/accuracy.md, theorem 12).
#pragma once

#include <optional>

#include "product/operand.hpp"
#include "residue/bound/bound_sample_host.hpp"
#include "residue/plan/plan.hpp"

namespace vernier {

struct ModuliGuess {
  int moduli = 0;         // 0: planes made before the product would be in vain
  std::int64_t skip = 1;  // of so many steps of k the judge has the first
  int most = 0;           // that scales by norms are worth, where the whole product may ask for fewer
};

// The plan with them, or as it was, with a guess and the sample; none where all seems to take longer than the native
// product, or where the planes of all of C are not in memory at once, or the sample is not.
template <class T>
std::optional<ResiduePlan> plan_by_guess(const ResiduePlan& plan, const Operand<T>& a, const Operand<T>& b,
                                         ModuliGuess& guess, std::optional<BoundSample>& sample);

// What a sample tells of such scales.
class SampledNeeds {
 public:
  SampledNeeds(const BoundRule& bound, std::int64_t k, const BoundSample& sample,
               const Sides<const VectorStatistics*>& sampled);

  // The least moduli, up to `most`, whose scales are as fine as the entries in a part of k, `part` of all, ask for; 0:
  // none are.
  int guessed_moduli(const ScalingRule& rule, double part, const BoundPartSample& entries, int least, int most) const;

  // What scales from the whole product would need.
  int moduli_by_product(const BoundPartSample& entries) const;

 private:
  using Needs = std::array<int, bound_sampled>;  // of the vectors of a side; 0 of zero vectors

  const VectorStatistics& statistics(int side, std::size_t v) const { return (side == 0 ? sampled_.a : sampled_.b)[v]; }
  Needs needs_of(int side, const BoundPartSample& entries, double part) const;

  const BoundRule bound_;
  const std::int64_t k_;
  const BoundSample& sample_;
  const Sides<const VectorStatistics*> sampled_;
  const BoundNativeErrors native_;
};

}  // namespace vernier
