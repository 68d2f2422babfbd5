// fp32 products of bf16 parts on tiles: scheme bf16x6, in the order of part_scheme().
#pragma once

#include "blas/gemm_problem.hpp"
#include "plan/part_plan.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

// C = alpha T + beta C on the engine. Returns false, with C untouched, if the data hold a NaN or an infinity, or a
// vector spans more than the engine's exponents take. Of the options: workspace, blocking.bytes or null; progress.
bool part_gemm(const PartEngine& engine, const PartBlocking& blocking, const GemmProblem<float>& problem,
               const Options& options, Report& report);

// gemm for finite data that bf16 parts hold, where the plan is for them; false elsewhere, with C untouched. The
// arguments are checked.
bool gemm_by_parts(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* A,
                   std::int64_t lda, const float* B, std::int64_t ldb, float beta, float* C, std::int64_t ldc,
                   const Options& options);

}  // namespace vernier
