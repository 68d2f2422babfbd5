// Operands of a block -> residues, strip by strip.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "product/strip.hpp"
#include "residue/pass_state.hpp"
#include "residue/scale/scaling.hpp"

namespace vernier {

// One operand of one block: which vectors and which k, and where everything about them lies.
template <class T>
struct OperandBlock {
  Operand<T> x;
  Range vectors, ks;
  const DigitTables* digits = nullptr;
  VectorStatistics* statistics = nullptr;  // of all vectors of x
  LowestBits* lowest_bits = nullptr;       // likewise, for correct rounding
  int* exponents = nullptr;                // likewise: scales
  std::int8_t* planes = nullptr;
  std::size_t plane_bytes = 0;
  int factor = no_factor;  // of a speculative product

  PanelLayout layout() const { return panel_layout(vectors.count, ks.count); }
};

template <class T>
OperandBlock<T> operand_block(const PassState<T>& s, Side side, Range vectors, Range ks) {
  const SideVectors& v = s.vectors[side];
  const PlaneMemory& memory = s.buffers[side];
  return {s.problem.operand(side),
          vectors,
          ks,
          s.digits[side],
          v.statistics,
          v.lowest_bits,
          v.scales,
          memory.planes,
          memory.stride,
          s.pass.speculative ? s.pass.speculative->factor[side] : no_factor};
}

// Work-shared over the strips; no barrier at the end. measure: statistics and ordinary scales of the vectors come from
// the same read of the data, which the block holds whole; else they are there.
template <class T>
void convert_strips(const PassState<T>& state, const OperandBlock<T>& block, bool measure) {
  T* buffer = reinterpret_cast<T*>(state.scratch(omp_get_thread_num()));
  const PanelLayout layout = block.layout();
  const ScalingRule& rule = state.pass.speculative ? state.pass.speculative->rule : state.plan.rule;
  const auto convert = [&](std::int64_t index, const T* next) {
    const std::int64_t first = block.vectors.begin + index * strip_size;
    VectorStatistics* statistics = block.statistics + first;
    int* exponents = block.exponents + first;
    const Operand<T> strip =
        measure ? state.backend.measured_strip(block.x, first, block.ks.begin, block.ks.count, buffer, statistics)
                : gather_strip(block.x, first, block.ks.begin, block.ks.count, buffer);
    if (measure) {
      if (state.exact != nullptr) state.exact->measure(strip, statistics, block.lowest_bits + first);
      if (block.factor != no_factor)
        for (std::int64_t v = 0; v < strip.vectors; ++v) statistics[v] = multiplied(statistics[v], block.factor);
      for (std::int64_t v = 0; v < strip_size; ++v)
        exponents[v] = v < strip.vectors ? ordinary_scale(rule, strip.k, statistics[v]) : 0;
    }
    const bool nonfinite =
        std::any_of(statistics, statistics + strip.vectors, [](const VectorStatistics& v) { return v.nonfinite; });
    state.backend.decompose(strip, *block.digits,
                            {.scales = exponents,
                             .factor = block.factor / static_cast<double>(no_factor),
                             .planes = block.planes,
                             .plane_bytes = block.plane_bytes,
                             .layout = layout,
                             .strip = index,
                             .has_nonfinite = nonfinite,
                             .cached = state.blocking.cached,
                             .next = reinterpret_cast<const std::byte*>(next),
                             .next_stride = block.x.ld * static_cast<std::int64_t>(sizeof(T))});
  };
  // A thread holds one strip back until it knows which it takes next, where that can be fetched: vectors along memory,
  // in strips that leave room in the second-level cache, and so many that nobody waits for those who hold two.
  constexpr std::int64_t longest_fetched = std::int64_t{1} << 20;  // bytes
  const bool holds = block.x.k_contiguous && layout.strips >= 8 * omp_get_num_threads() &&
                     strip_size * block.ks.count * static_cast<std::int64_t>(sizeof(T)) <= longest_fetched;
  std::int64_t held = -1;
#pragma omp for schedule(dynamic, 1) nowait
  for (std::int64_t index = 0; index < layout.strips; ++index) {
    const std::int64_t now = holds ? std::exchange(held, index) : index;
    const bool fetches = holds && (index + 1) * strip_size <= block.vectors.count;
    if (now >= 0)
      convert(now, fetches ? block.x.at(block.vectors.begin + index * strip_size, block.ks.begin) : nullptr);
  }
  if (held >= 0) convert(held, nullptr);
}

}  // namespace vernier
