// The product on tile registers, written against a Tile that is the hardware or a model of it. For AVX-512 sources
// only.
//
// A block is one column strip by one row strip: 2 x 2 accumulator tiles. One step is four TDPBSSD (64 cycles) and four
// tile loads, 64 bytes a cycle, more than the second-level cache gives. So one strip (32 KiB for 16 steps) stays in the
// first level, and those of the other operand stream through TILELOADDT1, whose hint keeps them from evicting it.
//
// It is a strip of columns that stays, once all rows are in the second level. They get there beside the first few
// column strips, row by row: a strip comes from the third level in the time of as many blocks, not of one.
//
//     tmm0 .. tmm3  sums: column tile * 2 + row tile        tmm4, tmm5  columns        tmm6, tmm7  rows
//
// Tile has, with tile numbers as template arguments: load, load_streamed, store, zero, dot<Sums, Columns, Rows>.
#pragma once

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

// Loads of an operand whose strip stays in the first level, or streams through it.
template <class Tile, bool Stays, int T>
inline __attribute__((always_inline)) void load_operand(const std::int8_t* from) {
  if constexpr (Stays)
    Tile::template load<T>(from);
  else
    Tile::template load_streamed<T>(from);
}

// The first step of a block stores the block before it, each tile just before its register is needed, so that the
// multiplier never drains.
template <class Tile, bool RowsStay>
inline __attribute__((always_inline)) void first_step(const std::int8_t* columns, const std::int8_t* rows,
                                                      std::int32_t* previous) {
  load_operand<Tile, RowsStay, 6>(rows);
  load_operand<Tile, !RowsStay, 4>(columns);
  change_block<Tile, 0>(previous);
  Tile::template dot<0, 4, 6>();
  load_operand<Tile, !RowsStay, 5>(columns + tile_bytes);
  change_block<Tile, 2>(previous);
  Tile::template dot<2, 5, 6>();
  load_operand<Tile, RowsStay, 7>(rows + tile_bytes);
  change_block<Tile, 1>(previous);
  Tile::template dot<1, 4, 7>();
  change_block<Tile, 3>(previous);
  Tile::template dot<3, 5, 7>();
}

// One block. Its sums stay in the tiles for the next call to store. The units of the finished block are
// reduced between the steps, where they hide behind the multiplier.
template <class Tile, bool RowsStay, bool Reduce>
void multiply_block(const std::int8_t* columns, const std::int8_t* rows, std::int64_t steps, std::int32_t* previous,
                    FinishedBlock finished, const VectorReduction& constants, Prefetch prefetch) {
  const VectorReduction reduction = constants;  // in registers, past the stores that might change the original
  first_step<Tile, RowsStay>(columns, rows, previous);
  [[maybe_unused]] const std::int32_t* end = Reduce ? finished.sums + block_elements : nullptr;
  std::int64_t due = 0;
  for (std::int64_t s = 1; s < steps; ++s) {
    columns += step_bytes, rows += step_bytes;
    load_operand<Tile, RowsStay, 6>(rows);
    load_operand<Tile, !RowsStay, 4>(columns);
    Tile::template dot<0, 4, 6>();
    load_operand<Tile, !RowsStay, 5>(columns + tile_bytes);
    Tile::template dot<2, 5, 6>();
    if constexpr (Reduce)
      for (due += units; due >= steps - 1; due -= steps - 1) reduce_next_unit(finished, reduction);
    load_operand<Tile, RowsStay, 7>(rows + tile_bytes);
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

// The blocks of a product, in any order. The sums of one are stored and reduced while the next one runs, so that one
// buffer serves them all.
template <class Tile>
class Blocks {
 public:
  explicit Blocks(const Int8Product& p)
      : p_(p),
        reduction_(make_vector_reduction(p.modulus, p.steps * step_size, p.accumulate)),
        sums_(static_cast<std::int32_t*>(p.scratch)) {}

  // All blocks of one column strip with rows 0 .. count - 1; or, if RowsStay, of one row strip with as many columns.
  // next: the strip that stays after this one, fetched meanwhile.
  template <bool RowsStay>
  void run(std::int64_t staying, std::int64_t count, const std::int8_t* next) {
    const std::int64_t lines = divide_up(step_bytes / line_bytes, count);
    Prefetch prefetch{reinterpret_cast<const char*>(next), lines * line_bytes};
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t t = RowsStay ? i : staying, v = RowsStay ? staying : i;
      // Before the first block none is finished; its store writes rubbish.
      const auto block =
          finished_.sums != nullptr ? multiply_block<Tile, RowsStay, true> : multiply_block<Tile, RowsStay, false>;
      block(columns(t), rows(v), p_.steps, sums_, finished_, reduction_, prefetch);
      prefetch.next += p_.steps * prefetch.bytes_per_step;
      finished_ = {sums_, p_.out + (t * p_.out_strips + v) * block_elements};
    }
  }

  const std::int8_t* columns(std::int64_t t) const { return p_.columns + t * p_.steps * step_bytes; }
  const std::int8_t* rows(std::int64_t v) const { return p_.rows + v * p_.steps * step_bytes; }

  void finish() {
    store_sums<Tile>(sums_);
    reduce_until(sums_ + block_elements, finished_, reduction_);
  }

 private:
  const Int8Product& p_;
  const VectorReduction reduction_;
  std::int32_t* sums_;
  FinishedBlock finished_;
};

// Eight strips of columns in the second level leave room for the rows.
constexpr std::int64_t first_columns = 8;

template <class Tile>
void multiply_tiles(const Int8Product& p) {
  Blocks<Tile> blocks(p);
  const std::int64_t first = std::min(first_columns, p.column_strips);
  for (std::int64_t v = 0; v < p.row_strips; ++v)
    blocks.template run<true>(v, first, v + 1 < p.row_strips ? blocks.rows(v + 1) : blocks.columns(first));
  for (std::int64_t t = first; t < p.column_strips; ++t)
    blocks.template run<false>(t, p.row_strips, blocks.columns(t + 1));  // of the next slice, behind the last
  blocks.finish();
}

}  // namespace
}  // namespace vernier
