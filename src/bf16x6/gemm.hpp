// fp32 products of bf16 parts on tiles: scheme bf16x6, in the order of bf16x6_order().
#pragma once

#include "bf16x6/blocking.hpp"
#include "product/call.hpp"
#include "product/operand.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

// C = alpha T + beta C on the engine. Returns false, with C untouched, if the data hold a NaN or an infinity, or a
// vector spans more than the engine's exponents take. Of the options: workspace, blocking.bytes or null; progress.
bool bf16x6_gemm(const Bf16x6Engine& engine, const Bf16x6Blocking& blocking, const GemmProblem<float>& problem,
                 const Options& options, Report& report);

// gemm for finite data that bf16 parts hold, where the plan is for them; false elsewhere, with C untouched.
bool gemm_by_bf16x6(const GemmCall<float>& call, const Options& options);

}  // namespace vernier
