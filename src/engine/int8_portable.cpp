// The reference: plain dot products of 16-bit values, which every compiler turns into vector multiply-adds; and bounds.
#include <algorithm>

#include "base/cpu_features.hpp"
#include "engine/bound/bound_loop.hpp"
#include "engine/int8_engine.hpp"
#include "engine/reduction.hpp"

namespace vernier {
namespace {

constexpr int run_steps = 4;  // both operands of a run stay in the first-level cache
constexpr int run_k = run_steps * step_size;

struct Run {
  alignas(64) std::int16_t columns[strip_size][run_k];
  alignas(64) std::int16_t rows[strip_size][run_k];
};

void unpack_columns(const std::int8_t* step, int first, Run& run) {
  for (int j = 0; j < strip_size; ++j)
    for (int b = 0; b < step_size; ++b) run.columns[j][first + b] = step[column_byte(j, b)];
}

void unpack_rows(const std::int8_t* step, int first, Run& run) {
  for (int i = 0; i < strip_size; ++i)
    for (int b = 0; b < step_size; b += 4) {
      const std::int8_t* group = step + row_byte(i, b);
      for (int l = 0; l < 4; ++l) run.rows[i][first + b + l] = group[l];
    }
}

std::int32_t dot(const std::int16_t* x, const std::int16_t* y, int length) {
  std::int32_t sum = 0;
  for (int l = 0; l < length; ++l) sum += x[l] * y[l];
  return sum;
}

void add_products(const Run& run, int length, std::int32_t* sums) {
  for (int j = 0; j < strip_size; ++j)
    for (int i = 0; i < strip_size; ++i) {
      const int tile = (j >> 4) * 2 + (i >> 4);
      sums[tile * 256 + (j & 15) * 16 + (i & 15)] += dot(run.columns[j], run.rows[i], length);
    }
}

}  // namespace

void multiply_portable(const Int8Product& p) {
  const Reduction reduction = make_reduction(p.modulus);
  Run run;
  for (std::int64_t t = 0; t < p.column_strips; ++t)
    for (std::int64_t v = 0; v < p.row_strips; ++v) {
      std::int32_t sums[block_elements] = {};
      const FilledSteps filled = p.steps_of(t, v);
      for (std::int64_t begin = filled.begin; begin < filled.end; begin += run_steps) {
        const int count = static_cast<int>(std::min<std::int64_t>(run_steps, filled.end - begin));
        for (int s = 0; s < count; ++s) {
          unpack_columns(p.columns + (t * p.steps + begin + s) * step_bytes, s * step_size, run);
          unpack_rows(p.rows + (v * p.steps + begin + s) * step_bytes, s * step_size, run);
        }
        add_products(run, count * step_size, sums);
      }
      std::int8_t* out = p.out + (t * p.out_strips + v) * block_elements;
      for (int u = 0; u < units; ++u)
        reduce_unit(sums + u * unit_elements, reduction, p.accumulate, out + u * unit_elements);
    }
}

// ---- products for bounds

#if VERNIER_X86
void multiply_bound_strips_amx(const BoundStrips& strips);
#endif

void take_bound_block_portable(const BoundBlock& block) {
  for (std::int64_t j = 0; j < block.columns; j += bound_side) {
    BoundBlock part = bound_block_from(block, 0, j);
    part.columns = std::min<std::int64_t>(bound_side, block.columns - j);
    take_bound_columns(part, [&](std::int64_t t) { return block.s + t * bound_side + j * block.ld; });
  }
}

const BoundTiles* bound_tiles() {
#if VERNIER_X86
  static const bool usable = missing_features(InstructionSet::amx_bf16).empty();
  static const BoundTiles tiles{configure_amx_tiles, release_amx_tiles, multiply_bound_strips_amx};
  return usable ? &tiles : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace vernier
