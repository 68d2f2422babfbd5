// The product by residues: data -> statistics -> scales -> int8 planes -> products modulo p -> C.
#pragma once

#include "product/operand.hpp"
#include "residue/backend.hpp"
#include "residue/plan/plan.hpp"
#include "residue/prepared_planes.hpp"

namespace vernier {

template <class T>
struct ResidueProblem : GemmProblem<T> {
  // of the caller's prepared operands, for ordinary entries; null: none
  Sides<const PreparedPlanes*> prepared;
  bool* prepared_planes_read = nullptr;  // set if the product reads them
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

}  // namespace vernier
