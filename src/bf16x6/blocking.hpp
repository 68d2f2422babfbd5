// Products of bf16 parts on a CPU: what is in memory at a time, and where; and their time on AMX.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/workspace.hpp"
#include "bf16x6/engine.hpp"
#include "bf16x6/parts.hpp"
#include "product/call.hpp"
#include "product/operand.hpp"
#include "product/plan/native_cost.hpp"
#include "product/sides.hpp"
#include "vernier/vernier.hpp"

namespace vernier {

// A task is a block of rows against a range of column strips, group after group of k. Its rows' parts of one group
// stay in the second-level cache of its core. The parts of n_block columns, over all k, are shared.
struct Bf16x6Blocking {
  ProductShape shape;
  int threads = 1;
  std::int64_t row_block = 0, row_blocks = 0;  // of 32 to 384 rows
  std::int64_t n_block = 0;                    // a multiple of 32
  std::int64_t column_ranges = 1;              // that the strips of a block are dealt out in
  std::int64_t chunks = 0, groups = 0;         // of k
  std::size_t bytes = 0;                       // of Bf16x6Buffers
};

// All columns at a time if the limit allows; bytes > limit in the result if not even 32 fit.
Bf16x6Blocking choose_bf16x6_blocking(const ProductShape& shape, int threads, std::size_t limit);

struct Bf16x6Buffers {
  std::byte* columns = nullptr;
  struct Vectors {
    PartRange* ranges = nullptr;
    float* factors = nullptr;    // 2^s; padded to strips, as the exponents are
    float* exponents = nullptr;  // -s
  };
  Sides<Vectors> vectors;
  struct Thread {
    std::byte* rows = nullptr;
    float* sums[2] = {};  // in turns: the strip at hand, and the one before on its way to C
    float *totals = nullptr, *scratch = nullptr;
  };
  std::byte* threads = nullptr;
  std::size_t thread_bytes = 0;

  Thread of_thread(int thread, const Bf16x6Blocking& blocking) const;
};
Bf16x6Buffers carve_bf16x6(Arena& arena, const Bf16x6Blocking& blocking);

// Seconds on the given number of cores.
double bf16x6_seconds(const ProductShape& shape, int threads);

// C = alpha T + beta C on the engine, in the order of bf16x6_order(). Returns false, with C untouched, if the data hold
// a NaN or an infinity, or a vector spans more than the engine's exponents take. Of the options: workspace,
// blocking.bytes or null; progress.
bool bf16x6_gemm(const Bf16x6Engine& engine, const Bf16x6Blocking& blocking, const GemmProblem<float>& problem,
                 const Options& options, Report& report);

// gemm for finite data that bf16 parts hold, where the plan is for them; false elsewhere, with C untouched.
bool gemm_by_bf16x6(const GemmCall<float>& call, const Options& options);

}  // namespace vernier
