// Contract `exact` on a GPU: the product by residues, rounded where the proven interval holds one result, and the exact
// sums of the other entries.
#pragma once

#include "residue/gemm_cuda.hpp"

namespace vernier::cuda {

template <class T>
void exact_gemm(const DeviceProductPlan& plan, const DeviceInt8Engine& engine, const DeviceResidueProblem<T>& problem,
                const Options& options, Report& report);

}  // namespace vernier::cuda
