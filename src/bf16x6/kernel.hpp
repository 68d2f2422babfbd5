// fp32 products out of six products of bf16 parts, on tile registers that are the hardware or a model of it. For
// AVX-512 sources only.
//
// Half a block at a time: 32 columns by 16 rows, two sums, so that few tile registers are live (engine/amx_kernel.hpp);
// operands are set to zero once used. A chunk takes 48 tile products and 63 tile loads. The chunk of the columns stays
// in the first-level cache; rows come from the second.
//
//     tmm0, tmm1  sums of a column tile        tmm4  columns        tmm6  rows
//
// Tile has load, load_streamed, store, zero (of a tile number) and dot_bf16<Sums, Columns, Rows>.
#pragma once

#include <immintrin.h>

#include <algorithm>

#include "bf16x6/engine.hpp"

namespace vernier {
namespace {

constexpr int block_floats = bf16x6_strip * bf16x6_strip;
constexpr int tile_floats = block_floats / 4;
constexpr int next_sum = 2 * tile_floats;  // tiles of a block: column tile * 2 + row tile
constexpr int line_floats = 16;            // of one column: a register
constexpr int tile_lines = tile_floats / line_floats, half_lines = 2 * tile_lines;
constexpr int half_turns = 16;

// Half a block that is summed, on its way to the sums of the chunks and groups before it. Tiles of a first chunk go
// there at once.
class FinishedLines {
 public:
  explicit FinishedLines(float* scratch) : tiles_(scratch) {}  // no block: its tiles are rubbish
  FinishedLines(const PartProduct& p, std::int64_t chunk, std::int64_t strip, int half)
      : tiles_(p.scratch),
        sums_(p.sums + strip * block_floats + half * tile_floats),
        left_(half_lines),
        add_sums_(chunk > 0) {
    if (p.totals != nullptr && chunk + 1 == p.chunks) {
      totals_ = p.totals + strip * block_floats + half * tile_floats;
      add_totals_ = !p.first_group;
      to_totals_ = !p.last_group;
    } else if (chunk == 0) {
      tiles_ = sums_;
      left_ = 0;
    }
  }

  float* tiles() const { return tiles_; }

  // Some of the lines, in half_turns turns all.
  inline __attribute__((always_inline)) void turn() {
    if (left_ == 0) return;
    constexpr int count = half_lines / half_turns;
    const int line = half_lines - left_;
    const int begin = line / tile_lines * next_sum + line % tile_lines * line_floats, end = begin + count * line_floats;
    left_ -= count;
    if (totals_ != nullptr) return lines_of_totals(begin, end);
    for (int i = begin; i < end; i += line_floats)
      _mm512_store_ps(sums_ + i, _mm512_add_ps(_mm512_load_ps(sums_ + i), _mm512_load_ps(tiles_ + i)));
  }

 private:
  __attribute__((noinline)) void lines_of_totals(int begin, int end) const {
    for (int i = begin; i < end; i += line_floats) {
      __m512 x = _mm512_load_ps(tiles_ + i);
      if (add_sums_) x = _mm512_add_ps(_mm512_load_ps(sums_ + i), x);
      if (add_totals_) x = _mm512_add_ps(_mm512_load_ps(totals_ + i), x);
      _mm512_store_ps(to_totals_ ? totals_ + i : sums_ + i, x);
    }
  }

  float* tiles_;
  float *sums_ = nullptr, *totals_ = nullptr;
  int left_ = 0;
  bool add_sums_ = false, add_totals_ = false, to_totals_ = false;
};

// Lines of the next chunk of columns, to the second level, some in each turn.
class NextColumns {
 public:
  void begin(const std::byte* next, std::int64_t row_strips) {
    next_ = reinterpret_cast<const char*>(next);
    constexpr std::int64_t turns = 2 * half_turns;  // a block
    a_turn_ = line_bytes * ((bf16x6_chunk_bytes / line_bytes + turns * row_strips - 1) / (turns * row_strips));
  }
  inline __attribute__((always_inline)) void turn() {
    for (const char* end = next_ + a_turn_; next_ != end; next_ += line_bytes) _mm_prefetch(next_, _MM_HINT_T1);
  }

 private:
  static constexpr std::int64_t line_bytes = 64;
  const char* next_ = nullptr;
  std::int64_t a_turn_ = 0;
};

// The strip before, column by column of its blocks.
class PendingColumns {
 public:
  PendingColumns(const Bf16x6Output& out, std::int64_t row_strips, std::int64_t chunks)
      : out_(out), left_(out.sums != nullptr ? row_strips * bf16x6_strip : 0) {
    constexpr std::int64_t turns = half_turns;  // a chunk of a block has as many long ones
    a_turn_ = chunks > 0 ? static_cast<int>((bf16x6_strip + turns * chunks - 1) / (turns * chunks)) : 0;
    if (left_ == 0) return;
    begin_block();
    for (std::int64_t j = 0; j < out.columns; ++j) fetch(out.to.c + j * out.to.ldc);
  }

  inline __attribute__((always_inline)) void turn() {
    for (const std::int64_t end = std::max<std::int64_t>(left_ - a_turn_, 0); left_ > end; --left_) update_column();
  }
  void rest() {
    for (; left_ > 0; --left_) update_column();
    if (out_.stream) _mm_sfence();
  }

 private:
  static void fetch(const float* c) {
    _mm_prefetch(reinterpret_cast<const char*>(c), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(c + line_floats), _MM_HINT_T0);
  }

  void begin_block() {
    for (int half = 0; half < 2; ++half) {
      const std::int64_t row = row_ + half * line_floats, rows = std::clamp<std::int64_t>(out_.rows - row, 0, 16);
      mask_[half] = static_cast<__mmask16>((1u << rows) - 1);
      if (out_.row_exponents != nullptr) exponents_[half] = _mm512_loadu_ps(out_.row_exponents + row);
    }
  }

  void update_column() {
    if (column_ < out_.columns) {
      const float* sums =
          out_.sums + row_ * bf16x6_strip + column_ / 16 * (2 * tile_floats) + column_ % 16 * line_floats;
      float* c = out_.to.c + row_ + column_ * out_.to.ldc;
      if (!out_.stream) fetch(c + bf16x6_strip);  // of the next block
      update_line(_mm512_load_ps(sums), 0, c);
      if (mask_[1] != 0) update_line(_mm512_load_ps(sums + tile_floats), 1, c + line_floats);
    }
    if (++column_ < bf16x6_strip) return;
    column_ = 0;
    row_ += bf16x6_strip;
    if (left_ > 1) begin_block();  // the last block has none behind it
  }

  void update_line(__m512 t, int half, float* c) {
    if (out_.row_exponents != nullptr)
      t = _mm512_scalef_ps(t, _mm512_add_ps(exponents_[half], _mm512_set1_ps(out_.column_exponents[column_])));
    const __m512 alpha = _mm512_set1_ps(out_.to.alpha);
    if (out_.to.beta != 0)
      t = _mm512_fmadd_ps(alpha, t, _mm512_mul_ps(_mm512_set1_ps(out_.to.beta), _mm512_maskz_loadu_ps(mask_[half], c)));
    else if (out_.to.alpha != 1)
      t = _mm512_mul_ps(alpha, t);
    if (out_.stream)
      _mm512_stream_ps(c, t);
    else
      _mm512_mask_storeu_ps(c, mask_[half], t);
  }

  const Bf16x6Output& out_;
  std::int64_t left_ = 0;  // columns of blocks
  int a_turn_ = 0;
  std::int64_t row_ = 0, column_ = 0;
  __mmask16 mask_[2] = {0xffff, 0xffff};
  __m512 exponents_[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
};

// What is done between the tile products of half a block, in half_turns turns.
struct Between {
  FinishedLines finished;
  PendingColumns pending;
  NextColumns next;

  inline __attribute__((always_inline)) void turn() {
    finished.turn();
    next.turn();
  }
  inline __attribute__((always_inline)) void long_turn() {
    turn();
    pending.turn();
  }
};

// The products of the rows that are loaded and both tiles of a part of the columns. First: each sum's tile is stored,
// for the half before, just before its register is needed, so that the multiplier never drains.
template <class Tile, bool First = false>
inline __attribute__((always_inline)) void products_of_columns(const std::byte* columns,
                                                               [[maybe_unused]] float* previous = nullptr) {
  Tile::template load<4>(columns);
  if constexpr (First) Tile::template store<0>(previous);
  if constexpr (First) Tile::template zero<0>();
  Tile::template dot_bf16<0, 4, 6>();
  Tile::template zero<4>();
  Tile::template load<4>(columns + bf16_tile_bytes);
  if constexpr (First) Tile::template store<1>(previous + next_sum);
  if constexpr (First) Tile::template zero<1>();
  Tile::template dot_bf16<1, 4, 6>();
  Tile::template zero<4>();
}

template <class Tile>
inline __attribute__((always_inline)) void load_rows(const std::byte* rows) {
  Tile::template zero<6>();
  Tile::template load_streamed<6>(rows);
}

// The same with other rows. The sums take turns, since a product waits for its sum's last one.
template <class Tile>
inline __attribute__((always_inline)) void products(const std::byte* columns, const std::byte* rows) {
  load_rows<Tile>(rows);
  products_of_columns<Tile>(columns);
}

// Of a step, what is smaller first: a3 b1, a2 b1, a2 b2, a1 b2, a1 b3. rows: of the half.
template <class Tile, int Step>
inline __attribute__((always_inline)) void corrections(const std::byte* columns, const std::byte* rows, float* previous,
                                                       Between& between) {
  load_rows<Tile>(rows + part_tile(Step, 2, 0));
  products_of_columns<Tile, Step == 0>(columns + part_tile(Step, 0, 0), previous);
  products<Tile>(columns + part_tile(Step, 0, 0), rows + part_tile(Step, 1, 0));
  between.turn();
  products_of_columns<Tile>(columns + part_tile(Step, 1, 0));
  between.long_turn();
  products<Tile>(columns + part_tile(Step, 1, 0), rows + part_tile(Step, 0, 0));
  between.turn();
  products_of_columns<Tile>(columns + part_tile(Step, 2, 0));
  between.long_turn();
}

// One chunk of half a block: the corrections, then a1 b1 from the last step to the first. Its sums stay in the tiles
// for the next call to store.
template <class Tile>
void multiply_half(const std::byte* columns, const std::byte* rows, Between& between) {
  float* previous = between.finished.tiles();
  corrections<Tile, 0>(columns, rows, previous, between);
  corrections<Tile, 1>(columns, rows, previous, between);
  corrections<Tile, 2>(columns, rows, previous, between);
  corrections<Tile, 3>(columns, rows, previous, between);
  products_of_columns<Tile>(columns + part_tile(3, 0, 0));
  products<Tile>(columns + part_tile(2, 0, 0), rows + part_tile(2, 0, 0));
  products<Tile>(columns + part_tile(1, 0, 0), rows + part_tile(1, 0, 0));
  products<Tile>(columns + part_tile(0, 0, 0), rows + part_tile(0, 0, 0));
}

// All blocks of the strip, chunk after chunk.
template <class Tile>
void multiply_bf16x6(const PartProduct& p) {
  Between between{FinishedLines(p.scratch), PendingColumns(p.pending, p.row_strips, p.chunks), {}};
  for (std::int64_t chunk = 0; chunk < p.chunks; ++chunk) {
    const std::byte* columns = p.columns + chunk * bf16x6_chunk_bytes;
    between.next.begin(chunk + 1 < p.chunks ? columns + bf16x6_chunk_bytes : p.next_columns, p.row_strips);
    for (std::int64_t strip = 0; strip < p.row_strips; ++strip)
      for (int half = 0; half < 2; ++half) {
        const std::byte* rows = p.rows + (chunk * p.row_strips + strip) * bf16x6_chunk_bytes + half * bf16_tile_bytes;
        multiply_half<Tile>(columns, rows, between);
        between.finished = FinishedLines(p, chunk, strip, half);
      }
  }
  between.pending.rest();
  if (p.chunks == 0) return;
  float* sums = between.finished.tiles();
  Tile::template store<0>(sums);
  Tile::template store<1>(sums + next_sum);
  for (int turn = 0; turn < half_turns; ++turn) between.finished.turn();
}

}  // namespace
}  // namespace vernier
