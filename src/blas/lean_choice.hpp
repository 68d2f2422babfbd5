// Do a product's data seem to be of those that a lean product serves?
#pragma once

#include <optional>
#include <span>

#include "blas/residue_gemm.hpp"
#include "plan/plan.hpp"
#include "scheme/backend.hpp"

namespace vernier {

// The factors of A and B, from their first vectors; none if these are not proved at the scales that follow, or if
// entries are so large that many blocks would be left open. In a fixed order: a pure function of the data.
template <class T>
std::optional<LeanScales> choose_lean(const LeanProduct& lean, const ResidueProblem<T>& problem,
                                      const SchemeBackend<T>& backend);

// What multiplications by a factor and divisions stay exact to the last bit for: exponents far from the ends of the
// range.
bool far_from_the_ends(std::span<const VectorStatistics> statistics);

}  // namespace vernier
