// The product on tile registers, written against a Tile that is the hardware or a model of it. For AVX-512 sources
// only.
//
// A block is one column strip by one row strip: 2 x 2 accumulator tiles. One step is four TDPBSSD (64 cycles) and four
// tile loads, 64 bytes a cycle, more than the second-level cache gives. So a column strip (32 KiB for 16 steps) stays
// in the first level, and the rows stream through TILELOADDT1, whose hint keeps them from evicting the columns.
//
//     tmm0 .. tmm3  sums: column tile * 2 + row tile        tmm4, tmm5  columns        tmm6, tmm7  rows
//
// Tile has, with tile numbers as template arguments: load, load_streamed, store, zero, dot<Sums, Columns, Rows>.
#pragma once

#include "engine/int8_kernels.hpp"
#include "engine/reduction_avx512.hpp"

namespace vernier {
namespace {

constexpr int tile_bytes = 1024;
constexpr int tile_elements = 256;
constexpr int line_bytes = 64;

// A block whose sums are complete, or about to be, and what is left of its reduction.
struct FinishedBlock {
  const std::int32_t* sums = nullptr;
  std::int8_t* out = nullptr;
};

inline __attribute__((always_inline)) void reduce_next_unit(FinishedBlock& block, const VectorReduction& r) {
  const std::int32_t* x = block.sums;
  reduce_unit(_mm512_load_si512(x), _mm512_load_si512(x + 16), _mm512_load_si512(x + 32), _mm512_load_si512(x + 48), r,
              block.out);
  block.sums += unit_elements;
  block.out += unit_elements;
}

inline void reduce_until(const std::int32_t* end, FinishedBlock& block, const VectorReduction& r) {
  while (block.sums != end) reduce_next_unit(block, r);
}

// Lines to fetch into the second level, some in each step.
struct Prefetch {
  const char* next;
  std::int64_t bytes_per_step;

  void step() {
    for (const char* end = next + bytes_per_step; next != end; next += line_bytes) _mm_prefetch(next, _MM_HINT_T1);
  }
};

// Puts an accumulator's sums away for the block before, and starts it for this one.
template <class Tile, int Sums>
inline __attribute__((always_inline)) void change_block(std::int32_t* previous) {
  Tile::template store<Sums>(previous + Sums * tile_elements);
  Tile::template zero<Sums>();
}

// The first step of a block stores the block before it, each tile just before its register is needed, so that the
// multiplier never drains.
template <class Tile>
inline __attribute__((always_inline)) void first_step(const std::int8_t* columns, const std::int8_t* rows,
                                                      std::int32_t* previous) {
  Tile::template load_streamed<6>(rows);
  Tile::template load<4>(columns);
  change_block<Tile, 0>(previous);
  Tile::template dot<0, 4, 6>();
  Tile::template load<5>(columns + tile_bytes);
  change_block<Tile, 2>(previous);
  Tile::template dot<2, 5, 6>();
  Tile::template load_streamed<7>(rows + tile_bytes);
  change_block<Tile, 1>(previous);
  Tile::template dot<1, 4, 7>();
  change_block<Tile, 3>(previous);
  Tile::template dot<3, 5, 7>();
}

// One block. Its sums stay in the tiles for the next call to store. The units of the finished block are
// reduced between the steps, where they hide behind the multiplier.
template <class Tile, bool Reduce>
void multiply_block(const std::int8_t* columns, const std::int8_t* rows, std::int64_t steps, std::int32_t* previous,
                    FinishedBlock finished, const VectorReduction& constants, Prefetch prefetch) {
  const VectorReduction reduction = constants;  // in registers, past the stores that might change the original
  first_step<Tile>(columns, rows, previous);
  [[maybe_unused]] const std::int32_t* end = Reduce ? finished.sums + block_elements : nullptr;
  std::int64_t due = 0;
  for (std::int64_t s = 1; s < steps; ++s) {
    columns += step_bytes;
    rows += step_bytes;
    Tile::template load_streamed<6>(rows);
    Tile::template load<4>(columns);
    Tile::template dot<0, 4, 6>();
    Tile::template load<5>(columns + tile_bytes);
    Tile::template dot<2, 5, 6>();
    if constexpr (Reduce)
      for (due += units; due >= steps - 1; due -= steps - 1) reduce_next_unit(finished, reduction);
    Tile::template load_streamed<7>(rows + tile_bytes);
    Tile::template dot<1, 4, 7>();
    Tile::template dot<3, 5, 7>();
    prefetch.step();
  }
  if constexpr (Reduce) reduce_until(end, finished, reduction);
}

template <class Tile>
void store_sums(std::int32_t* sums) {
  Tile::template store<0>(sums);
  Tile::template store<2>(sums + 2 * tile_elements);
  Tile::template store<1>(sums + 1 * tile_elements);
  Tile::template store<3>(sums + 3 * tile_elements);
}

// All blocks, one column strip after another. The sums of a block are stored and reduced while the next one runs, so
// that one buffer serves them all.
template <class Tile>
void multiply_tiles(const Int8Product& p) {
  const VectorReduction reduction = make_vector_reduction(p.modulus, p.steps * step_size, p.accumulate);
  auto* sums = static_cast<std::int32_t*>(p.scratch);
  FinishedBlock finished;  // none yet: the first store writes rubbish
  const std::int64_t lines = divide_up(step_bytes / line_bytes, p.row_strips);
  for (std::int64_t t = 0; t < p.column_strips; ++t) {
    const std::int8_t* columns = p.columns + t * p.steps * step_bytes;
    // The strip of columns that comes next lies behind this one.
    Prefetch prefetch{reinterpret_cast<const char*>(columns) + p.steps * step_bytes, lines * line_bytes};
    for (std::int64_t v = 0; v < p.row_strips; ++v) {
      const auto block = finished.sums != nullptr ? multiply_block<Tile, true> : multiply_block<Tile, false>;
      block(columns, p.rows + v * p.steps * step_bytes, p.steps, sums, finished, reduction, prefetch);
      prefetch.next += p.steps * prefetch.bytes_per_step;
      finished = {sums, p.out + (t * p.out_strips + v) * block_elements};
    }
  }
  store_sums<Tile>(sums);
  reduce_until(sums + block_elements, finished, reduction);
}

}  // namespace
}  // namespace vernier
