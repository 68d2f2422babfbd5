// Products of matrices in bf16 parts on tiles that add in fp32: scheme bf16x6 of CPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bf16x6/parts.hpp"
#include "product/operand.hpp"
#include "vernier/model.hpp"
#include "vernier/split.hpp"

namespace vernier {

// C = RN(alpha T + RN(beta C)), or RN(alpha T) if beta = 0, for one strip of columns and a block of rows.
struct Bf16x6Output {
  const float* sums = nullptr;  // T: a block of 32 x 32 a row strip; null: nothing to do
  Output<float> to;             // from the first entry on
  std::int64_t rows = 0, columns = 0;
  // T counts 2^(row_exponents[i] + column_exponents[j]); both null: as it is. Padded to strips.
  const float *row_exponents = nullptr, *column_exponents = nullptr;
  bool stream = false;  // C is written whole lines at a time, past the caches
};

// One strip of columns and one group of k against all strips of a block of rows. Each chunk is summed on tiles from
// zero, corrections first (kernel.hpp); chunks are added one after the other to nearest, and so are groups.
struct PartProduct {
  const std::byte* columns = nullptr;       // the strip's first chunk of the group
  const std::byte* next_columns = nullptr;  // what is read after these, to be fetched in time
  const std::byte* rows = nullptr;
  std::int64_t row_strips = 0, chunks = 0;
  float* sums = nullptr;    // of the chunks, in blocks; with the last group T
  float* totals = nullptr;  // of the groups so far, likewise; null if there is one group
  bool first_group = true, last_group = true;
  float* scratch = nullptr;  // one block
  // The strip before, of as many row strips, which goes to C meanwhile: between tile products, since a core that writes
  // C all at once waits for memory. With chunks = 0 that is all.
  Bf16x6Output pending;
};

inline constexpr std::size_t bf16x6_block_bytes = sizeof(float) * bf16x6_strip * bf16x6_strip;

struct Bf16x6Engine {
  std::string_view name, description;
  const char* model;  // its row in the table of engines (vernier/model.hpp)
  std::string (*missing)();
  void (*enter_thread)();
  void (*leave_thread)();
  void (*multiply)(const PartProduct&);  // all pointers on boundaries of 64 bytes, but for C
};

// AMX tiles (TDPBF16PS); null where it was not built.
const Bf16x6Engine* bf16x6_engine();

// The same, or null where this machine cannot run it.
const Bf16x6Engine* usable_bf16x6_engine();

#if VERNIER_X86
void multiply_bf16x6_amx(const PartProduct& product);
#endif

// ---- as the model of engines sees them: the bound of theorem 10 (docs/accuracy.md), and the order

// The c in |T - AB| <= c u32 |A||B| + u32 |T|, for an engine that adds chains of fused multiply-adds from zero, their
// sums, and the accumulator last, all to nearest; infinite for any other.
double bf16x6_error_bound(const model::Engine& engine, std::int64_t k);

// Is it the k + 1 of contract fp32?
bool bf16x6_keeps_fp32(const model::Engine& engine, std::int64_t k);

// One group of k; a chunk is a run. Elements are taken as they are: scaling leaves no trace where nothing is flushed.
split::Scheme bf16x6_order();

}  // namespace vernier
