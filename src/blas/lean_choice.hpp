// Do a product's data seem to be of those that a lean product serves?
#pragma once

#include <optional>

#include "plan/plan.hpp"
#include "scheme/backend.hpp"

namespace vernier {

// The factors of A and B, from some of their vectors; none if these are not proved at the scales that follow, or if
// entries seem so large that many blocks would be left open. In a fixed order: a pure function of the data.
std::optional<LeanScales> choose_lean(const LeanProduct& lean, const Operand<double>& a, const Operand<double>& b,
                                      const SchemeBackend<double>& backend);

}  // namespace vernier
