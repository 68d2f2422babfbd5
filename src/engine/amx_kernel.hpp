// The product on tile registers, written against a Tile that is the hardware or a model of it. For AVX-512 sources
// only.
//
// Half a block at a time: one tile of a strip that streams by two tiles of the strip that stays, two sums. One step is
// two TDPBSSD (32 cycles) and three tile loads. The strip that stays (32 KiB for 16 steps) lies in the first-level
// cache; those of the other operand stream through TILELOADDT1, whose hint keeps them from evicting it.
//
// Few tiles are live: beside a busy sibling a thread acts as if it had ten registers for tiles. Each load and each
// product holds one for some 70 cycles, and so does every tile that is not zero: with four sums and four operands two
// are left there, and a product takes 75 cycles; with two and two six are left, for 30. So an operand is set to zero
// once it is used: it holds no register until its next load has come (docs/decisions.md).
//
// Where the sibling rests, a whole block at a time takes less: a load a product, four sums and four operands. So a
// thread chooses its loop by what each has taken (loop_choice.hpp).
//
// It is a strip of columns that stays, once all rows are in the second level. They get there beside the first few
// column strips, row by row: a strip comes from the third level in the time of as many blocks, not of one.
//
//     tmm0 .. tmm3  sums, two of half a block        tmm4, tmm7  what streams        tmm5, tmm6  what stays
//
// Tile has, with tile numbers as template arguments: load, load_streamed, store, zero, dot<Sums, Columns, Rows>.
#pragma once

#include <cstring>

#include "engine/reduction_avx512.hpp"

namespace vernier {
namespace {

constexpr int tile_bytes = 1024;
constexpr int tile_elements = 256;
constexpr int line_bytes = 64;

constexpr int half_units = units / 2;

// Half a block or a block whose sums are complete, or about to be, and what is left of its reduction. jump: bytes of
// the other half between the residues of its two tiles.
struct Finished {
  const std::int32_t* sums = nullptr;
  std::int8_t* out = nullptr;
  std::int64_t jump = 0;
  int left = 0;

  inline __attribute__((always_inline)) void reduce_next_unit(const VectorReduction& r) {
    reduce_unit(_mm512_load_si512(sums), _mm512_load_si512(sums + 16), _mm512_load_si512(sums + 32),
                _mm512_load_si512(sums + 48), r, out);
    sums += unit_elements;
    out += unit_elements + (--left == half_units / 2 ? jump : 0);
  }
  void reduce_rest(const VectorReduction& r) {
    while (left > 0) reduce_next_unit(r);
  }
};

// Lines to fetch into the second level, some in each step.
struct Prefetch {
  const char* next;
  std::int64_t bytes_per_step;

  void step() {
    for (const char* end = next + bytes_per_step; next != end; next += line_bytes) _mm_prefetch(next, _MM_HINT_T1);
  }
};

// A product of a tile that streams and one that stays. In the first step of a part its sums are put away before, for
// the part before: just before the register is needed, so that the multiplier never drains.
template <class Tile, bool RowsStay, int Sums, int Stays, int Streams>
inline __attribute__((always_inline)) void multiply_pair(std::int32_t* previous) {
  if (previous != nullptr) {
    Tile::template store<Sums>(previous + Sums * tile_elements);
    Tile::template zero<Sums>();
  }
  if constexpr (RowsStay)
    Tile::template dot<Sums, Streams, Stays>();
  else
    Tile::template dot<Sums, Stays, Streams>();
}

template <class Tile, bool RowsStay, int Sums>
inline __attribute__((always_inline)) void multiply_tile(const std::int8_t* stays, std::int32_t* previous) {
  Tile::template load<5>(stays + Sums * tile_bytes);
  multiply_pair<Tile, RowsStay, Sums, 5, 4>(previous);
  Tile::template zero<5>();
}

// One of half a block or, if Whole, of a block; its sums are in the order of the residues' tiles.
template <class Tile, bool RowsStay, bool Whole>
inline __attribute__((always_inline)) void multiply_step(const std::int8_t* stays, const std::int8_t* streams,
                                                         std::int32_t* previous = nullptr) {
  Tile::template load_streamed<4>(streams);
  if constexpr (Whole) {
    Tile::template load<5>(stays);
    multiply_pair<Tile, RowsStay, 0, 5, 4>(previous);
    Tile::template load<6>(stays + tile_bytes);
    multiply_pair<Tile, RowsStay, RowsStay ? 1 : 2, 6, 4>(previous);
    Tile::template load_streamed<7>(streams + tile_bytes);
    multiply_pair<Tile, RowsStay, RowsStay ? 2 : 1, 5, 7>(previous);
    multiply_pair<Tile, RowsStay, 3, 6, 7>(previous);
  } else {
    multiply_tile<Tile, RowsStay, 0>(stays, previous);
    multiply_tile<Tile, RowsStay, 1>(stays, previous);
    Tile::template zero<4>();
  }
}

// Half a block or a block. Its sums stay in the tiles for the next call to store. The units of what is finished are
// reduced between the steps, where they hide behind the multiplier.
template <class Tile, bool RowsStay, bool Whole, bool Reduce>
void multiply_part(const std::int8_t* stays, const std::int8_t* streams, std::int64_t steps, std::int32_t* previous,
                   Finished finished, const VectorReduction& constants, Prefetch prefetch) {
  const VectorReduction reduction = constants;  // in registers, past the stores that might change the original
  multiply_step<Tile, RowsStay, Whole>(stays, streams, previous);
  std::int64_t due = 0;
  for (std::int64_t s = 1; s < steps; ++s) {
    multiply_step<Tile, RowsStay, Whole>(stays + s * step_bytes, streams + s * step_bytes);
    if constexpr (Reduce)
      for (due += Whole ? units : half_units; due >= steps - 1; due -= steps - 1) finished.reduce_next_unit(reduction);
    prefetch.step();
  }
  if constexpr (Reduce) finished.reduce_rest(reduction);
}

// The blocks of a product, in any order. The sums of a part are stored and reduced while the next one runs, so that one
// buffer serves them all.
template <class Tile>
class Blocks {
 public:
  explicit Blocks(const Int8Product& p)
      : p_(p),
        reduction_(make_vector_reduction(p.modulus, p.steps * step_size, p.accumulate)),
        sums_(static_cast<std::int32_t*>(p.scratch)) {}

  // All blocks of one column strip with rows 0 .. count - 1; or, if RowsStay, of one row strip with as many columns.
  // next: the strip that stays after this one, fetched meanwhile. Returns the steps of the blocks that were taken.
  template <bool RowsStay>
  std::int64_t run(bool whole, std::int64_t staying, std::int64_t count, const std::int8_t* next) {
    return whole ? run<RowsStay, 1>(staying, count, next) : run<RowsStay, 2>(staying, count, next);
  }

  const std::int8_t* columns(std::int64_t t) const { return p_.columns + t * p_.steps * step_bytes; }
  const std::int8_t* rows(std::int64_t v) const { return p_.rows + v * p_.steps * step_bytes; }

  void finish() {
    Tile::template store<0>(sums_);
    Tile::template store<1>(sums_ + tile_elements);
    Tile::template store<2>(sums_ + 2 * tile_elements);  // rubbish of half a block
    Tile::template store<3>(sums_ + 3 * tile_elements);
    clear();
    finished_.reduce_rest(reduction_);
    finished_ = {};
  }

 private:
  static void clear() {  // what a loop with fewer tiles leaves as it is
    Tile::template zero<2>(), Tile::template zero<3>(), Tile::template zero<6>(), Tile::template zero<7>();
  }

  template <bool RowsStay, int Parts>
  std::int64_t run(std::int64_t staying, std::int64_t count, const std::int8_t* next) {
    constexpr bool whole = Parts == 1;
    const std::int64_t lines = divide_up(step_bytes / line_bytes, Parts * count);
    Prefetch prefetch{reinterpret_cast<const char*>(next), lines * line_bytes};
    if (finished_.sums != nullptr && finished_.left != units / Parts) finish();
    std::int64_t taken = 0;
    for (std::int64_t i = 0; i < Parts * count; ++i) {
      const std::int64_t part = i % Parts, t = RowsStay ? i / Parts : staying, v = RowsStay ? staying : i / Parts;
      std::int8_t* out = p_.out + (t * p_.out_strips + v) * block_elements;  // column tile * 2 + row tile
      const FilledSteps filled = p_.steps_of(t, v);
      const std::int64_t steps = filled.end - filled.begin, first = filled.begin * step_bytes;
      if (steps == 0) {
        if (part == 0 && !p_.accumulate) std::memset(out, 0, block_elements);
        continue;
      }
      // Before the first part none is finished; its store writes rubbish.
      const auto multiply = finished_.sums != nullptr ? multiply_part<Tile, RowsStay, whole, true>
                                                      : multiply_part<Tile, RowsStay, whole, false>;
      multiply((RowsStay ? rows(v) : columns(t)) + first, (RowsStay ? columns(t) : rows(v)) + first + part * tile_bytes,
               steps, sums_, finished_, reduction_, prefetch);
      taken += steps;
      prefetch.next += p_.steps * prefetch.bytes_per_step;
      finished_ = {sums_, out + part * (RowsStay ? 2 : 1) * tile_elements, RowsStay || whole ? 0 : tile_elements,
                   units / Parts};
    }
    return taken / Parts;
  }

  const Int8Product& p_;
  const VectorReduction reduction_;
  std::int32_t* sums_;
  Finished finished_;
};

// Eight strips of columns in the second level leave room for the rows.
constexpr std::int64_t first_columns = 8;

template <class Tile, class Choice>
void multiply_tiles(const Int8Product& p, Choice& choice) {
  Blocks<Tile> blocks(p);
  const std::int64_t first = std::min(first_columns, p.column_strips);
  for (std::int64_t v = 0; v < p.row_strips; ++v)
    blocks.template run<true>(choice.loop() == 1, v, first,
                              v + 1 < p.row_strips ? blocks.rows(v + 1) : blocks.columns(first));
  for (std::int64_t t = first; t < p.column_strips; ++t) {
    const std::uint64_t start = __rdtsc();
    const std::int64_t steps =  // the strip behind the last is not used
        blocks.template run<false>(choice.loop() == 1, t, p.row_strips, blocks.columns(t + 1));
    if (steps > 0) choice.took(static_cast<double>(__rdtsc() - start) / static_cast<double>(steps));
  }
  blocks.finish();
}

}  // namespace
}  // namespace vernier
