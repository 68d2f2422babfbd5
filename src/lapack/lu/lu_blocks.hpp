// Blocks of up to 256 columns of an LU factorisation on a GPU, and what their exchanges mean for other columns.
#pragma once

#include <algorithm>
#include <type_traits>

#include "lapack/lu/lu.hpp"

namespace vernier::cuda {

inline constexpr int panel_unit = 32;  // the widest panel

template <class T>
class Factorisation {
 public:
  Factorisation(const LuRows& lu, const RowMajor<T>& a, cudaStream_t stream)
      : lu_(lu),
        a_(a),
        stream_(stream),
        rows_(static_cast<int>(lu.rows)),
        last_(static_cast<int>(round_up(std::min(lu.m, lu.n), panel_unit))) {}
  virtual ~Factorisation() = default;

 protected:
  // Columns [first, end), at most largest_block, and exchanges within them; after each panel beside(i, panels).
  template <class Beside>
  void factor_block(int first, int end, Beside beside) {
    block_ = {first, end};
    int panels = 0, done = 0;
    for (int c = first; c < end; c += width_at(c)) ++panels;
    factor_columns(first, end, {}, [&] { beside(done++, panels); });
  }

  // ... [begin, end) of them; if that is one panel, those of `next`, which follow it, are solved for at once.
  template <class Beside>
  void factor_columns(int begin, int end, const ColumnRange& next, const Beside& beside) {
    const int width = width_at(begin);
    if (end - begin <= width) {
      factor_panel<T>(
          {a_, rows_, begin, lu_.exchanges, lu_.pivots, lu_.info, static_cast<int>(std::min(lu_.m, lu_.n)), lu_.mail},
          stream_);
      beside();
      return exchange_and_solve<T>({.a = a_,
                                    .first = begin,
                                    .order = end - begin,
                                    .exchanges = lu_.exchanges,
                                    .solved = next,
                                    .others = {{block_.begin, begin}, {end + next.size(), block_.end}},
                                    .followed = order()},
                                   stream_);
    }
    // One launch less a panel, or a quarter of the memory traffic, of which fp64 has more.
    const int left = std::is_same_v<T, float> ? width : static_cast<int>(round_up((end - begin) / 2, width));
    const int mid = begin + left;
    factor_columns(begin, mid, {mid, end}, beside);
    if (left > width)
      exchange_and_solve<T>({.a = a_, .first = begin, .order = left, .exchange = false, .solved = {mid, end}}, stream_);
    subtract_inside(mid, {mid, end}, begin, left);
    factor_columns(mid, end, {}, beside);
  }

  // What panels of columns [first, end) have exchanged, in other columns: those of `solved` are solved for as well.
  BlockTask<T> outside(int first, int end, const ColumnRange& solved, const ColumnRange& left,
                       const ColumnRange& right) const {
    return {.a = a_,
            .first = first,
            .order = end - first,
            .exchanges = order().exchanges(),
            .solved = solved,
            .others = {left, right}};
  }
  // The exchanges are noted for all of A, and the next block has its own list.
  void close_block(BlockTask<T> task) {
    task.followed = {lu_.permutation, nullptr};
    task.reset = lu_.orders[1 - parity_];
    task.reset_end = rows_;
    exchange_and_solve<T>(task, stream_);
    parity_ = 1 - parity_;
  }

  // A -= L U below `row` in a few columns of a block; L in columns [first, first + depth).
  virtual void subtract_inside(int row, const ColumnRange& range, int first, int depth) {
    subtract_small_product<T>(a_, rows_, row, range, first, depth, stream_);
  }

  int width_at(int column) const { return panel_width<T>(rows_ - column); }
  const RowOrder& order() const { return lu_.orders[parity_]; }

  const LuRows& lu_;
  RowMajor<T> a_;
  cudaStream_t stream_;
  int rows_, last_;  // padded; columns to factorise
  int parity_ = 0;
  ColumnRange block_;
};

}  // namespace vernier::cuda
