// fp32 products of bf16 parts on tiles: scheme bf16x6, in the order of bf16x6_order().
#pragma once

#include "bf16x6/blocking.hpp"
#include "product/gemm_problem.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

// C = alpha T + beta C on the engine. Returns false, with C untouched, if the data hold a NaN or an infinity, or a
// vector spans more than the engine's exponents take. Of the options: workspace, blocking.bytes or null; progress.
bool bf16x6_gemm(const Bf16x6Engine& engine, const Bf16x6Blocking& blocking, const GemmProblem<float>& problem,
                 const Options& options, Report& report);

// gemm for finite data that bf16 parts hold, where the plan is for them; false elsewhere, with C untouched. The
// arguments are checked.
bool gemm_by_bf16x6(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* A,
                    std::int64_t lda, const float* B, std::int64_t ldb, float beta, float* C, std::int64_t ldc,
                    const Options& options);

}  // namespace vernier
