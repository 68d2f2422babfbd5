// Complex products by residues on a GPU: two real products modulo each p (residue/convert/complex_root.hpp).
#pragma once

#include "engine/int8_engine_cuda.hpp"
#include "product/call.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "vernier/cuda.hpp"

namespace vernier::cuda {

// The whole product by moduli with a root of -1, on a workspace of plan.bytes. False, with C untouched, if the data are
// not all ordinary and finite; where no host waits, these go to the conventional product, which the contract must
// allow.
template <class R>
bool complex_residue_gemm(const DeviceComplexPlan& plan, const DeviceInt8Engine& engine,
                          const DeviceComplexProblem<R>& problem, const Options& options, std::byte* workspace);

}  // namespace vernier::cuda
