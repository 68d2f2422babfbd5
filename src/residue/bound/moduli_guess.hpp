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
  int by_norms = 0;    // 0: by none of few moduli
  int by_product = 0;  // of scales from the whole product
  int most = 0;        // by norms that are worth no whole product; 0: no part of it is
  bool sure = false;   // is by_norms so likely to serve that residues are made before the product tells?
};
template <class T>
ModuliGuess guess_moduli(const ResiduePlan& plan, const Operand<T>& a, const Operand<T>& b,
                         std::optional<BoundSample>& sample);

// The plan with as many; none where all seems to take longer than the native product, or where the planes of all of C
// are not in memory at once.
std::optional<ResiduePlan> plan_by_guess(const ResiduePlan& plan, const ModuliGuess& guess);

}  // namespace vernier
