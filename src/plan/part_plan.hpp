// Products of bf16 parts on a CPU: what is in memory at a time, and where.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/workspace.hpp"
#include "engine/part_engine.hpp"
#include "plan/cost.hpp"
#include "scheme/parts.hpp"

namespace vernier {

// A task is a block of rows against a range of column strips, group after group of k. Its rows' parts of one group
// stay in the second-level cache of its core. The parts of n_block columns, over all k, are shared.
struct PartBlocking {
  ProductShape shape;
  int threads = 1;
  std::int64_t row_block = 0, row_blocks = 0;  // of 32 to 384 rows
  std::int64_t n_block = 0;                    // a multiple of 32
  std::int64_t column_ranges = 1;              // that the strips of a block are dealt out in
  std::int64_t chunks = 0, groups = 0;         // of k
  std::size_t bytes = 0;                       // of PartBuffers
};

// All columns at a time if the limit allows; bytes > limit in the result if not even 32 fit.
PartBlocking choose_part_blocking(const ProductShape& shape, int threads, std::size_t limit);

struct PartBuffers {
  std::byte* columns = nullptr;
  MagnitudeRange *a_ranges = nullptr, *b_ranges = nullptr;
  float *a_factors = nullptr, *b_factors = nullptr;      // 2^s; padded to strips, as the exponents are
  float *a_exponents = nullptr, *b_exponents = nullptr;  // -s
  struct Thread {
    std::byte* rows = nullptr;
    float* sums[2] = {};  // in turns: the strip at hand, and the one before on its way to C
    float *totals = nullptr, *scratch = nullptr;
  };
  std::byte* threads = nullptr;
  std::size_t thread_bytes = 0;

  Thread of_thread(int thread, const PartBlocking& blocking) const;
};
PartBuffers carve_parts(Arena& arena, const PartBlocking& blocking);

}  // namespace vernier
