// The complex product by residues as three real products modulo each p (residue/recombine/recombine.hpp), each of m x n
// x k.
//
// A row of op(A) is one vector of 2k real numbers and has one scale, as both its rows have in the real product of
// doubled rows and k (complex_gemm.hpp). The integers are the same, and so are the bits.
#pragma once

#include <optional>

#include "product/call.hpp"
#include "residue/plan/plan.hpp"

namespace vernier {

struct ComplexResiduePlan {
  ResiduePlan doubled;  // of the real product of doubled rows and k: engine, scales, moduli
  ProductShape shape;
  Blocking blocking;  // of planes of parts: three times the moduli
  std::size_t bytes = 0;
};

// None where it is not known to serve: contract exact, k longer than one product of the engine, or more memory than
// limit.
std::optional<ComplexResiduePlan> plan_complex_residues(const ResiduePlan& doubled, const ProductShape& shape,
                                                        std::size_t limit);

// `irregular` and `native` leave C untouched. Irregular are data that leave entries wide or hold a NaN or an infinity;
// `native`: their widest vectors tell that the native product is faster (residue/wide_sample.hpp).
enum class ComplexOutcome { done, irregular, native };
template <class R>
ComplexOutcome complex_residue_gemm(const ComplexResiduePlan& plan, const ComplexProblem<R>& problem,
                                    const Options& options, Report& report);

}  // namespace vernier
