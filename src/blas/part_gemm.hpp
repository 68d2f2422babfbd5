// fp32 products of bf16 parts on tiles: scheme bf16x6.
#pragma once

#include "blas/residue_gemm.hpp"
#include "plan/part_plan.hpp"

namespace vernier {

// C = alpha T + beta C on the engine. Returns false, with C untouched, if the data hold a NaN or an infinity, or a
// vector spans more than the engine's exponents take. Of the options: workspace, blocking.bytes or null; progress.
bool part_gemm(const PartEngine& engine, const PartBlocking& blocking, const ResidueProblem<float>& problem,
               const Options& options, Report& report);

}  // namespace vernier
