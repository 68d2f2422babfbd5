// The product by residues: data -> statistics -> scales -> int8 planes -> products modulo p -> C.
#pragma once

#include "product/call.hpp"
#include "product/operand.hpp"
#include "residue/backend.hpp"
#include "residue/plan/blocking.hpp"
#include "residue/plan/plan.hpp"

namespace vernier {

template <class T>
struct ResidueProblem : GemmProblem<T> {
  // of the caller's prepared operands, for ordinary entries; null: none
  Sides<const PreparedPlanes*> prepared;
  bool* prepared_planes_read = nullptr;  // set if the product reads them
  Sides<int*> scales;                    // where those of ordinary entries are told; null: nowhere
  bool symmetric = false;  // op(B) is the transpose of op(A): C is made on and below the diagonal, and mirrored
};

// The loops of the scheme that go with an engine.
template <class T>
const SchemeBackend<T>& backend_of(const Int8Engine& engine) {
  if (engine.name() == "portable") return portable_backend<T>();
  const SchemeBackend<T>* avx2 = engine.name() == "avx2" ? avx2_backend<T>() : nullptr;
  return avx2 != nullptr ? *avx2 : best_backend<T>();
}

// Returns false, with C untouched, if the native product is to be taken instead; says so in the report. Throws
// Error(Status::bound_not_met) if the contract forbids that.
template <class T>
bool residue_gemm(const ResiduePlan& plan, const ResidueProblem<T>& problem, const Options& options, Report& report);

// ---- the complex product as three real products modulo each p (residue/recombine/recombine.hpp), each of m x n x k
//
// A row of op(A) is one vector of 2k real numbers and has one scale, as both its rows have in the real product of
// doubled rows and k (blas/complex_gemm.hpp). The integers are the same, and so are the bits.

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
