// Do a product's data seem to be of those that a speculative product serves?
#pragma once

#include <optional>

#include "residue/backend.hpp"
#include "residue/plan/plan.hpp"

namespace vernier {

// The factors of A and B, from some of their vectors; none if these are not proved at the scales that follow, or if
// entries seem so large that many blocks would be left open. A pure function of the data: threads take parts that are
// cut and added up in a fixed order.
std::optional<SpeculativeScales> choose_speculation(const SpeculativeProduct& speculative, const Operand<double>& a,
                                                    const Operand<double>& b, const SchemeBackend<double>& backend,
                                                    int threads);

}  // namespace vernier
